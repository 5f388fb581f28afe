package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sqsafe/sqsafe/internal/check"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/local"
	"github.com/sqsafe/sqsafe/internal/localguard"
)

// Local is the subcommand that runs a stack on this machine.
type Local struct {
	Template         string        `help:"SAM template to run (template.yaml)." placeholder:"FILE"`
	Queues           []string      `name:"queue" sep:"none" placeholder:"NAME[,dlq=NAME,max=N]" help:"Make this queue, without a template; may be given several times. It may have attributes of SQS, such as VisibilityTimeout=60. A FIFO queue ends in .fifo."` //nolint:lll // a struct tag is one line
	Tables           []string      `name:"table" sep:"none" placeholder:"NAME:KEY[:KEY]" help:"Make this table, without a template; may be given several times. KEY=N is a key of type N; ,ttl=ATTRIBUTE sets the expiry."`                                       //nolint:lll // a struct tag is one line
	Emulators        bool          `help:"Run no functions: the emulators with the queues and tables of --template, or with none."`                                                                                                                               //nolint:lll // a struct tag is one line
	Env              bool          `help:"Print the variables for other programs as commands of a shell, and nothing else."`                                                                                                                                      //nolint:lll // a struct tag is one line
	Jobs             string        `help:"Send the jobs of this file of JSON lines." placeholder:"FILE"`
	UntilIdle        bool          `help:"End when nothing is visible, delayed or in flight outside dead-letter queues."`
	Timeout          time.Duration `placeholder:"TIME" help:"With --until-idle: give up after this time, such as 90s, counted from when the stack is ready."` //nolint:lll // a struct tag is one line
	JSON             bool          `name:"json" help:"Print one JSON object a line."`
	Addr             string        `help:"Address where SQS and DynamoDB answer (${default})." default:"127.0.0.1:4570" placeholder:"HOST:PORT"`                                                                                //nolint:lll // a struct tag is one line
	EndpointSQS      string        `name:"endpoint-sqs" placeholder:"URL" help:"SQS of another engine in place of the emulator; queues that are missing there are made."`                                                       //nolint:lll // a struct tag is one line
	EndpointDynamoDB string        `name:"endpoint-dynamodb" placeholder:"URL" help:"DynamoDB of another engine in place of the emulator; tables that are missing there are made."`                                             //nolint:lll // a struct tag is one line
	AllowHosts       []string      `name:"allow-host" sep:"none" placeholder:"NAME" help:"Name or address by which programs may call besides those of this machine, such as host.docker.internal; may be given several times."` //nolint:lll // a struct tag is one line
	AllowOrigins     []string      `name:"allow-origin" sep:"none" placeholder:"ORIGIN" help:"Web page that may call, such as http://localhost:3000; may be given several times."`                                              //nolint:lll // a struct tag is one line
	EnvVars          string        `help:"Environment variables by function, in SAM's JSON format." placeholder:"FILE"`
	Page             bool          `help:"Show the dead letters in a page, whose link is printed; not with --until-idle." default:"true" negatable:""` //nolint:lll // a struct tag is one line
	NoCheck          bool          `help:"Run the stack although sqsafe check finds an error in the template."`
	Overrides        []string      `name:"parameter-overrides" sep:"none" placeholder:"NAME=VALUE" help:"Parameters of the template; may be given several times."` //nolint:lll // a struct tag is one line
	More             []string      `arg:"" optional:"" name:"name=value" help:"More parameters of the template, as SAM takes them."`                               //nolint:lll // a struct tag is one line

	// Prepare is called before any job is sent, for example to fill tables; nil
	// means no call.
	Prepare func(ctx context.Context, tables *dynamodb.Client) error `kong:"-"`
	// Report returns additional rows for the table at the end. Its error makes
	// the command fail. Nil means no rows.
	Report func(local.Summary) ([]Row, error) `kong:"-"`
}

// stopLimit is how long running jobs may take to finish after the signal.
const stopLimit = 30 * time.Second

// Validate refuses invalid values of flags.
func (l *Local) Validate() error {
	for _, url := range []string{l.EndpointSQS, l.EndpointDynamoDB} {
		if url != "" {
			if err := endpoint.CheckURL(url); err != nil {
				return err
			}
		}
	}
	if _, _, err := net.SplitHostPort(l.Addr); err != nil {
		return fmt.Errorf("address %q: give --addr as HOST:PORT", l.Addr)
	}
	for _, host := range l.AllowHosts {
		if err := localguard.CheckHost(host); err != nil {
			return err
		}
	}
	for _, origin := range l.AllowOrigins {
		if err := localguard.CheckOrigin(origin); err != nil {
			return err
		}
	}
	switch {
	case l.Timeout < 0:
		return fmt.Errorf("--timeout %v: want a time such as 90s", l.Timeout)
	case l.Timeout > 0 && !l.UntilIdle:
		return errors.New("--timeout is for --until-idle; add that, or leave it out")
	}
	if err := l.checkAlone(); err != nil {
		return err
	}
	_, err := l.parameters()
	return err
}

