package dynamo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// value is an attribute as DynamoDB writes it in JSON.
type value struct {
	S *string
	N *string
	M map[string]value
}

func (v value) attribute() types.AttributeValue {
	switch {
	case v.S != nil:
		return text(*v.S)
	case v.N != nil:
		return number(*v.N)
	default:
		return &types.AttributeValueMemberM{Value: attributesOf(v.M)}
	}
}

func attributesOf(values map[string]value) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, v := range values {
		out[name] = v.attribute()
	}
	return out
}

// itemsBefore are what the version before the present one wrote about the job
// "charges#k", by what had become of the job. They were written by its own code in the
// first hour of the year 2000, where bubbles begin.
func itemsBefore(t *testing.T) map[string]map[string]types.AttributeValue {
	t.Helper()
	document, err := os.ReadFile("testdata/items-before.json")
	if err != nil {
		t.Fatal(err)
	}
	var read []struct {
		Name string
		Item map[string]value
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	items := map[string]map[string]types.AttributeValue{}
	for _, r := range read {
		items[r.Name] = attributesOf(r.Item)
	}
	return items
}

// heir is a process of this version on a table that the one before has left.
type heir struct {
	*ledger
	job     func(ctx context.Context) error
	seen    handler.Job // as the run was given it
	runs    int
	letters []handler.Failure
	replay  *handler.Replay
	sentAt  time.Time
}

// Send takes all letters.
func (h *heir) Send(_ context.Context, letters []handler.Letter) {
	for i := range letters {
		h.letters = append(h.letters, letters[i].Failure)
		letters[i].DeadLetterID = "letter-2"
	}
}

// deliver hands out a message of the job in an invocation, and gives its outcome.
func (h *heir) deliver(message string) (outcome string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 30*time.Second)
	defer cancel()
	quiet := slog.New(slog.DiscardHandler)
	ledger, err := idem.New(h.store, &idem.Options{
		Key: func(context.Context, *handler.Message) (string, error) { return "k", nil }, Logger: quiet,
	})
	if err != nil {
		h.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.Func(func(ctx context.Context, m *handler.Message) error {
		h.runs, h.seen = h.runs+1, m.Job
		return h.job(ctx)
	}), &handler.Options{
		Ledger: ledger, DeadLetter: h, Logger: quiet, Restore: func(m *handler.Message) { m.Replay = h.replay },
		Hooks: handler.Hooks{OnBatch: func(_ context.Context, r handler.Report) {
			c := r.Counts[0]
			outcome = strings.TrimSpace(c.Outcome.String() + " " + c.Reason)
		}},
	})
	if err != nil {
		h.Fatal(err)
	}
	_, err = p.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: message, Body: `{"amount":1250,"id":"k"}`, EventSource: "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:charges",
		Attributes:     map[string]string{"SentTimestamp": strconv.FormatInt(h.sentAt.UnixMilli(), 10)},
	}}})
	if err != nil {
		h.Fatal(err)
	}
	return outcome
}

// count is a number of the item; 0 where it has none.
func (h *heir) count(attribute string) int {
	n, ok := h.item()[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(n.Value)
	if err != nil {
		h.Fatal(err)
	}
	return count
}

// inherit puts the item into a table of this version, hours later.
func inherit(t *testing.T, item map[string]types.AttributeValue, run func(h *heir)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &heir{ledger: newLedger(t), job: func(context.Context) error { return nil }, sentAt: time.Now()}
		h.put(item)
		pass(5 * time.Hour)
		run(h)
	})
}

