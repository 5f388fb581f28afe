package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// DLQReplay is the subcommand that sends letters back.
type DLQReplay struct {
	DLQTarget
	Queue string   `arg:"" help:"The dead-letter queue."`
	IDs   []string `arg:"" optional:"" name:"id" help:"Only letters with these ids, original ids or keys of jobs."`
	DLQFilter
	Change
	Why      string        `placeholder:"TEXT" help:"Why; it is written into the journal and the audit line."`
	To       string        `placeholder:"QUEUE" help:"Send all letters to this queue, and not to their sources."`
	Plain    bool          `help:"Send messages as their producers did, without the failure record: for functions without sqsafe."`                         //nolint:lll // a struct tag is one line
	Rate     float64       `placeholder:"PER_SECOND" default:"10" help:"Send no more letters than this in a second (${default}); 0 means no limit."`        //nolint:lll // a struct tag is one line
	Canary   int           `placeholder:"N" help:"Send N letters first, and the rest when these jobs have ended well, by the ledger."`                      //nolint:lll // a struct tag is one line
	Ramp     []int         `placeholder:"N,..." help:"Send in steps, such as 1,10,100: each when the jobs of the one before have ended well."`              //nolint:lll // a struct tag is one line
	StepTime time.Duration `placeholder:"DURATION" default:"5m" help:"With --canary or --ramp: stop if the jobs of a step have not ended after this time."` //nolint:lll // a struct tag is one line
	DLQStops
	Edit      bool          `help:"Edit the body of one letter with $VISUAL or $EDITOR before it is sent."`
	Track     bool          `help:"Follow each job to its outcome, by the ledger."`
	TrackTime time.Duration `placeholder:"DURATION" default:"10m" help:"With --track: follow for this time at most."`
	Journal   string        `placeholder:"DIR" help:"Where the journal of the run is written; ~/.local/state/sqsafe without it."`    //nolint:lll // a struct tag is one line
	Resume    string        `placeholder:"FILE" help:"Carry on with the run of this journal."`                                       //nolint:lll // a struct tag is one line
	Again     bool          `help:"With --resume: send also letters that may have been sent, and that the ledger does not protect."` //nolint:lll // a struct tag is one line
	JSON      bool          `name:"json" help:"Print one JSON object for each letter, and a summary."`
}

// Help returns the text below the flags.
func (r *DLQReplay) Help() string {
	return dlqHelp + `

Without --yes this prints the plan, and sends nothing: which letters, in which
order, and what the ledger says will happen to each job. A letter is deleted
only when SQS has confirmed the message by its id and its checksums.

Each run has a journal, whose place is printed. A run that was interrupted is
carried on with --resume: what was sent is not sent again.

Exit codes: 0 all sent, 1 something was not sent, 3 stopped by a condition, or a
job is dead again, 130 interrupted.`
}

// countLag is how long a deletion may take to show in the numbers of a queue in AWS: the
// reference of GetQueueAttributes says about a minute.
const countLag = 90 * time.Second

// Validate refuses flags that contradict each other.
func (r *DLQReplay) Validate() error {
	switch {
	case !(r.Rate >= 0 && r.Rate <= maxRate): // also if it is no number
		return fmt.Errorf("--rate %g: want more than 0, up to %d, or 0 for no limit", r.Rate, maxRate)
	case r.Growth < 0:
		return fmt.Errorf("--growth %d: want at least 0, or use --any-growth", r.Growth)
	case r.Canary < 0:
		return fmt.Errorf("--canary %d: want at least 1", r.Canary)
	case r.Canary > 0 && len(r.Ramp) > 0:
		return errors.New("give --canary or --ramp, not both: a canary is a ramp of one step")
	case r.Resume != "" && (len(r.IDs) > 0 || r.Edit || r.To != ""):
		return errors.New("--resume takes letters and targets from the journal; leave out ids, --edit and --to")
	case r.Again && r.Resume == "":
		return errors.New("--again goes with --resume")
	case (r.steps() != nil || r.Track) && !r.Ledger:
		return errors.New("--canary, --ramp and --track ask the ledger; leave out --no-ledger")
	}
	for _, n := range r.Ramp {
		if n < 1 {
			return fmt.Errorf("--ramp %d: want steps of at least 1", n)
		}
	}
	if r.Resume != "" && !r.Yes {
		return errors.New("--resume sends and deletes letters; add --yes")
	}
	if err := r.DLQFilter.Validate(); err != nil {
		return err
	}
	return r.DLQTarget.Validate()
}

func (r *DLQReplay) steps() []int {
	if r.Canary > 0 {
		return []int{r.Canary}
	}
	return r.Ramp
}

