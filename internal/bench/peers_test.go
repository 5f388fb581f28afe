package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeWorkshop has all tools but some, and installs nothing. It returns the commands that
// were run.
func fakeWorkshop(t *testing.T, missing ...string) (w installer, commands *[]string) {
	t.Helper()
	commands = &[]string{}
	return installer{
		directory: t.TempDir(),
		look: func(name string) (string, error) {
			if slices.Contains(missing, name) {
				return "", errors.New("no such file")
			}
			return "/tools/" + name, nil
		},
		run: func(_ context.Context, _ string, command ...string) error {
			*commands = append(*commands, strings.Join(command, " "))
			return nil
		},
	}, commands
}

func TestWhatIsMissingIsSaidAndTheRestIsMeasured(t *testing.T) {
	t.Parallel()
	w, _ := fakeWorkshop(t, "npm")
	c, err := w.addPeers(t.Context(), competitors{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Powertools for TypeScript is not measured: npm is not installed"}
	if diff := cmp.Diff(want, c.missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if len(c.programs) != 2 || c.programs[0].name != "Powertools Python, batch" || c.programs[0].remote ||
		c.programs[1].name != "Powertools Python, batch and idempotency" || !c.programs[1].remote {
		t.Errorf("programs %+v, want the two in Python", c.programs)
	}
	content, err := os.ReadFile(c.programs[1].binary)
	if err != nil || !strings.HasSuffix(string(content), "-m awslambdaric idempotent.handler\n") {
		t.Errorf("the bootstrap is %q, %v", content, err)
	}
}

func TestAnInstallationThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	w, _ := fakeWorkshop(t)
	w.run = func(context.Context, string, ...string) error { return errors.New("no network") }
	c, err := w.addPeers(t.Context(), competitors{})
	want := []string{
		"Powertools for Python is not measured: no network", "Powertools for TypeScript is not measured: no network",
	}
	if diff := cmp.Diff(want, c.missing); diff != "" || err != nil || len(c.programs) > 0 {
		t.Errorf("missing (-want +got):\n%s, error %v and %d programs", diff, err, len(c.programs))
	}
}

func TestPeersAreInstalledOnceForTheirPins(t *testing.T) {
	t.Parallel()
	w, commands := fakeWorkshop(t)
	node := languages()[1]
	folder := ""
	for range 2 {
		var err error
		if folder, err = w.prepare(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"npm ci --silent --no-audit --no-fund"}
	if diff := cmp.Diff(want, *commands); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(folder, "installed"), []byte("older pins"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.prepare(t.Context(), node); err != nil || len(*commands) != 2 {
		t.Errorf("other pins: error %v and commands %q, want a second installation", err, *commands)
	}
}

func TestACommandThatFailsSaysItsLastLine(t *testing.T) {
	t.Parallel()
	err := runCommand(t.Context(), t.TempDir(), "go", "build", "./nothing-here")
	if err == nil || !strings.Contains(err.Error(), "go build ./nothing-here: exit status 1: ") {
		t.Errorf("error %v, want the command and its last line", err)
	}
}
