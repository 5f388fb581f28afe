package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/endpoint"
)

// replayReport prints the plan of a replay, and what became of the letters.
type replayReport struct {
	command  *DLQReplay
	session  *session
	streams  Streams
	json     *json.Encoder // nil for text
	progress *progress
	tracker  *replay.Tracker
	told     int // failures that were named
}

func newReplayReport(r *DLQReplay, s *session, streams Streams) *replayReport {
	report := &replayReport{command: r, session: s, streams: streams, tracker: &replay.Tracker{
		Table: s.table, Queue: s.Queue, Read: deadletters.ReadOptions{SpendReceives: r.SpendReceives},
	}}
	if r.JSON {
		report.json = newEncoder(streams.Out)
	}
	report.progress = newProgress(streams.Err, "sending letters back", 0)
	return report
}

// plannedRow is a letter of the plan in the JSON output.
type plannedRow struct {
	Event   string         `json:"event"`
	ID      string         `json:"id"`
	JobID   string         `json:"jobId,omitempty"`
	Reason  string         `json:"reason"`
	Group   string         `json:"group,omitempty"`
	To      string         `json:"to,omitempty"`
	Outlook replay.Outlook `json:"outlook"`
	Why     string         `json:"why,omitempty"`
	Refused string         `json:"refused,omitempty"`
}

// verdictRow is the verdict on a plan in the JSON output.
type verdictRow struct {
	Event string `json:"event"`
	Queue string `json:"queue"`
	replay.Tally
	Safe    bool   `json:"safe"`
	Verdict string `json:"verdict"`
	Behind  int    `json:"behind"`
	Hidden  int    `json:"hidden"`
}

// shownPlan is how many letters of a plan are listed; --json lists all.
const shownPlan = 50

// plan prints the plan and the verdict on it.
func (r *replayReport) plan(o *replay.Operation, pass *replay.Pass) {
	tally := pass.Plan.Tally()
	safe, verdict := tally.Verdict()
	if r.json != nil {
		for _, i := range pass.Plan.Items {
			_ = r.json.Encode(newPlannedRow(i))
		}
		_ = r.json.Encode(verdictRow{
			"verdict", o.Queue.Name, tally, safe, verdict, pass.Reading.Behind, pass.Reading.Hidden,
		})
		return
	}
	out := r.streams.Out
	if tally.Letters > 0 {
		rows := make([][]string, 0, min(tally.Letters, shownPlan))
		for n, i := range pass.Plan.Items[:min(tally.Letters, shownPlan)] {
			rows = append(rows, planCells(n, i))
		}
		fmt.Fprintln(out, plainTable(out, []int{0}, []string{"", "id", "key", "reason", "group", "to", "what happens"}, rows))
		if tally.Letters > shownPlan {
			fmt.Fprintf(out, "and %d more; --json prints all\n", tally.Letters-shownPlan)
		}
		fmt.Fprintf(out, "%s of %s: %s\n", letterCount(tally.Letters), o.Queue.Name, tallyText(tally))
	} else {
		fmt.Fprintln(out, r.session.none(pass.Reading))
	}
	notices(out, r.session, pass.Reading)
	if r.session.table == nil && r.session.noTable != notAsked {
		fmt.Fprintf(out, "the ledger cannot be asked: %s\n", oneLine(r.session.noTable))
	}
	if tally.Letters > 0 {
		fmt.Fprintln(out, "verdict: "+verdict)
	}
}

func newPlannedRow(i *replay.Item) plannedRow {
	row := plannedRow{
		Event: "planned", ID: i.Letter.ID, JobID: i.Letter.JobID(), Reason: i.Letter.Record.Reason, Group: i.Letter.Group,
		Outlook: i.Outlook, Why: i.Why, Refused: i.Refused,
	}
	if i.Target != nil {
		row.To = i.Target.Name
	}
	return row
}

