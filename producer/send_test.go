package producer_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/producer"
	"github.com/sqsafe/sqsafe/queue"
)

const (
	standardURL = "https://sqs.eu-west-1.amazonaws.com/123456789012/charges"
	fifoURL     = "https://sqs.eu-west-1.amazonaws.com/123456789012/stock.fifo"
)

// fakeSQS keeps what it is sent. It refuses bodies for good, or for some calls.
type fakeSQS struct {
	calls   []string // the bodies of each call
	entries []types.SendMessageBatchRequestEntry
	refuse  map[string]bool
	busy    map[string]int
	torn    int // the number of the call that gets no answer
}

var errTorn = errors.New("connection torn")

func (f *fakeSQS) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	out := &sqs.SendMessageBatchOutput{}
	var bodies []string
	for _, e := range in.Entries {
		body := *e.MessageBody
		bodies = append(bodies, body)
		code := ""
		switch {
		case f.refuse[body]:
			code = "InvalidMessageContents"
		case f.busy[body] > 0:
			f.busy[body]--
			code = "InternalError"
		}
		if code != "" {
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{
				Id: e.Id, Code: &code, SenderFault: f.refuse[body],
			})
			continue
		}
		f.entries = append(f.entries, e)
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{
			Id: e.Id, MessageId: aws.String("id of " + body), SequenceNumber: aws.String("7"),
		})
	}
	if f.calls = append(f.calls, strings.Join(bodies, " ")); len(f.calls) == f.torn {
		return nil, errTorn
	}
	return out, nil
}

func newProducer(t *testing.T, api producer.API, url string, o *producer.Options) *producer.Producer {
	t.Helper()
	p, err := producer.New(api, url, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bodies are jobs with these bodies. The first letter is the group.
func bodies(list ...string) []producer.Job {
	jobs := make([]producer.Job, len(list))
	for i, body := range list {
		jobs[i] = producer.Job{Body: body, Group: body[:1], Key: body}
	}
	return jobs
}

// outcomes names what became of each job: its message id, or a word for its error.
func outcomes(sent []producer.Sent) []string {
	words := make([]string, len(sent))
	for i, s := range sent {
		_, refused := errors.AsType[*queue.EntryError](s.Err)
		switch {
		case s.Err == nil:
			words[i] = s.MessageID
		case errors.Is(s.Err, producer.ErrNotTried):
			words[i] = "not tried"
		case refused:
			words[i] = "refused"
		default:
			words[i] = s.Err.Error()
		}
	}
	return words
}

func TestSendSaysWhatBecameOfEachJob(t *testing.T) {
	t.Parallel()
	numbered := make([]string, 12)
	for i := range numbered {
		numbered[i] = "a" + strconv.Itoa(i)
	}
	for _, tt := range []struct {
		name, url string
		api       fakeSQS
		jobs      []string
		calls     []string
		want      []string
		err       string
	}{
		{"none", standardURL, fakeSQS{}, nil, nil, []string{}, ""},
		{"ten a call", standardURL, fakeSQS{}, numbered,
			[]string{"a0 a1 a2 a3 a4 a5 a6 a7 a8 a9", "a10 a11"}, nil, ""},
		{"refused for good", standardURL, fakeSQS{refuse: map[string]bool{"a1": true}}, numbered[:3],
			[]string{"a0 a1 a2"}, []string{"id of a0", "refused", "id of a2"},
			`1 of 3 jobs not sent: job 2 (key "a1"): SQS refused the entry: InvalidMessageContents`},
		{"SQS is busy, and takes it at the third call", standardURL, fakeSQS{busy: map[string]int{"a1": 2}}, numbered[:3],
			[]string{"a0 a1 a2", "a1", "a1"}, []string{"id of a0", "id of a1", "id of a2"}, ""},
		{"SQS stays busy", standardURL, fakeSQS{busy: map[string]int{"a0": 9}}, numbered[:1],
			[]string{"a0", "a0", "a0"}, []string{"refused"},
			`1 of 1 jobs not sent: job 1 (key "a0"): SQS refused the entry: InternalError`},
		{"no answer ends the sending", standardURL, fakeSQS{torn: 1}, numbered[:11],
			[]string{"a0 a1 a2 a3 a4 a5 a6 a7 a8 a9"},
			append(repeat("connection torn", 10), "not tried"), `11 of 11 jobs not sent: job 1 (key "a0"): connection torn`},
		{"a group of a FIFO queue, one a call", fifoURL, fakeSQS{}, []string{"a0", "b0", "a1", "a2", "b1"},
			[]string{"a0 b0", "a1", "a2 b1"}, nil, ""},
		{"behind a refused job of its group", fifoURL, fakeSQS{refuse: map[string]bool{"a1": true}},
			[]string{"a0", "b0", "a1", "b1", "a2", "b2", "a3"}, []string{"a0 b0", "a1 b1", "b2"},
			[]string{"id of a0", "id of b0", "refused", "id of b1", "not tried", "id of b2", "not tried"},
			`3 of 7 jobs not sent: job 3 (key "a1"): SQS refused the entry: InvalidMessageContents`},
		{"a busy job does not lose its place", fifoURL, fakeSQS{busy: map[string]int{"a0": 1}}, []string{"a0", "a1"},
			[]string{"a0", "a0", "a1"}, []string{"id of a0", "id of a1"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent, err := newProducer(t, &tt.api, tt.url, nil).Send(t.Context(), bodies(tt.jobs...)...)
				if diff := cmp.Diff(tt.calls, tt.api.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.want, outcomes(sent)); tt.want != nil && diff != "" {
					t.Errorf("outcomes (-want +got):\n%s", diff)
				}
				if (err != nil) != (tt.err != "") || err != nil && err.Error() != tt.err {
					t.Errorf("error %v, want %q", err, tt.err)
				}
			})
		})
	}
}

