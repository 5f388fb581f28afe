package deadletters_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// open reads the attributes of the dead-letter queue.
func open(t testing.TB, s *letterstest.Stack) *deadletters.Queue {
	t.Helper()
	q, err := deadletters.Open(t.Context(), s.SQS, s.DeadURL)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// read reads the whole queue.
func read(t testing.TB, q *deadletters.Queue) ([]*deadletters.Letter, *deadletters.Reading) {
	t.Helper()
	var letters []*deadletters.Letter
	r, err := q.Read(t.Context(), deadletters.ReadOptions{}, func(m *deadletters.Message) bool {
		letters = append(letters, deadletters.Decode(q, m))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return letters, r
}

func recount(t testing.TB, q *deadletters.Queue) deadletters.Count {
	t.Helper()
	c, err := q.Recount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadLeavesTheQueueAsItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		const many = 523
		for i := range many {
			s.Send(s.DeadURL, fmt.Sprint("body ", i), "", nil)
		}
		q := open(t, s)
		letters, r := read(t, q)
		ids := map[string]bool{}
		for _, l := range letters {
			ids[l.ID] = true
		}
		if len(ids) != many || len(letters) != many || r.Read != many || r.Behind+r.Hidden != 0 {
			t.Errorf("%d letters, %d of them different, %+v; want %d", len(letters), len(ids), r, many)
		}
		if got := recount(t, q); got.Visible != 0 || got.InFlight != many {
			t.Errorf("while they are held: %+v", got)
		}
		if err := r.Hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := recount(t, q); got.Visible != many || got.InFlight != 0 {
			t.Errorf("after the release: %+v", got)
		}
	})
}

func TestReadOfFIFOSaysWhatStandsBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "stock.fifo")
		for i := range 25 {
			s.Send(s.DeadURL, fmt.Sprint("a", i), "a", nil)
		}
		s.Send(s.DeadURL, "b0", "b", nil)
		q := open(t, s)
		letters, r := read(t, q)
		if len(letters)+r.Behind != 26 || len(letters) < 10 || r.Behind < 15 {
			t.Errorf("%d letters, %d behind; want 26 in all, at most ten of a group", len(letters), r.Behind)
		}
		if err := r.Hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, r := read(t, q)
		if len(again)+r.Behind != 26 || len(again) < 10 {
			t.Errorf("the second look shows %d, the first %d", len(again), len(letters))
		}
		_ = r.Hold.Release(t.Context())
	})
}

func TestReadRefusesAQueueWhereLooksCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Send(s.SourceURL, "x", "", nil)
		q, err := deadletters.Open(t.Context(), s.SQS, s.SourceURL)
		if err != nil {
			t.Fatal(err)
		}
		none := func(*deadletters.Message) bool { return true }
		_, err = q.Read(t.Context(), deadletters.ReadOptions{}, none)
		var own *deadletters.OwnPolicyError
		if !errors.As(err, &own) || !strings.Contains(err.Error(), "after 3 SQS moves a message to orders-dead") {
			t.Errorf("error %v", err)
		}
		r, err := q.Read(t.Context(), deadletters.ReadOptions{SpendReceives: true}, none)
		if err != nil || r.Read != 1 {
			t.Errorf("with leave: %+v, %v", r, err)
		}
	})
}