func planCells(n int, i *replay.Item) []string {
	to, what := unknown, string(i.Outlook)+": "+i.Why
	if i.Target != nil {
		to = i.Target.Name
	}
	if i.Refused != "" {
		what = "not sent: " + i.Refused
	}
	return []string{
		strconv.Itoa(n + 1), i.Letter.ID, cmp.Or(cut(oneLine(i.Letter.Record.Key), 24), unknown),
		cmp.Or(oneLine(i.Letter.Reason()), unknown), cmp.Or(oneLine(i.Letter.Group), unknown), to, oneLine(what),
	}
}

func tallyText(t replay.Tally) string {
	return partsText([]part{
		{t.Runs, verb(t.Runs, "runs again", "run again")},
		{t.Duplicates, verb(t.Duplicates, "is a duplicate and does nothing", "are duplicates and do nothing")},
		{t.Busy, verb(t.Busy, "waits for another delivery", "wait for another delivery")},
		{t.Conflicts, "will be dead again"}, {t.Unprotected, verb(t.Unprotected, "runs unprotected", "run unprotected")},
		{t.Unknown, verb(t.Unknown, "is not known to the ledger", "are not known to the ledger")},
		{t.Refused, "cannot be sent"},
	})
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// part is a number of letters, and what became of them.
type part struct {
	n    int
	what string
}

// partsText lists the parts that are not 0.
func partsText(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(texts, ", ")
}

// planned ends a command that sends nothing.
func (r *replayReport) planned(p *replay.Plan) error {
	switch {
	case r.command.Yes && len(p.Items) > 0:
		return errors.New("nothing was sent")
	case len(p.Items) > 0 && r.json == nil:
		fmt.Fprintln(r.streams.Out, "nothing was sent; add --yes to send them")
	}
	return nil
}

// begin says where the journal is.
func (r *replayReport) begin(total int, path string) {
	r.progress = newProgress(r.streams.Err, "sending letters back", total)
	fmt.Fprintf(r.streams.Err, "journal: %s\n", path)
}

// rest says what an earlier run has left.
func (r *replayReport) rest(rest replay.Rest) {
	fmt.Fprintf(r.streams.Err, "resuming: %d to send, %d of them perhaps a second time; %s deleted\n",
		len(rest.Send), rest.Again, deadletters.Number(len(rest.Delete), "was sent and is", "were sent and are"))
	for _, i := range rest.Uncertain {
		fmt.Fprintf(r.streams.Err, "perhaps sent, and stays: %s; --again sends it again\n", i.Letter.ID)
	}
	for _, id := range rest.Missing {
		fmt.Fprintf(r.streams.Err, "not there any more: %s\n", id)
	}
	r.progress = newProgress(r.streams.Err, "sending letters back", len(rest.Send))
}

// sentRow is a letter in the JSON output.
type sentRow struct {
	Event     string `json:"event"`
	ID        string `json:"id"`
	JobID     string `json:"jobId,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	To        string `json:"to"`
	Error     string `json:"error,omitempty"`
}

// event prints what became of a letter.
func (r *replayReport) event(e replay.Event) {
	row := sentRow{
		Event: eventWord(e.State), ID: e.Item.Letter.ID, JobID: e.Item.Letter.JobID(), MessageID: e.MessageID,
		To: e.Item.Target.Name,
	}
	if e.Err != nil {
		row.Error = oneLine(endpoint.Brief(e.Err).Error())
	}
	r.tracker.Observe(e)
	switch {
	case r.json != nil:
		_ = r.json.Encode(row)
	case e.State != replay.StateDeleted && r.told < namedFailures:
		r.told++
		r.progress.clear()
		fmt.Fprintf(r.streams.Err, "%s: %s: %s\n", row.Event, row.ID, row.Error)
	}
	r.progress.step()
}

func eventWord(s replay.State) string {
	switch s {
	case replay.StateDeleted:
		return "replayed"
	case replay.StateSent:
		return "undeleted"
	case replay.StateSending:
		return "uncertain"
	default:
		return "refused"
	}
}

// end prints the summary and returns the error of the command.
func (r *replayReport) end(sum replay.Summary, err error) error {
	r.progress.clear()
	total := sum.Sent + sum.Undeleted + sum.Refused + sum.Uncertain + sum.Untried
	if r.json != nil {
		_ = r.json.Encode(struct {
			Event string `json:"event"`
			Queue string `json:"queue"`
			replay.Summary
			Stopped string `json:"stopped,omitempty"`
		}{"summary", r.session.Name, sum, stopReason(err)})
	} else {
		fmt.Fprintf(r.streams.Out, "sent back %d of %s of %s\n", sum.Sent+sum.Undeleted, letterCount(total), r.session.Name)
	}
	missing := restText(sum)
	stopped, wasStopped := errors.AsType[*replay.StoppedError](err)
	busy, isBusy := errors.AsType[*replay.BusyError](err)
	switch {
	case wasStopped:
		return &exitError{ExitStopped, fmt.Errorf("%w; %s; --resume carries on", stopped, missing)}
	case isBusy:
		return busy
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(r.streams.Err, "sqsafe: interrupted: %s; --resume carries on\n", missing)
		return errInterrupted
	case err != nil:
		return fmt.Errorf("%s: %w", missing, r.session.explain(err))
	case sum.Failed():
		return errors.New(missing)
	}
	return nil
}

func stopReason(err error) string {
	if err == nil {
		return ""
	}
	return oneLine(endpoint.Brief(err).Error())
}

func restText(s replay.Summary) string {
	text := partsText([]part{
		{s.Refused, "not sent"}, {s.Uncertain, "perhaps sent and still there"}, {s.Undeleted, "sent and still there"},
		{s.Untried, "not tried"}, {s.Missing, "not there any more"},
	})
	if text == "" {
		return "all were sent"
	}
	return "letters: " + text
}

// outcomeRow is a job in the JSON output of --track.
type outcomeRow struct {
	Event string `json:"event"`
	ID    string `json:"id"`
	JobID string `json:"jobId,omitempty"`
	// MessageID is the id of the message that was sent.
	MessageID string         `json:"messageId,omitempty"`
	Outcome   replay.Outcome `json:"outcome"`
	Reason    string         `json:"reason,omitempty"`
}

// track follows the jobs until all have ended, and prints how.
func (r *replayReport) track(ctx context.Context, limit time.Duration) error {
	line := newProgress(r.streams.Err, "following jobs", len(r.tracker.Jobs()))
	err := r.tracker.Wait(ctx, limit, func(n replay.Outcomes) { line.steps(n.Total() - n.Pending - line.done) })
	line.clear()
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return (&LedgerTarget{Account: r.command.Account}).explain(err)
	}
	return r.outcomes()
}

// outcomes prints the outcome of each job, and returns an error unless all are done.
func (r *replayReport) outcomes() error {
	var rows [][]string
	for _, f := range r.tracker.Jobs() {
		row := outcomeRow{
			Event: "outcome", ID: f.Item.Letter.ID, JobID: f.JobID(), MessageID: f.MessageID, Outcome: f.Outcome,
			Reason: f.Reason,
		}
		if r.json != nil {
			_ = r.json.Encode(row)
		} else if f.Outcome != replay.OutcomeDone && len(rows) < shownPlan {
			rows = append(rows, []string{row.ID, cmp.Or(oneLine(row.JobID), unknown), string(row.Outcome), oneLine(row.Reason)})
		}
	}
	n := r.tracker.Outcomes()
	if r.json == nil {
		if len(rows) > 0 {
			fmt.Fprintln(r.streams.Out, plainTable(r.streams.Out, nil, []string{"id", "job", "outcome", "reason"}, rows))
		}
		fmt.Fprintf(r.streams.Out, "%d of %s done\n", n.Done, deadletters.Number(n.Total(), "job is", "jobs are"))
	}
	if n.Done == n.Total() {
		return nil
	}
	return &exitError{ExitStopped, errors.New("jobs: " + partsText([]part{
		{n.DeadAgain, "dead again"}, {n.Pending, "not ended yet"}, {n.Unknown, "not known to the ledger"},
	}))}
}
