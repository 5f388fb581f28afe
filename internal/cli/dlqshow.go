package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/charmbracelet/lipgloss"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQShow is the subcommand that shows a letter.
type DLQShow struct {
	DLQTarget
	Queue string `arg:"" help:"The dead-letter queue."`
	ID    string `arg:"" help:"Id of the letter or its original id, or the first 8 characters, or the key of its job."`
	DLQLogs
	Redact bool `help:"Leave out values: of the payload, of attributes, and the texts of errors."`
	Raw    bool `help:"Print the body byte for byte, and nothing else."`
	JSON   bool `name:"json" help:"Print one JSON object for each letter."`
}

// Help returns the text below the flags.
func (d *DLQShow) Help() string {
	return dlqHelp + `

If several letters match, all of them are shown. The exit code is 1 if none does.`
}

// Validate refuses flags that would have no effect.
func (d *DLQShow) Validate() error {
	if d.Logs && d.Redact {
		return errors.New("--logs may show what --redact leaves out; give one of them")
	}
	if err := d.DLQLogs.check(&d.DLQTarget); err != nil {
		return err
	}
	return d.DLQTarget.Validate()
}

// shortID is how much of an id sqsafe local prints; it selects a letter to look at.
const shortID = 8

// Run shows the letter.
func (d *DLQShow) Run(ctx context.Context, streams Streams) error {
	s, err := d.open(ctx, d.Queue)
	if err != nil {
		return err
	}
	filter := &deadletters.Filter{IDs: []string{d.ID}}
	if len(d.ID) >= shortID {
		filter.IDBegin = d.ID
	}
	letters, reading, err := s.letters(ctx, streams, filter, true)
	if err != nil {
		return err
	}
	if err := reading.Hold.Release(ctx); err != nil {
		return s.explain(err)
	}
	if len(letters) == 0 {
		notices(streams.Err, s, reading)
		return fmt.Errorf("no dead letter of %d in %s has the id or key %s; sqsafe dlq list %s --letters lists them",
			reading.Read, s.Name, oneLine(d.ID), s.Name)
	}
	if !d.Raw {
		s.join(ctx, streams, letters)
	}
	deadletters.Sort(letters, s.FIFO)
	for _, l := range letters {
		var lines []logLine
		if d.Logs {
			if lines, err = d.lines(ctx, &d.DLQTarget, l); err != nil {
				fmt.Fprintf(streams.Err, "the log cannot be read: %v\n",
					d.Account.explain(err, "CloudWatch Logs", d.EndpointLogs, "--endpoint-logs"))
			}
		}
		switch {
		case d.Raw:
			_, err = io.WriteString(streams.Out, l.Message.Body)
		case d.JSON:
			details := newLetterDetails(l, d.Redact)
			details.Logs = lines
			err = newEncoder(streams.Out).Encode(details)
		default:
			_, err = io.WriteString(streams.Out, letterText(streams.Out, s, l, d.Redact)+logText(streams.Out, lines))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// letterRow is a letter in the JSON output.
type letterRow struct {
	Event       string           `json:"event"`
	ID          string           `json:"id"`
	Kind        deadletters.Kind `json:"kind"`
	OriginalID  string           `json:"originalId"`
	Class       string           `json:"class,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	Rule        string           `json:"rule,omitempty"`
	Error       string           `json:"error,omitempty"`
	Types       []string         `json:"types,omitempty"`
	Codes       fault.Codes      `json:"codes,omitzero"`
	Fingerprint string           `json:"fingerprint"`
	Key         string           `json:"key,omitempty"`
	JobID       string           `json:"jobId,omitempty"`
	Epoch       int              `json:"epoch"`
	Attempts    int              `json:"attempts"`
	Runs        int              `json:"runs"`
	Source      string           `json:"source,omitempty"`
	Group       string           `json:"group,omitempty"`
	Sequence    string           `json:"sequenceNumber,omitempty"`
	Sent        time.Time        `json:"sent,omitzero"`
	Arrived     time.Time        `json:"arrived,omitzero"`
	Died        time.Time        `json:"died,omitzero"`
	Expires     time.Time        `json:"expires,omitzero"`
	Receives    int              `json:"receives"`
	Bytes       int              `json:"bytes"`
	Events      int              `json:"events,omitempty"`
	Function    string           `json:"function,omitempty"`
	Version     string           `json:"functionVersion,omitempty"`
	RequestID   string           `json:"requestId,omitempty"`
	// Ledger is what the ledger has of the job; absent if it was not asked.
	Ledger deadletters.LedgerState `json:"ledger,omitempty"`
}

func newLetterRow(l *deadletters.Letter) letterRow {
	r := &l.Record
	row := letterRow{
		Event: "letter", ID: l.ID, Kind: l.Kind, OriginalID: l.OriginalID(), Class: r.Class, Reason: r.Reason, Rule: r.Rule,
		Error: r.Message, Types: r.Types, Codes: r.Codes, Fingerprint: r.Fingerprint, Key: r.Key, JobID: l.JobID(),
		Epoch: r.Epoch, Attempts: r.Attempts, Runs: r.Runs(), Source: l.Source, Group: l.Group, Sequence: l.Sequence,
		Sent: l.Sent, Arrived: l.Arrived, Died: l.Died(), Expires: l.Expires, Receives: l.Receives, Bytes: l.Size,
		Function: r.Function, Version: r.FunctionVersion, RequestID: r.RequestID, Ledger: l.Ledger,
	}
	if l.Events > 1 {
		row.Events = l.Events
	}
	return row
}

// letterDetails is a letter in the JSON output of show.
type letterDetails struct {
	letterRow
	Body string `json:"body"`
	// Encoding is base64 if the body is no text in UTF-8; absent otherwise.
	Encoding   string                   `json:"bodyEncoding,omitempty"`
	Attributes map[string]dlq.Attribute `json:"attributes,omitempty"`
	System     map[string]string        `json:"systemAttributes,omitempty"`
	Stack      string                   `json:"stack,omitempty"`
	History    handler.History          `json:"history,omitzero"`
	Job        *jobRow                  `json:"job,omitempty"`
	Logs       []logLine                `json:"logs,omitempty"`
}

const redacted = "(redacted)"

func newLetterDetails(l *deadletters.Letter, redact bool) letterDetails {
	d := letterDetails{
		letterRow: newLetterRow(l), Body: l.Message.Body, Attributes: map[string]dlq.Attribute{},
		System: l.Message.System, Stack: l.Record.Stack, History: l.Record.History,
	}
	if body := []byte(l.Message.Body); !json.Valid(body) && strings.ToValidUTF8(d.Body, "") != d.Body {
		d.Body, d.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
	}
	for name, a := range l.Message.Attributes {
		if name != dlq.AttributeName {
			d.Attributes[name] = dlq.Attribute{Type: aws.ToString(a.DataType), Value: a.StringValue, Binary: a.BinaryValue}
		}
	}
	maps.Copy(d.Attributes, l.Record.Displaced)
	if l.Entry != nil {
		row := newJobRow(l.Entry, time.Now())
		d.Job = &row
	}
	if redact {
		d.redact()
	}
	return d
}

func (d *letterDetails) redact() {
	d.Body, d.Encoding, d.Error = redactBody(d.Body), "", redacted
	for name, a := range d.Attributes {
		d.Attributes[name] = dlq.Attribute{Type: a.Type, Value: aws.String(redacted)}
	}
	d.History.Attempts = slices.Clone(d.History.Attempts)
	for i := range d.History.Attempts {
		d.History.Attempts[i].Message = redacted
	}
	d.Job = nil
}

// logText formats the lines of the log.
func logText(out io.Writer, lines []logLine) string {
	if len(lines) == 0 {
		return ""
	}
	r, text := lipgloss.NewRenderer(out), &strings.Builder{}
	fmt.Fprintln(text, r.NewStyle().Bold(true).Render("log"))
	for _, l := range lines {
		fmt.Fprintf(text, "  %s %s\n", l.Time.Local().Format("15:04:05.000"), printable(l.Line))
	}
	return text.String()
}

// letterText describes a letter for people.
func letterText(out io.Writer, s *session, l *deadletters.Letter, redact bool) string {
	r := lipgloss.NewRenderer(out)
	now := time.Now()
	text := &strings.Builder{}
	title := func(name string) { fmt.Fprintln(text, r.NewStyle().Bold(true).Render(name)) }
	title(oneLine(l.ID) + " in " + s.Name)
	for _, line := range letterLines(s, l, redact, now) {
		label := r.NewStyle().Faint(true).Render(fmt.Sprintf("%-*s", labelWidth, line.Name))
		fmt.Fprintf(text, "  %s %s\n", label, oneLine(line.Value))
	}
	history := l.Record.History
	if redact {
		history = newLetterDetails(l, true).History
	}
	if len(history.Attempts) > 0 {
		title("attempts")
		fmt.Fprintln(text, historyTable(r, history, cmp.Or(columns(out), pipeWidth)))
	}
	if stack := strings.TrimRight(l.Record.Stack, "\n"); stack != "" {
		title("stack")
		for line := range strings.SplitSeq(stack, "\n") {
			fmt.Fprintln(text, "  "+printable(line))
		}
	}
	attributes := newLetterDetails(l, redact).Attributes
	if len(attributes) > 0 {
		title("attributes")
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			fmt.Fprintf(text, "  %s (%s): %s\n", name, oneLine(attributes[name].Type), attributeText(attributes[name]))
		}
	}
	title("payload, " + strconv.Itoa(len(l.Message.Body)) + " bytes")
	body := l.Message.Body
	if redact {
		body = redactBody(body)
	}
	fmt.Fprintln(text, payloadText(body))
	if l.Entry != nil && !redact {
		title("ledger")
		text.WriteString(jobText(out, l.Entry, now))
	}
	return text.String()
}

func letterLines(s *session, l *deadletters.Letter, redact bool, now time.Time) []Row {
	rec := &l.Record
	message := rec.Message
	if redact && message != "" {
		message = redacted
	}
	epoch := ""
	if rec.Epoch > 0 {
		epoch = fmt.Sprintf("%d times, and failed again", rec.Epoch)
	}
	position := ""
	if l.Group != "" {
		position = strings.TrimSpace(l.Group + ", sequence " + l.Sequence)
	}
	lines := []Row{
		{Name: "kind", Value: l.KindText()},
		{Name: "reason", Value: l.Reason()},
		{Name: "rule", Value: rec.Rule},
		{Name: "error", Value: message},
		{Name: "types", Value: strings.Join(rec.Types, ", ")},
		{Name: "codes", Value: strings.Join(rec.Codes.All(), ", ")},
		{Name: "provider's id", Value: rec.Codes.RequestID},
		{Name: "key", Value: rec.Key},
		{Name: "ledger", Value: cmp.Or(l.LedgerText(), s.noTable)},
		{Name: "replayed", Value: epoch},
		{Name: "runs", Value: positive(rec.Runs())},
		{Name: "died", Value: moment(l.Died(), now)},
		{Name: "sent", Value: moment(l.Sent, now)},
		{Name: "expires", Value: moment(l.Expires, now)},
		{Name: "source", Value: l.Source},
		{Name: "group", Value: position},
		{Name: "original id", Value: different(l.OriginalID(), l.ID)},
		{Name: "function", Value: strings.TrimSpace(rec.Function + " " + rec.FunctionVersion)},
		{Name: "request id", Value: rec.RequestID},
		{Name: "group id", Value: rec.Fingerprint},
		{Name: "receives", Value: strconv.Itoa(l.Receives) + ", by looks at this queue"},
	}
	if rec.Cut {
		lines = append(lines, Row{Name: "note", Value: "the record was cut to fit; the ledger and the log have the rest"})
	}
	return slices.DeleteFunc(lines, func(r Row) bool { return r.Value == "" })
}

func different(value, from string) string {
	if value == from {
		return ""
	}
	return value
}

func attributeText(a dlq.Attribute) string {
	if a.Value != nil {
		return printable(*a.Value)
	}
	return "0x" + hex.EncodeToString(a.Binary)
}

// payloadText formats JSON over several lines, and other text without control characters.
func payloadText(body string) string {
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(body), "", "  ") == nil && strings.ContainsAny(body, "{[") {
		body = pretty.String()
	}
	var lines []string
	for line := range strings.SplitSeq(body, "\n") {
		lines = append(lines, "  "+printable(line))
	}
	return strings.Join(lines, "\n")
}

// printable shows control characters as in a Go string, so that a terminal obeys none.
func printable(line string) string { return deadletters.Visible(line, "\t") }

// redactBody keeps the members of JSON, and of other bodies nothing but the size.
func redactBody(body string) string {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return fmt.Sprintf("(%d bytes redacted)", len(body))
	}
	text, err := json.Marshal(redactValue(value))
	if err != nil {
		return redacted
	}
	return string(text)
}

func redactValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = redactValue(v[name])
		}
		return v
	case []any:
		for i := range v {
			v[i] = redactValue(v[i])
		}
		return v
	default:
		return redacted
	}
}