func (l *Local) parameters() (map[string]string, error) {
	return overrides(slices.Concat(l.Overrides, l.More))
}

// Run runs the stack until it is idle or ctx ends. It is an error if ctx ends
// early only with UntilIdle.
func (l *Local) Run(ctx context.Context, streams Streams) error {
	options, err := l.options()
	if err != nil {
		return err
	}
	if options.Notes, err = l.check(options.Parameters); err != nil {
		return err
	}
	printer := l.newPrinter(streams)
	page := l.newPage(printer, streams)
	options.Observe, options.Observed = page.event, page.flush
	running, err := local.Start(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	if l.hasPage(running) {
		page.start(ctx)
	}
	interrupted, waitErr := l.wait(ctx, running)
	page.stop()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	summary, closeErr := running.Close(stopping)
	if errors.Is(waitErr, errTimeout) {
		waitErr = &exitError{ExitTimeout, fmt.Errorf("not idle after %v: %s left", l.Timeout, messages(summary.Left))}
	}
	page.flush()
	if running.Functions() == 0 { // what becomes of messages is known to other programs only
		return cmp.Or(waitErr, closeErr)
	}
	err = cmp.Or(waitErr, errors.Join(closeErr, l.report(printer, summary)))
	if err == nil && interrupted {
		return errInterrupted
	}
	return err
}

// check returns what sqsafe check finds in the template, as notes. An error in it
// is one of the command. A template that cannot be read is left to the start.
func (l *Local) check(parameters map[string]string) ([]string, error) {
	file := l.template()
	if l.Emulators || file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil //nolint:nilerr // the start says it
	}
	report, err := check.Check(file, data, &check.Options{Parameters: parameters})
	if err != nil {
		return nil, nil //nolint:nilerr // the start says it
	}
	var notes []string
	for _, f := range report.Findings {
		if f.Ignored != "" {
			continue
		}
		note := fmt.Sprintf("%s %s %s: %s", place(f), f.Level, ruleAt(f), f.Message)
		if f.Level == check.LevelError && !l.NoCheck {
			return nil, fmt.Errorf("%s; sqsafe check %s says more, --no-check leaves this check out", note, file)
		}
		notes = append(notes, note)
	}
	return notes, nil
}

func (l *Local) options() (local.Options, error) {
	parameters, err := l.parameters()
	if err != nil {
		return local.Options{}, err
	}
	o := local.Options{
		Template: l.template(), EmulatorsOnly: l.Emulators, NeedFunctions: l.UntilIdle,
		Parameters: parameters, Jobs: l.Jobs, Address: l.Addr,
		Hosts: l.AllowHosts, Origins: l.AllowOrigins,
		EndpointSQS: l.EndpointSQS, EndpointDynamoDB: l.EndpointDynamoDB, Prepare: l.Prepare,
	}
	if err := l.specs(&o); err != nil {
		return o, err
	}
	if l.EnvVars != "" {
		o.Variables, err = local.ReadVariables(l.EnvVars)
	}
	return o, err
}

// errTimeout says that the time of --timeout has ended.
var errTimeout = errors.New("timeout")

// wait waits for the end, and reports whether ctx ended before all work was
// done.
func (l *Local) wait(ctx context.Context, running *local.Stack) (interrupted bool, err error) {
	idle := make(chan error, 1)
	if l.UntilIdle {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { idle <- running.Idle(waiting) }()
	}
	var late <-chan time.Time
	if l.Timeout > 0 {
		timer := time.NewTimer(l.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	var broken <-chan error
	if l.UntilIdle { // without it the other functions continue, and this one may be corrected
		broken = running.Broken()
	}
	select {
	case err := <-broken:
		return false, err
	case <-late:
		return false, errTimeout
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
		err = lost(s)
	}
	return err
}

func lost(s local.Summary) error {
	err := fmt.Errorf("%d messages are lost: they left their queue, but neither done nor dead-lettered", s.Lost)
	if s.Lost == 1 {
		err = errors.New("1 message is lost: it left its queue, but neither done nor dead-lettered")
	}
	if s.LostBecause != "" {
		err = fmt.Errorf("%w; %s", err, s.LostBecause)
	}
	return err
}
