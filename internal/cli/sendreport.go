package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/queue"
)

// namedFailures is the maximum number of unsent messages that are listed;
// --json lists them all.
const namedFailures = 20

// sendReport prints the results of messages: on a terminal while they are sent.
type sendReport struct {
	command  *Send
	out, err io.Writer
	json     *json.Encoder // nil for text output
	progress *progress
	summary  sendSummary
	to       string // the queue or queues, for people
	lastID   string
	broken   string // the first message of a failed call
}

// sendSummary is the last line of the JSON output.
type sendSummary struct {
	Event string `json:"event"`
	// Queue is the queue's name; empty where lines name their queues.
	Queue string `json:"queue"`
	// Queues counts the messages that were sent by queue, where lines name them.
	Queues map[string]int `json:"queues,omitempty"`
	Sent   int            `json:"sent"`
	// Refused messages were certainly not sent.
	Refused int `json:"refused"`
	// Uncertain messages were in a call without an answer.
	Uncertain int `json:"uncertain"`
	// Untried messages come after the error that ended the command.
	Untried int `json:"untried"`
}

// sentMessage is a line of the JSON output.
type sentMessage struct {
	Event     string `json:"event"`
	Number    int    `json:"number"`
	Queue     string `json:"queue,omitempty"` // where lines name their queues
	Source    string `json:"source,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	Sequence  string `json:"sequenceNumber,omitempty"`
	Error     string `json:"error,omitempty"`
}

// newSendReport returns the report for messages to a queue; its name is empty where the
// jobs name their own.
func newSendReport(s *Send, list []jobfile.Job, to string, streams Streams) *sendReport {
	total := jobfile.Count(list)
	r := &sendReport{
		command: s, out: streams.Out, err: streams.Err, to: to,
		summary: sendSummary{Event: "summary", Queue: to, Untried: total},
	}
	if to == "" {
		r.summary.Queues = map[string]int{}
		for i := range list {
			r.summary.Queues[list[i].Queue.Name] = 0
		}
		r.to = fmt.Sprintf("%d queues", len(r.summary.Queues))
		if len(r.summary.Queues) == 1 {
			r.to = list[0].Queue.Name
		}
	}
	r.progress = newProgress(streams.Err, "sending to "+r.to, total)
	if s.JSON {
		r.json = newEncoder(streams.Out)
	}
	return r
}

func (r *sendReport) message(result jobfile.Result) {
	line := sentMessage{
		Event: r.count(result), Number: result.Number, Source: result.Job.Source,
		MessageID: result.MessageID, Sequence: result.Sequence,
	}
	if r.summary.Queues != nil {
		line.Queue = result.Job.Queue.Name
	}
	if result.Err != nil {
		line.Error = oneLine(endpoint.Brief(result.Err).Error())
	}
	name := fmt.Sprintf("message %d%s", line.Number, in(line.Source))
	alone := errors.As(result.Err, new(*queue.EntryError))
	switch {
	case r.json != nil:
		_ = r.json.Encode(line)
	case alone && r.summary.Refused <= namedFailures:
		r.progress.clear()
		fmt.Fprintf(r.err, "%s: %s: %s\n", line.Event, name, line.Error)
	}
	if result.Err != nil && !alone && r.broken == "" {
		r.broken = ", from " + name + " on"
	}
	r.progress.step()
}

// count counts the message and returns the word for its result.
func (r *sendReport) count(result jobfile.Result) string {
	r.summary.Untried--
	refusal, refused := errors.AsType[smithy.APIError](result.Err)
	entry, refusedAlone := errors.AsType[*queue.EntryError](result.Err)
	switch {
	case result.Err == nil:
		r.summary.Sent++
		if r.summary.Queues != nil {
			r.summary.Queues[result.Job.Queue.Name]++
		}
		r.lastID = result.MessageID
		return "sent"
	case refusedAlone && entry != nil, refused && refusal.ErrorFault() != smithy.FaultServer, endpoint.Refused(result.Err):
		r.summary.Refused++
		return "refused"
	default:
		r.summary.Uncertain++
		return "uncertain"
	}
}

func in(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

// end prints the totals and returns the error of the command.
func (r *sendReport) end(err error) error {
	r.progress.clear()
	s := r.summary
	total := s.Sent + s.Refused + s.Uncertain + s.Untried
	switch {
	case r.json != nil:
		_ = r.json.Encode(s)
	case total == 1 && s.Sent == 1:
		fmt.Fprintf(r.out, "sent %s to %s\n", r.lastID, r.to)
	default:
		fmt.Fprintf(r.out, "sent %d of %s to %s\n", s.Sent, messages(total), r.to)
	}
	if s.Sent == total {
		return nil
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{s.Refused, "refused"}, {s.Uncertain, "without an answer, perhaps sent"}, {s.Untried, "not tried"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return r.failure(err, fmt.Sprintf("%d of %s not sent%s: %s",
		total-s.Sent, messages(total), r.broken, strings.Join(parts, ", ")))
}

// failure combines the list of missing messages with the reason.
func (r *sendReport) failure(err error, missing string) error {
	if err == nil || errors.As(err, new(*queue.EntryError)) {
		return errors.New(missing)
	}
	why := r.command.explain(err, r.to)
	if errors.Is(why, errInterrupted) {
		fmt.Fprintln(r.err, "sqsafe: interrupted: "+missing)
		return why
	}
	return fmt.Errorf("%s: %w", missing, why)
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
