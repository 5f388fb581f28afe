package archive_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func open(t testing.TB, s *letterstest.Stack) *deadletters.Queue {
	t.Helper()
	q, err := deadletters.Open(t.Context(), s.SQS, s.DeadURL)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// legalText are texts that SQS takes, of n characters.
func legalText(from, to int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab7\t\n\r\"\\<&é€😀\u2028\ufffd")), from, to, -1)
}

func anyAttribute() *rapid.Generator[types.MessageAttributeValue] {
	return rapid.Custom(func(t *rapid.T) types.MessageAttributeValue {
		label := rapid.SampledFrom([]string{"", ".custom", ".gzip"}).Draw(t, "label")
		base := rapid.SampledFrom([]string{"String", "Number", "Binary"}).Draw(t, "type")
		a := types.MessageAttributeValue{DataType: aws.String(base + label)}
		switch base {
		case "Binary":
			a.BinaryValue = rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "bytes")
		case "Number":
			a.StringValue = aws.String(fmt.Sprint(rapid.Int().Draw(t, "number")))
		default:
			a.StringValue = aws.String(legalText(1, 100).Draw(t, "text"))
		}
		return a
	})
}

// anyMessage is a message that SQS accepts, some of them as large as can be or nearly so.
func anyMessage() *rapid.Generator[*sqs.SendMessageInput] {
	return rapid.Custom(func(t *rapid.T) *sqs.SendMessageInput {
		names := rapid.OneOf(rapid.Just(dlq.AttributeName), rapid.StringMatching(`[b-z_-]{1,10}(\.[a-z_-]{1,9})?`))
		in := &sqs.SendMessageInput{MessageAttributes: rapid.MapOfN(names, anyAttribute(), 0, 10).Draw(t, "attributes")}
		taken := 0
		for name, a := range in.MessageAttributes {
			taken += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
		}
		in.MessageBody = aws.String(legalText(1, 50).Draw(t, "body"))
		if rapid.IntRange(0, 9).Draw(t, "size") == 0 {
			room := rapid.IntRange(0, 2000).Draw(t, "room")
			in.MessageBody = aws.String(strings.Repeat("x", 1<<20-taken-room))
		}
		if rapid.Bool().Draw(t, "traced") {
			in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {
				DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=1:a:0"),
			}}
		}
		return in
	})
}

// way is a message and how it goes.
type way struct {
	source            string
	message           *sqs.SendMessageInput
	moved, compressed bool
}

