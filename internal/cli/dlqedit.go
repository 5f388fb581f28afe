package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// edit lets the user edit the body of the only letter of the plan.
func (r *DLQReplay) edit(ctx context.Context, o *replay.Operation, pass *replay.Pass, report *replayReport) error {
	if len(pass.Plan.Items) != 1 {
		return fmt.Errorf("--edit is for one letter, and %d match; name it by its id", len(pass.Plan.Items))
	}
	item := pass.Plan.Items[0]
	m, err := pass.Message(item)
	if err != nil {
		return err
	}
	edited, err := editText(ctx, report.streams, m.Body)
	if err != nil {
		return err
	}
	if err := replay.CheckEdit(m.Body, edited); errors.Is(err, replay.ErrUnchanged) {
		return fmt.Errorf("%w; leave out --edit to send it as it is", err)
	} else if err != nil {
		return fmt.Errorf("%w; nothing was sent", err)
	}
	if report.json == nil {
		fmt.Fprint(report.streams.Out, udiff.Unified("letter", "edited", ended(m.Body), ended(edited)))
	}
	return o.Edit(pass, edited)
}

// ended returns a text that ends with a line feed, so that a difference has whole lines.
func ended(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// editText opens the editor on a copy of the text, which is gone afterwards. An editor that
// adds a line feed at the end of the file does not change the text.
func editText(ctx context.Context, streams Streams, text string) (string, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return "", errors.New("no editor is set; set VISUAL or EDITOR")
	}
	file, err := os.CreateTemp("", "sqsafe-edit-*.json") // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(text); err != nil {
		return "", errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	// As git and others do: the value may have arguments.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file.Name()) //nolint:gosec // the user's editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Err, streams.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("editor %s: %w; nothing was sent", editor, err)
	}
	edited, err := os.ReadFile(file.Name())
	if err != nil {
		return "", err
	}
	if after, found := strings.CutSuffix(string(edited), "\n"); found && !strings.HasSuffix(text, "\n") {
		return after, nil
	}
	return string(edited), nil
}
