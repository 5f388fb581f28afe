package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sqsafe/sqsafe/internal/alarmset"
	"github.com/sqsafe/sqsafe/internal/stackedit"
)

// Template is the subcommand that adds alarms and a dashboard to a template.
type Template struct {
	File          string   `arg:"" optional:"" default:"template.yaml" help:"The SAM template (${default})."`
	Alarms        string   `enum:"basic,full,none" default:"none" placeholder:"SET" help:"Add the alarms of a set: basic or full."`                            //nolint:lll // a struct tag is one line
	Dashboard     bool     `help:"Add a dashboard."`                                                                                                           //nolint:lll // a struct tag is one line
	Rollback      bool     `help:"Roll a deployment back when the new version crashes or dead-letters many jobs."`                                             //nolint:lll // a struct tag is one line
	ExpectTraffic bool     `help:"Add an alarm on a queue that nobody sends to for 15 minutes."`                                                               //nolint:lll // a struct tag is one line
	Function      []string `sep:"none" placeholder:"ID" help:"Only for this function; may be given several times. Without it, for all with an SQS event."`     //nolint:lll // a struct tag is one line
	Worker        []string `sep:"none" placeholder:"ID" help:"Also for a worker that polls this queue; may be given several times."`                           //nolint:lll // a struct tag is one line
	Topic         string   `placeholder:"ID" help:"Topic of the alarms: a resource, or a parameter with an ARN. Without it, parameters for topics are added."` //nolint:lll // a struct tag is one line
	NoticeTopic   string   `placeholder:"ID" help:"Topic of the alarms that can be read in the morning; the other one unless this is given."`                  //nolint:lll // a struct tag is one line
	Write         bool     `help:"Write the template, in place of printing what it lacks."`                                                                    //nolint:lll // a struct tag is one line
}

// Help returns the text below the flags.
func (t *Template) Help() string {
	return `What the template has already, under the same name, is left as it is: change
a threshold there. All that is there stays byte for byte; what cannot be put in
safely, such as into JSON, is refused, and printed without --write.`
}

// Validate refuses a command line that asks for nothing.
func (t *Template) Validate() error {
	switch {
	case t.Alarms == "none" && !t.Dashboard && !t.Rollback && !t.ExpectTraffic:
		return errors.New("say what to add: --alarms basic, --alarms full, --dashboard, --rollback or --expect-traffic")
	case t.NoticeTopic != "" && t.Topic == "":
		return errors.New("--notice-topic needs --topic")
	}
	return nil
}

// Run prints or writes the additions.
func (t *Template) Run(streams Streams) error {
	text, err := os.ReadFile(t.File)
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	request := stackedit.Request{
		Traffic: t.ExpectTraffic, Dashboard: t.Dashboard, Rollback: t.Rollback, Functions: t.Function, Workers: t.Worker,
		Topic: t.Topic, NoticeTopic: t.NoticeTopic,
	}
	if t.Alarms != "none" {
		request.Alarms = alarmset.Set(t.Alarms)
	}
	result, err := stackedit.Add(t.File, text, request)
	if err != nil {
		return err
	}
	for _, note := range result.Notes {
		fmt.Fprintf(streams.Err, "note: %s\n", note)
	}
	switch {
	case len(result.Added) == 0:
		fmt.Fprintf(streams.Err, "%s has all of it\n", t.File)
		return nil
	case !t.Write:
		_, err := fmt.Fprint(streams.Out, result.Printed)
		return err
	case result.Refused != nil:
		return result.Refused
	}
	if err := replaceFile(t.File, result.Text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(streams.Out, "%s: added %s\n", t.File, strings.Join(result.Added, ", "))
	return err
}

// replaceFile writes a file whole or not at all. It keeps the file's mode.
func replaceFile(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing once it has another name
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