// Any message that SQS accepts, dead-lettered, listed, archived, restored and sent back: the
// function sees the same body, attributes, types, group, and trace header less its Lineage.
func TestNothingIsLostOnTheWholeWay(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"orders", "stock.fifo"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				w := way{source: source, message: anyMessage().Draw(rt, "message")}
				w.moved, w.compressed = rapid.Bool().Draw(rt, "moved by SQS"), rapid.Bool().Draw(rt, "compressed")
				if source != "orders" {
					w.message.MessageGroupId, w.message.MessageDeduplicationId = aws.String("g_1"), aws.String("d")
				} else if rapid.Bool().Draw(rt, "group") {
					w.message.MessageGroupId = aws.String("tenant")
				}
				var err error
				synctest.Test(t, func(t *testing.T) { err = w.travel(t) })
				if err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// travel sends the message the whole way, and returns an error if it arrives as another.
func (w way) travel(t *testing.T) error {
	t.Helper()
	s := letterstest.New(t, w.source)
	in := w.message
	in.QueueUrl = &s.SourceURL
	if _, err := s.SQS.SendMessage(t.Context(), in); err != nil {
		return err
	}
	s.Run = func(context.Context, *handler.Message) error { return errors.New("it failed") }
	if w.moved {
		s.MoveBySQS()
	} else {
		s.Work()
	}
	path := t.TempDir() + "/a.jsonl"
	if w.compressed {
		path += ".gz"
	}
	a := archive.Operation{Queue: open(t, s), Path: path}
	if got, err := a.Do(t.Context()); err != nil || got.Archived != 1 || got.Deleted != 1 {
		return fmt.Errorf("archived %+v, %w", got, err)
	}
	r := archive.Restoration{Path: path, Queue: open(t, s)}
	if got, err := r.Do(t.Context()); err != nil || got.Sent != 1 {
		return fmt.Errorf("restored %+v, %w", got, err)
	}
	table, err := ledger.Open(t.Context(), s.DynamoDB, letterstest.Table)
	if err != nil {
		return err
	}
	o := &replay.Operation{Queue: open(t, s), Table: table, Directory: t.TempDir()}
	pass, err := o.Look(t.Context())
	if err != nil {
		return err
	}
	if got, err := o.Execute(t.Context(), pass); err != nil || got.Sent != 1 {
		return fmt.Errorf("replayed %+v of %+v, %w", got, *pass.Plan.Items[0], err)
	}
	return w.arrived(s.Receive(s.SourceURL, s.Source))
}

// arrived compares the message with what its function sees.
func (w way) arrived(batch events.SQSEvent) error {
	in := w.message
	if len(batch.Records) != 1 {
		return fmt.Errorf("%d messages are back", len(batch.Records))
	}
	m := handler.Message{SQSMessage: batch.Records[0]}
	dlq.Restore(&m)
	want := map[string]events.SQSMessageAttribute{}
	for name, a := range in.MessageAttributes {
		want[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	if diff := cmp.Diff(want, m.MessageAttributes, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("attributes (-want +got):\n%s", diff)
	}
	trace := strings.TrimSuffix(aws.ToString(in.MessageSystemAttributes["AWSTraceHeader"].StringValue), ";Lineage=1:a:0")
	got := []string{m.Body, m.GroupID(), m.Attributes["AWSTraceHeader"]}
	if diff := cmp.Diff([]string{*in.MessageBody, aws.ToString(in.MessageGroupId), trace}, got); diff != "" {
		return fmt.Errorf("body, group or trace header (-want +got):\n%s", diff)
	}
	return nil
}

// letters fills the dead-letter queue.
func letters(s *letterstest.Stack, n int, group string) (bodies []string) {
	for i := range n {
		body := fmt.Sprint("letter ", i)
		s.Send(s.DeadURL, body, group, nil)
		bodies = append(bodies, body)
	}
	return bodies
}

func drained(s *letterstest.Stack) (bodies []string) {
	for _, m := range s.Drain(s.DeadURL) {
		bodies = append(bodies, *m.Body)
	}
	return bodies
}

func TestArchiveOfFIFOKeepsTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "stock.fifo")
		want := letters(s, 34, "a")
		path := t.TempDir() + "/a.jsonl.gz"
		a := archive.Operation{Queue: open(t, s), Path: path, Retain: time.Hour, Who: "ann", Why: "tidy up"}
		got, err := a.Do(t.Context())
		if err != nil || got != (archive.Result{Archived: 34, Deleted: 34}) {
			t.Fatalf("%+v, %v", got, err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		c, err := archive.Verify(path)
		if err != nil || !c.Whole || c.Letters != 34 || c.Why != "tidy up" || c.KeepUntil.Sub(c.Created) != time.Hour {
			t.Errorf("content %+v, %v", c, err)
		}
		r := archive.Restoration{Path: path, Queue: open(t, s)}
		if got, err := r.Do(t.Context()); err != nil || got != (archive.Restored{Sent: 34}) {
			t.Fatalf("%+v, %v", got, err)
		}
		if diff := cmp.Diff(want, drained(s)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		// A second time it sends nothing, unless it is told to.
		again := archive.Restoration{Path: path, Queue: open(t, s)}
		if got, err := again.Do(t.Context()); err != nil || got != (archive.Restored{Before: 34}) {
			t.Errorf("again: %+v, %v", got, err)
		}
		<-time.After(time.Second)
		again = archive.Restoration{Path: path, Queue: open(t, s), Again: true}
		if got, err := again.Do(t.Context()); err != nil || got.Sent != 34 || len(drained(s)) != 34 {
			t.Errorf("again: %+v, %v", got, err)
		}
	})
}

func TestACopyLeavesTheQueueAsItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		letters(s, 25, "")
		a := archive.Operation{
			Queue: open(t, s), Path: t.TempDir() + "/a", Keep: true, Filter: deadletters.Filter{Text: "letter 1"},
		}
		got, err := a.Do(t.Context())
		if err != nil || got != (archive.Result{Archived: 11}) {
			t.Errorf("%+v, %v", got, err)
		}
		if c := open(t, s).Count; c.Visible != 25 {
			t.Errorf("left %+v", c)
		}
		if _, err := a.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "is there already; name another file") {
			t.Errorf("error %v", err)
		}
		none := archive.Operation{Queue: open(t, s), Path: t.TempDir() + "/none"}
		none.Filter.IDs = []string{"x"}
		if got, err := none.Do(t.Context()); err != nil || got.Archived != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := os.Stat(none.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file without letters: %v", err)
		}
	})
}