// Run plans, and with --yes sends.
func (r *DLQReplay) Run(ctx context.Context, streams Streams) error {
	filter, err := r.filter(r.IDs)
	if err != nil {
		return err
	}
	s, err := r.open(ctx, r.Queue)
	if err != nil {
		return err
	}
	if (r.steps() != nil || r.Track) && s.table == nil {
		return fmt.Errorf("--canary, --ramp and --track ask the ledger: %s", s.noTable)
	}
	report := newReplayReport(r, s, streams)
	growth, lag := r.Growth, time.Duration(0)
	if r.AWS {
		lag = countLag
	}
	if r.AnyGrowth {
		growth = -1
	}
	o := &replay.Operation{
		Queue: s.Queue, Table: s.table, Filter: *filter, Directory: r.directory(), Who: who(), Reason: r.Why,
		Read:     deadletters.ReadOptions{SpendReceives: r.SpendReceives},
		Unlocked: func(denied error) { s.unlocked(streams, denied) },
		Waiting: func(until time.Time) {
			fmt.Fprintf(streams.Err, "waiting for letters that are hidden, until %s at the latest\n",
				until.Local().Format(time.TimeOnly))
		},
		Options: replay.Options{
			Rate: r.Rate, Plain: r.Plain, Steps: r.steps(), StepTime: r.StepTime, Outcome: report.tracker.Step, Growth: growth,
			CountLag: lag,
			Observe:  report.event,
		},
	}
	if r.To != "" {
		if o.To, err = r.target(ctx, s); err != nil {
			return err
		}
	}
	if r.Yes {
		if o.Options.Conditions, err = r.conditions(ctx, s, streams, o.To); err != nil {
			return err
		}
		if s.table != nil && !r.AnyGrowth {
			o.Options.Conditions = append(o.Options.Conditions, report.tracker.Bounced(r.Growth))
		}
	}
	if r.Resume != "" {
		return r.resume(ctx, o, report)
	}
	return r.replay(ctx, o, report)
}

// target opens the queue of --to.
func (r *DLQReplay) target(ctx context.Context, s *session) (*replay.Target, error) {
	found, client, err := r.findQueue(ctx, r.To)
	if err != nil {
		return nil, err
	}
	target, err := replay.OpenTarget(ctx, client, found.URL)
	if err != nil {
		return nil, r.explain(err, r.To)
	}
	if target.URL == s.URL {
		return nil, fmt.Errorf("--to %s: this is the dead-letter queue itself", r.To)
	}
	return target, nil
}

func (r *DLQReplay) replay(ctx context.Context, o *replay.Operation, report *replayReport) error {
	if err := r.alone(ctx, report); err != nil {
		return err
	}
	pass, err := o.Look(ctx)
	if err != nil {
		return report.session.explain(err)
	}
	if r.Edit {
		if err := r.edit(ctx, o, pass, report); err != nil {
			return errors.Join(err, pass.Close(ctx))
		}
	}
	report.plan(o, pass)
	if !r.Yes || len(pass.Plan.Sendable()) == 0 {
		if err := pass.Close(ctx); err != nil {
			return report.session.explain(err)
		}
		return report.planned(pass.Plan)
	}
	report.begin(len(pass.Plan.Sendable()), o.Path())
	sum, err := o.Execute(ctx, pass)
	sum.Refused += pass.Plan.Tally().Refused
	return r.finish(ctx, report, sum, err, o)
}

// alone refuses to look while another replay is under way, which has hidden its letters and
// would lose time by the look. For a plan it is told.
func (r *DLQReplay) alone(ctx context.Context, report *replayReport) error {
	busy, err := replay.UnderWay(ctx, report.session.Queue)
	switch {
	case err != nil:
		return report.session.explain(err)
	case busy != nil && r.Yes:
		return busy
	case busy != nil:
		fmt.Fprintln(report.streams.Err, busy)
	}
	return nil
}

func (r *DLQReplay) resume(ctx context.Context, o *replay.Operation, report *replayReport) error {
	sum, err := o.Resume(ctx, r.Resume, r.Again, report.rest)
	return r.finish(ctx, report, sum, err, o)
}

// finish prints the summary and the audit line, and follows the jobs.
func (r *DLQReplay) finish(
	ctx context.Context, report *replayReport, sum replay.Summary, err error, o *replay.Operation,
) error {
	auditErr := r.audit(report.streams, auditLine{
		Action: "dlq replay", Queue: o.Queue.ARN, Letters: sum.Sent + sum.Undeleted, Run: o.Run(), Failed: sum.Failed(),
		Why: r.Why,
	})
	err = report.end(sum, err)
	if r.Track && len(report.tracker.Jobs()) > 0 && ctx.Err() == nil {
		err = errors.Join(err, report.track(ctx, r.TrackTime))
	}
	return errors.Join(err, auditErr)
}

// directory returns where journals are written.
func (r *DLQReplay) directory() string {
	if r.Journal != "" {
		return r.Journal
	}
	return stateDirectory()
}

// stateDirectory is where journals and archives are written by default, by the XDG base
// directory specification.
func stateDirectory() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sqsafe")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "sqsafe")
	}
	return filepath.Join(home, ".local", "state", "sqsafe")
}
