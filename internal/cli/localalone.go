package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/local"
)

// defaultTemplate is the template where none is named.
const defaultTemplate = "template.yaml"

// template is the path of the template; empty if there is to be none.
func (l *Local) template() string {
	if l.Template == "" && (l.Emulators || len(l.Queues)+len(l.Tables) > 0) {
		return ""
	}
	return cmp.Or(l.Template, defaultTemplate)
}

// checkAlone refuses flags that contradict those of emulators alone.
func (l *Local) checkAlone() error {
	switch {
	case l.Template != "" && len(l.Queues)+len(l.Tables) > 0:
		return errors.New("--queue and --table are for a stack without a template; leave --template out, " +
			"or declare them in the template")
	case (l.Emulators || l.template() == "") && l.UntilIdle:
		return errors.New("--until-idle waits for functions, and there are none; leave it out")
	case l.Env && (l.JSON || l.UntilIdle):
		return errors.New("--env prints variables for a stack that goes on; leave --json and --until-idle out")
	}
	return l.specs(&local.Options{})
}

// specs reads the queues and tables of the command line.
func (l *Local) specs(into *local.Options) error {
	for _, text := range l.Queues {
		q, err := local.ParseQueue(text)
		if err != nil {
			return fmt.Errorf("--queue: %w", err)
		}
		into.Queues = append(into.Queues, q)
	}
	for _, text := range l.Tables {
		t, err := local.ParseTable(text)
		if err != nil {
			return fmt.Errorf("--table: %w", err)
		}
		into.Tables = append(into.Tables, t)
	}
	return nil
}

// hasPage reports whether the page of dead letters is shown: not where there are none.
func (l *Local) hasPage(running *local.Stack) bool {
	return l.Page && !l.UntilIdle && !l.Env && (running.Functions() > 0 || running.DeadLetterQueues() > 0)
}

// emulators prints where queues and tables are that no function of ours serves.
func (p *textPrinter) emulators(e local.Event) {
	for _, name := range slices.Sorted(maps.Keys(e.Queues)) {
		p.plain("queue " + name + "  " + e.Queues[name])
	}
	for _, name := range e.Tables {
		p.plain("table " + name)
	}
	p.plain("for other programs, or with --env for a shell to read:")
	for _, name := range slices.Sorted(maps.Keys(e.Environment)) {
		p.plain("  " + name + "=" + e.Environment[name])
	}
}

// envPrinter prints what a shell is to read when the stack is ready, and ends its output
// then: a shell that reads it waits for the end.
type envPrinter struct{ out, err io.Writer }

func (p envPrinter) event(e local.Event) {
	switch e.Kind {
	case local.KindNote:
		fmt.Fprintln(p.err, "note: "+clean(e.Line))
	case local.KindReady:
		_, _ = io.WriteString(p.out, exports(e, os.Getpid()))
		if c, ok := p.out.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

func (p envPrinter) flush() {}

func (p envPrinter) summary(local.Summary, []Row) {}

// exports are the variables of the stack as commands of a POSIX shell: with those of the SDKs
// the URL of each queue, and the process to end.
func exports(e local.Event, pid int) string {
	all := maps.Clone(e.Environment)
	for name, url := range e.Queues {
		all["QUEUE_URL_"+variable(name)] = url
	}
	all["SQSAFE_LOCAL_PID"] = fmt.Sprint(pid)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(all[name], "'", `'\''`))
	}
	return b.String()
}

// variable is the name of a queue as a part of the name of a variable.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}