// Each call fails: a letter is in the queue, in the file, or in both, and never in neither.
func TestArchiveSurvivesFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]localaws.Fault{
		"refused": {Code: "AccessDenied", Status: http.StatusForbidden}, "failed once": {Times: 1},
		"no answer": {Times: 1, AfterEffect: true}, "no answer ever": {AfterEffect: true},
		"entries": {Entries: []string{"1", "3"}, Code: "ReceiptHandleIsInvalid"},
	}
	operations := []string{"ReceiveMessage", "GetQueueAttributes", "ChangeMessageVisibilityBatch", "DeleteMessageBatch"}
	for _, operation := range operations {
		for name, fault := range faults {
			if len(fault.Entries) > 0 && !strings.HasSuffix(operation, "Batch") {
				continue
			}
			t.Run(operation+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := letterstest.New(t, "orders")
					want := letters(s, 23, "")
					q := open(t, s)
					fault.Operation = operation
					remove := s.Server.Inject(fault)
					path := t.TempDir() + "/a.jsonl.gz"
					a := archive.Operation{Queue: q, Path: path}
					result, err := a.Do(t.Context())
					remove()
					<-time.After(time.Minute)
					there := map[string]int{}
					_, _ = archive.Read(path, func(m *deadletters.Message) error {
						there[m.Body] = 1
						return nil
					})
					for _, body := range drained(s) {
						there[body] |= 2
					}
					both := 0
					for _, body := range want {
						if there[body] == 0 {
							t.Errorf("%s is lost", body)
						}
						if there[body] == 3 {
							both++
						}
					}
					if err == nil && both != result.Undeleted {
						t.Errorf("%d in both, %+v", both, result)
					}
				})
			})
		}
	}
}

// A restoration whose calls fail sends nothing twice: what may have been sent stays out,
// until somebody says again.
func TestRestoreSurvivesFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]localaws.Fault{
		"refused": {Times: 1, Code: "AccessDenied", Status: http.StatusForbidden}, "no answer": {Times: 1, AfterEffect: true},
		"lost": {Times: 1, Reset: true}, "entries": {Times: 1, Entries: []string{"2"}, Code: "InvalidMessageContents"},
	} {
		for _, source := range []string{"orders", "stock.fifo"} {
			t.Run(name+" "+source, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := letterstest.New(t, source)
					group := ""
					if source != "orders" {
						group = "g"
					}
					want := letters(s, 23, group)
					path := t.TempDir() + "/a.jsonl"
					a := archive.Operation{Queue: open(t, s), Path: path}
					if _, err := a.Do(t.Context()); err != nil {
						t.Fatal(err)
					}
					fault.Operation = "SendMessageBatch"
					s.Server.Inject(fault)
					r := archive.Restoration{Path: path, Queue: open(t, s)}
					first, err := r.Do(t.Context())
					if err == nil && len(fault.Entries) == 0 {
						t.Errorf("no error: %+v", first)
					}
					again := archive.Restoration{Path: path, Queue: open(t, s)}
					second, err := again.Do(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					there := map[string]int{}
					for _, body := range drained(s) {
						there[body]++
					}
					missing := 0
					for _, body := range want {
						if there[body] > 1 {
							t.Errorf("%s is there %d times", body, there[body])
						}
						if there[body] == 0 {
							missing++
						}
					}
					if missing > second.Uncertain {
						t.Errorf("%d are missing: %+v, then %+v", missing, first, second)
					}
				})
			})
		}
	}
}

// A file that was cut off, changed or damaged: what is whole is read, and the rest is told.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		letters(s, 30, "")
		path := filepath.Join(t.TempDir(), "a.jsonl")
		a := archive.Operation{Queue: open(t, s), Path: path}
		if _, err := a.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(whole)
		last := strings.LastIndex(text[:len(text)-1], "\n") + 1
		lines := strings.SplitAfter(text, "\n")
		for name, tt := range map[string]struct {
			text    string
			letters int
			whole   bool
			err     string
		}{
			"whole":          {text, 30, true, ""},
			"killed":         {text[:len(text)/2], 14, false, ""},
			"without an end": {text[:last], 30, false, ""},
			"changed":        {strings.Replace(text, "letter 7\"", "letter x\"", 1), 0, false, "the checksum differs"},
			"a line less":    {strings.Join(append(lines[:5:5], lines[6:]...), ""), 29, false, "lines are missing"},
			"empty":          {"", 0, false, "it is no archive"},
			"another file":   {"{}\n", 0, false, "it is no archive"},
			"a newer one":    {`{"format":"sqsafe-dead-letters","v":2}` + "\n", 0, false, "its version is 2"},
		} {
			file := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := archive.Verify(file)
			if tt.err == "" && (err != nil || c.Letters != tt.letters || c.Whole != tt.whole) ||
				tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
		}
		// Compressed, and cut off in the middle of a part.
		file := filepath.Join(t.TempDir(), "x.gz")
		if err := os.WriteFile(file, compressed(t, text)[:900], 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := archive.Verify(file); err != nil || c.Whole || c.Letters == 30 {
			t.Errorf("cut off: %+v, %v", c, err)
		}
	})
}

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

func FuzzRead(f *testing.F) {
	f.Add(`{"format":"sqsafe-dead-letters","v":1}` + "\n" + `{"sha256":"x","letter":{"id":"a","body":"b"}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		c, err := archive.Read(path, func(*deadletters.Message) error {
			n++
			return nil
		})
		if err == nil && c.Letters < n {
			t.Errorf("%d letters, %+v", n, c)
		}
	})
}