// What the version before has left is taken up where it was.
func TestItemsOfTheVersionBeforeAreTakenUp(t *testing.T) {
	t.Parallel()
	items := itemsBefore(t)
	wants := map[string]struct {
		outcome string
		writes  int // the process of this version makes
		job     handler.Job
	}{
		"held by a process that died":               {"done", 2, handler.Job{}},
		"held by two processes that died":           {"done", 3, handler.Job{Crashes: 1}}, // the second ran alone
		"released once":                             {"done", 2, handler.Job{Attempts: 1}},
		"released after an unknown error":           {"done", 2, handler.Job{Attempts: 1, Unclassified: 1}},
		"released twice, then held":                 {"done", 2, handler.Job{Attempts: 2}},
		"released after a silent death":             {"done", 2, handler.Job{Attempts: 1}},
		"aborted":                                   {"done", 2, handler.Job{}},
		"panicked once":                             {"done", 3, handler.Job{Crashes: 1}},
		"panicked twice":                            {"dead crash_loop", 3, handler.Job{}},
		"counted ahead twice and died":              {"dead crash_loop", 3, handler.Job{}},
		"done":                                      {"duplicate completed", 1, handler.Job{}},
		"done after a retry":                        {"duplicate completed", 1, handler.Job{}},
		"with steps, released":                      {"done", 2, handler.Job{Attempts: 1}},
		"dead, its letter on its way":               {"dead card", 3, handler.Job{}},
		"dead and confirmed":                        {"duplicate dead_before", 1, handler.Job{}},
		"dead with steps, confirmed":                {"duplicate dead_before", 1, handler.Job{}},
		"dead in a crash loop":                      {"dead crash_loop", 3, handler.Job{}},
		"dead after retries, its letter on its way": {"dead card", 3, handler.Job{}},
	}
	for name, item := range items {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := wants[name]
			if !ok {
				t.Fatal("nobody says what becomes of it")
			}
			inherit(t, item, func(h *heir) {
				var outcome string
				if writes := h.calls(func() { outcome = h.deliver("m1") }); outcome != want.outcome || writes != want.writes {
					t.Fatalf("%s after %d writes, want %s after %d", outcome, writes, want.outcome, want.writes)
				}
				seen := h.seen
				seen.Key, seen.History = "", handler.History{}
				if diff := cmp.Diff(want.job, seen); diff != "" {
					t.Errorf("the job as it was run (-want +got):\n%s", diff)
				}
				if outcome == "done" && (h.count("settled") != h.count("claims") || h.count("crashes") != 0) {
					t.Errorf("%d of %d claims are settled, %d crashes", h.count("settled"), h.count("claims"), h.count("crashes"))
				}
				for _, copied := range []string{"m1", "m2"} {
					h.sentAt = time.Time{}.Add(time.Hour)
					if again := h.deliver(copied); !strings.HasPrefix(again, "duplicate") {
						t.Errorf("a copy afterwards is %s, want a duplicate", again)
					}
				}
			})
		})
	}
	if len(items) != len(wants) {
		t.Errorf("%d items, %d expectations", len(items), len(wants))
	}
}

// A letter that the version before did not send has what its verdict said.
func TestAVerdictOfTheVersionBeforeIsSentAsItIs(t *testing.T) {
	t.Parallel()
	item := itemsBefore(t)["dead after retries, its letter on its way"]
	var verdict handler.Failure
	if err := json.Unmarshal([]byte(item["verdict"].(*types.AttributeValueMemberS).Value), &verdict); err != nil {
		t.Fatal(err)
	}
	inherit(t, item, func(h *heir) {
		h.deliver("m1")
		if len(h.letters) != 1 || h.letters[0].Last.IsZero() || h.letters[0].Runs() != 2 {
			t.Fatalf("letters are %+v, want one of two runs, with the time of the death", h.letters)
		}
		if diff := cmp.Diff(verdict, h.letters[0]); diff != "" {
			t.Errorf("the letter differs from the verdict (-verdict +letter):\n%s", diff)
		}
	})
}

// A replay of what died under the version before runs in the next epoch, and repeats no
// step.
func TestWhatDiedUnderTheVersionBeforeIsReplayed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dead with steps, confirmed", "dead, its letter on its way", "dead in a crash loop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inherit(t, itemsBefore(t)[name], func(h *heir) {
				var charged []string
				h.job = func(ctx context.Context) error {
					id, err := idem.StepValue(ctx, "charge", func(context.Context) (string, error) {
						charged = append(charged, "again")
						return "ch_2", nil
					})
					charged = append(charged, id)
					return err
				}
				h.replay = &handler.Replay{Key: "k", Verdict: true, MessageID: "m1"}
				if outcome := h.deliver("m2"); outcome != "done" || h.runs != 1 || h.seen.Epoch != 1 || h.seen.Attempts != 0 {
					t.Errorf("%s after %d runs, the job %+v; want it done in epoch 1", outcome, h.runs, h.seen)
				}
				want := []string{"again", "ch_2"}
				if strings.Contains(name, "steps") {
					want = []string{"ch_1"}
				}
				if !slices.Equal(charged, want) {
					t.Errorf("charged %q, want %q", charged, want)
				}
			})
		})
	}
}

// A death of this version reads in the version before as it does here: its record has
// all of the members that it knows.
func TestTheMembersOfAVerdictStay(t *testing.T) {
	t.Parallel()
	members := func(document string) []string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(document), &m); err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range m {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	item := itemsBefore(t)["dead and confirmed"]
	inherit(t, map[string]types.AttributeValue{"status": text("INPROGRESS"), "expiration": number("999999999999"),
		"in_progress_expiration": number("0"), "owner": text("o"), "claims": number("1")}, func(h *heir) {
		h.job = func(context.Context) error { return permanent{fmt.Errorf("card refused")} }
		h.deliver("m1")
		for _, attribute := range []string{"verdict", "history"} {
			before := members(item[attribute].(*types.AttributeValueMemberS).Value)
			now := members(h.item()[attribute].(*types.AttributeValueMemberS).Value)
			for _, name := range before {
				if !slices.Contains(now, name) {
					t.Errorf("%s has no %s any more: %q", attribute, name, now)
				}
			}
		}
	})
}
