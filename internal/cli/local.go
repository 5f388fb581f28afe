package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/local"
)

// Local is the subcommand that runs a stack on this machine.
type Local struct {
	Template         string   `help:"SAM template to run (${default})." default:"template.yaml" placeholder:"FILE"`
	Jobs             string   `help:"Send the jobs of this file of JSON lines." placeholder:"FILE"`
	UntilIdle        bool     `help:"End when nothing is visible, delayed or in flight outside dead-letter queues."`
	JSON             bool     `name:"json" help:"Print one JSON object a line."`
	Addr             string   `help:"Address where SQS and DynamoDB answer (${default})." default:"127.0.0.1:4570" placeholder:"HOST:PORT"`                                    //nolint:lll // a struct tag is one line
	EndpointSQS      string   `name:"endpoint-sqs" placeholder:"URL" help:"SQS of another engine in place of the stand-in; queues that are missing there are made."`           //nolint:lll // a struct tag is one line
	EndpointDynamoDB string   `name:"endpoint-dynamodb" placeholder:"URL" help:"DynamoDB of another engine in place of the stand-in; tables that are missing there are made."` //nolint:lll // a struct tag is one line
	EnvVars          string   `help:"Environment variables by function, in SAM's JSON format." placeholder:"FILE"`
	Overrides        []string `name:"parameter-overrides" sep:"none" placeholder:"NAME=VALUE" help:"Parameters of the template; may be given several times."` //nolint:lll // a struct tag is one line
	More             []string `arg:"" optional:"" name:"name=value" help:"More parameters of the template, as SAM takes them."`                               //nolint:lll // a struct tag is one line

	// Report adds rows to the table at the end, and an error that makes the
	// command fail; nil adds none.
	Report func(local.Summary) ([]Row, error) `kong:"-"`
}

// stopLimit is how long running jobs may take to finish after the signal.
const stopLimit = 30 * time.Second

// Run runs the stack until it is idle or ctx ends. Only with UntilIdle is an
// early end of ctx an error.
func (l *Local) Run(ctx context.Context, streams Streams) error {
	options, err := l.options()
	if err != nil {
		return err
	}
	printer := newPrinter(l.JSON, streams)
	options.Observe = printer.event
	running, err := local.Start(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	interrupted, waitErr := l.wait(ctx, running)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	summary, closeErr := running.Close(stopping)
	err = cmp.Or(waitErr, errors.Join(closeErr, l.report(printer, summary)))
	if err == nil && interrupted {
		return errInterrupted
	}
	return err
}

func (l *Local) options() (local.Options, error) {
	parameters, err := overrides(append(l.Overrides, l.More...))
	if err != nil {
		return local.Options{}, err
	}
	o := local.Options{
		Template: l.Template, Parameters: parameters, Jobs: l.Jobs, Address: l.Addr,
		EndpointSQS: l.EndpointSQS, EndpointDynamoDB: l.EndpointDynamoDB,
	}
	if l.EnvVars != "" {
		o.Variables, err = local.ReadVariables(l.EnvVars)
	}
	return o, err
}

// wait tells whether ctx ended before there was nothing left to do.
func (l *Local) wait(ctx context.Context, running *local.Stack) (interrupted bool, err error) {
	idle := make(chan error, 1)
	if l.UntilIdle {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { idle <- running.Idle(waiting) }()
	}
	select {
	case err := <-running.Broken():
		return false, err
	case <-ctx.Done():
		return l.UntilIdle, nil
	case err := <-idle:
		if ctx.Err() != nil {
			return true, nil
		}
		return false, err
	}
}

func (l *Local) report(p printer, s local.Summary) error {
	var rows []Row
	var err error
	if l.Report != nil {
		rows, err = l.Report(s)
	}
	p.summary(s, rows)
	if err == nil && s.Lost > 0 {
		err = fmt.Errorf("%d messages are lost: they left their queue without an outcome", s.Lost)
	}
	return err
}