// Each call of a look fails once, for good, after its effect, or for some entries. The
// look succeeds, or it fails and the letters are visible again.
func TestReadSurvivesFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]localaws.Fault{
		"refused":     {Code: "AccessDenied", Status: http.StatusForbidden},
		"failed once": {Times: 1},
		"throttled":   {Times: 2, Code: "ThrottlingException"},
		"lost once":   {Times: 1, Reset: true},
		"no answer":   {Times: 1, AfterEffect: true},
		"entries":     {Times: 1, Entries: []string{"1", "3"}, Status: http.StatusInternalServerError},
	}
	operations := []string{"ReceiveMessage", "GetQueueAttributes", "ChangeMessageVisibilityBatch"}
	for _, operation := range operations {
		for name, fault := range faults {
			if len(fault.Entries) > 0 && !strings.HasSuffix(operation, "Batch") {
				continue
			}
			t.Run(operation+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := letterstest.New(t, "orders")
					for i := range 35 {
						s.Send(s.DeadURL, fmt.Sprint(i), "", nil)
					}
					q := open(t, s)
					fault.Operation = operation
					remove := s.Server.Inject(fault)
					read := 0
					r, err := q.Read(t.Context(), deadletters.ReadOptions{}, func(*deadletters.Message) bool {
						read++
						return true
					})
					if err == nil {
						if read+r.Hidden != 35 {
							t.Errorf("%d read and %d hidden of 35", read, r.Hidden)
						}
						err = r.Hold.Release(t.Context())
					}
					if (err != nil) != (name == "refused") {
						t.Errorf("error %v", err)
					}
					remove()
					if name == "no answer" || name == "refused" && operation == "ChangeMessageVisibilityBatch" {
						// What nobody knows of, and what could not be released, comes back by itself.
						<-time.After(31 * time.Second)
					}
					if got := recount(t, q); got.Visible != 35 {
						t.Errorf("afterwards %+v", got)
					}
				})
			})
		}
	}
}

func TestHoldDeletesAndExtends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		for i := range 12 {
			s.Send(s.DeadURL, fmt.Sprint(i), "", nil)
		}
		q := open(t, s)
		letters, r := read(t, q)
		for range 10 { // for longer than one timeout
			<-time.After(20 * time.Second)
			if err := r.Hold.Extend(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := recount(t, q); got.InFlight != 12 {
			t.Fatalf("after 200 s: %+v", got)
		}
		s.Server.Inject(localaws.Fault{
			Operation: "DeleteMessageBatch", Entries: []string{"1"}, Code: "ReceiptHandleIsInvalid",
		})
		ids := []string{letters[0].ID, letters[1].ID, letters[2].ID}
		errs := r.Hold.Delete(t.Context(), ids)
		if errs[0] != nil || errs[1] == nil || errs[2] != nil || !r.Hold.Has(ids[1]) || r.Hold.Has(ids[0]) {
			t.Errorf("errors %v", errs)
		}
		if err := r.Hold.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := recount(t, q); got.Visible != 10 || r.Hold.Len() != 0 {
			t.Errorf("at the end %+v", got)
		}
	})
}

func TestOpenReadsTheAttributes(t *testing.T) {
	t.Parallel()
	s := letterstest.New(t, "stock.fifo")
	q := open(t, s)
	if !q.FIFO || q.Name != "stock-dead.fifo" || q.Retention != 14*24*time.Hour || q.MaxBytes != 1<<20 || q.Target != "" {
		t.Errorf("%+v", q)
	}
	sources, err := q.Sources(t.Context())
	if diff := cmp.Diff([]string{s.SourceURL}, sources); diff != "" || err != nil {
		t.Errorf("sources %v, %s", err, diff)
	}
	_, err = deadletters.Open(t.Context(), s.SQS, s.DeadURL+"x")
	if err == nil {
		t.Error("a queue that is not there can be opened")
	}
}

// The digests are those of the emulator, which are those of AWS.
func TestDigests(t *testing.T) {
	t.Parallel()
	s := letterstest.New(t, "orders")
	attributes := attributesOf(map[string]any{"text": "é", "n.x": 17, "bytes": []byte{0, 255}})
	sent, err := s.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: &s.DeadURL, MessageBody: aws.String("héé"), MessageAttributes: attributes,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := deadletters.AttributesDigest(attributes); got != *sent.MD5OfMessageAttributes {
		t.Errorf("digest %s, want %s", got, *sent.MD5OfMessageAttributes)
	}
	if got := deadletters.BodyDigest("héé"); got != *sent.MD5OfMessageBody {
		t.Errorf("digest %s, want %s", got, *sent.MD5OfMessageBody)
	}
	if got := deadletters.AttributesDigest(nil); got != "" {
		t.Errorf("digest of nothing %q", got)
	}
}