func repeat(word string, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = word
	}
	return words
}

func TestSendEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := newProducer(t, endedSQS{}, standardURL, nil)
	sent, err := p.Send(ctx, bodies("a0", "a1")...)
	if !errors.Is(err, context.Canceled) || len(sent) != 2 || sent[1].Err == nil {
		t.Errorf("sent %v, error %v", sent, err)
	}
}

// endedSQS answers as a client does whose context has ended.
type endedSQS struct{}

func (endedSQS) SendMessageBatch(
	ctx context.Context, _ *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	return nil, ctx.Err()
}

func TestNothingIsSentIfAJobIsWrong(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name, url string
		job       producer.Job
		want      string
	}{
		{"no body", standardURL, producer.Job{}, "the body is empty"},
		{"payload and body", standardURL, producer.Job{Payload: 1, Body: "1"}, "it has a Payload and a Body"},
		{"no JSON", standardURL, producer.Job{Payload: func() {}}, "the payload is no JSON"},
		{"too large", standardURL, producer.Job{Body: large, Attributes: map[string]string{"a": "b"}},
			"body and attributes have 1048584 bytes; SQS takes up to 1048576"},
		{"no group", fifoURL, producer.Job{Body: "x"}, "queue stock.fifo is FIFO; give the job a Group"},
		{"a delay of its own", fifoURL, producer.Job{Body: "x", Group: "g", Delay: time.Second}, "is FIFO; a Delay"},
		{"too late", standardURL, producer.Job{Body: "x", Delay: time.Hour}, "Delay is 3600; SQS takes 0 to 900 seconds"},
		{"deduplication", standardURL, producer.Job{Body: "x", DeduplicationID: "d"}, "is not FIFO"},
		{"two keys", standardURL, producer.Job{Body: "x", Key: "k", Attributes: map[string]string{"idempotency-key": "l"}},
			`it has the key "k" and the attribute idempotency-key is "l"`},
		{"control character", standardURL, producer.Job{Body: "x", Key: "a\x01"},
			"attribute idempotency-key has the character U+0001"},
		{"a group with a space", fifoURL, producer.Job{Body: "x", Group: "a b"}, `Group is "a b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var api fakeSQS
			good := producer.Job{Body: "x", Group: "g"}
			sent, err := newProducer(t, &api, tt.url, nil).Send(t.Context(), good, tt.job)
			wrong, ok := errors.AsType[*producer.JobError](err)
			if !ok || wrong.Number != 2 || !strings.Contains(err.Error(), tt.want) || sent != nil || api.calls != nil {
				t.Errorf("error %v, sent %v in %d calls; want nothing sent and %q", err, sent, len(api.calls), tt.want)
			}
		})
	}
}

func TestAMessageHasWhatItsConsumerNeeds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 200)
	for _, tt := range []struct {
		name, url   string
		job         producer.Job
		body, dedup string
		attributes  map[string]string
	}{
		{"payload", standardURL, producer.Job{Payload: map[string]int{"id": 1}}, `{"id":1}`, "", nil},
		{"key", standardURL, producer.Job{Body: "x", Key: "k"}, "x", "", map[string]string{"idempotency-key": "k"}},
		{"key of a FIFO queue", fifoURL, producer.Job{Body: "x", Key: "k"}, "x", "k",
			map[string]string{"idempotency-key": "k"}},
		{"a key that SQS would not take", fifoURL, producer.Job{Body: "x", Key: long}, "x",
			"6de3c288691037361962041f2273f381658187e426187979e0273d026ea1b946", map[string]string{"idempotency-key": long}},
		{"its own id", fifoURL, producer.Job{Body: "x", Key: "k", DeduplicationID: "d"}, "x", "d",
			map[string]string{"idempotency-key": "k"}},
		{"attributes", standardURL, producer.Job{Body: "x", Attributes: map[string]string{"a": "b"}, Delay: 7 * time.Second},
			"x", "", map[string]string{"a": "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var api fakeSQS
			tt.job.Group = "g"
			if _, err := newProducer(t, &api, tt.url, nil).Send(t.Context(), tt.job); err != nil {
				t.Fatal(err)
			}
			e := api.entries[0]
			dedup := aws.ToString(e.MessageDeduplicationId)
			if *e.MessageBody != tt.body || dedup != tt.dedup || *e.MessageGroupId != "g" ||
				time.Duration(e.DelaySeconds)*time.Second != tt.job.Delay {
				t.Errorf("message %s with deduplication id %q and a delay of %d s", *e.MessageBody, dedup, e.DelaySeconds)
			}
			if diff := cmp.Diff(tt.attributes, texts(e)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

func texts(e types.SendMessageBatchRequestEntry) map[string]string {
	var all map[string]string
	for name, value := range e.MessageAttributes {
		if all == nil {
			all = map[string]string{}
		}
		all[name] = *value.StringValue
	}
	return all
}

func TestTheTraceIsPassedOnWhereItFits(t *testing.T) {
	t.Parallel()
	trace := func(context.Context) map[string]string {
		return map[string]string{"traceparent": "00-ab-cd-01", "AWSTraceHeader": "Root=1-ab", "baggage": ""}
	}
	var api fakeSQS
	full := map[string]string{}
	for i := range 10 {
		full[fmt.Sprint("a", i)] = "b"
	}
	p := newProducer(t, &api, standardURL, &producer.Options{Trace: trace})
	_, err := p.Send(t.Context(), producer.Job{Body: "x"}, producer.Job{Body: "y", Attributes: full},
		producer.Job{Body: "z", Attributes: map[string]string{"traceparent": "own"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range api.entries {
		got = append(got, texts(e)["traceparent"]+" "+*e.MessageSystemAttributes["AWSTraceHeader"].StringValue)
	}
	want := []string{"00-ab-cd-01 Root=1-ab", " Root=1-ab", "own Root=1-ab"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, construct := range map[string]func() error{
		"the client is nil": func() error { _, err := producer.New(nil, standardURL, nil); return err },
		"the queue: ":       func() error { _, err := producer.New(&fakeSQS{}, "charges", nil); return err },
		"GzipFrom is -1": func() error {
			_, err := producer.New(&fakeSQS{}, standardURL, &producer.Options{GzipFrom: -1})
			return err
		},
		"MaxMessageBytes is 2000000": func() error {
			_, err := producer.New(&fakeSQS{}, standardURL, &producer.Options{MaxMessageBytes: 2_000_000})
			return err
		},
	} {
		if err := construct(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// store keeps bodies; it fails for those in refuse.
type store struct {
	kept   map[string]string
	refuse string
}

func (s *store) put(_ context.Context, key, body string) (envelope.Pointer, error) {
	if key == s.refuse {
		return envelope.Pointer{}, errTorn
	}
	s.kept[key] = body
	return envelope.Pointer{Bucket: "large", Key: key}, nil
}
