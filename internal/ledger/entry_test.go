package ledger_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// TestGetReadsWhatTheStoreWrites follows a job from its claim to its dead letter.
func TestGetReadsWhatTheStoreWrites(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	table := d.ledger("job")
	store := dynamo.New(d.Client, "jobs", &dynamo.Options{KeyAttribute: "job"})
	lease, expires := now.Add(32*time.Second), now.Add(time.Hour).Truncate(time.Second)
	answer, err := store.Acquire(t.Context(), idem.Request{
		ID: "charges#k", Owner: "o1", MessageID: "m1", Validation: "test1:aaaa", Now: now, Lease: lease, Expires: expires,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Entry{
		ID: "charges#k", Status: "INPROGRESS", Owner: "o1", MessageID: "m1", Validation: "test1:aaaa",
		Lease: lease, Expires: expires, Claims: 1,
	}
	same := func(state ledger.State) {
		t.Helper()
		got := d.get(table, "charges#k")
		if diff := cmp.Diff(&want, got, cmpopts.IgnoreUnexported(ledger.Entry{})); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		if got.State(now) != state {
			t.Errorf("state %q, want %q", got.State(now), state)
		}
	}
	same(ledger.StateHeld)
	at := handler.NewTimestamp(now)
	history := handler.History{}.Append(handler.Attempt{
		Number: 1, Start: at, End: at, Class: "permanent", Reason: "declined",
	})
	failure := &handler.Failure{
		Class: "permanent", Reason: "declined", Message: "no", History: history, First: at, Last: at,
	}
	for _, s := range []idem.Settlement{
		{Kind: idem.SettleCrash, Crashes: 1, CrashStack: "main.go:1", Lease: lease},
		{
			Kind: idem.SettleVerdict, Crashes: 1, Lease: lease, Expires: expires, Attempts: 2, Unclassified: 1,
			History: history, Failure: failure, DeadAt: now,
		},
		{Kind: idem.SettleConfirm, DeadLetterID: "dl-1"},
	} {
		if err := store.Settle(t.Context(), answer.Claim, s); err != nil {
			t.Fatal(err)
		}
	}
	want.Status, want.Settled, want.Crashes, want.CrashStack = "DEAD", 1, 1, "main.go:1"
	want.Attempts, want.Unclassified, want.History = 2, 1, history
	want.DeadAt, want.Verdict, want.DeadLetterID = now, failure, "dl-1"
	same(ledger.StateDead)
}

// TestUnexpectedAttributesAreShownAsOther has attributes of unexpected types.
func TestUnexpectedAttributesAreShownAsOther(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	table := d.ledger("id")
	d.put(item{
		"id": text("charges#k"), "status": number("7"), "claims": text("many"), "attempts": number("1.5"),
		"expiration": number("99999999999999"), "in_progress_expiration": number("-1"), "dead_at": text("yesterday"),
		"history": text("{"), "verdict": text(`{"class":"permanent","epoch":"x"}`), "data": text(`{"charged":true}`),
		"steps": &types.AttributeValueMemberM{Value: item{"mail": text(`"m1"`), "invoice": number("1")}},
		"parts": &types.AttributeValueMemberM{Value: item{
			"done": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				&types.AttributeValueMemberBOOL{Value: true}, number("12345678901234567890"),
			}},
			"none": &types.AttributeValueMemberNULL{Value: true}, "bytes": &types.AttributeValueMemberB{Value: []byte("a")},
			"texts":   &types.AttributeValueMemberSS{Value: []string{"a"}},
			"numbers": &types.AttributeValueMemberNS{Value: []string{"1"}},
			"blobs":   &types.AttributeValueMemberBS{Value: [][]byte{[]byte("a")}},
		}},
	})
	got, err := json.Marshal(d.get(table, "charges#k"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"charges#k","status":"","epoch":0,"claims":0,"settled":0,"crashes":0,"attempts":0,"unclassified":0,` +
		`"other":{"attempts":1.5,"claims":"many","data":"{\"charged\":true}","dead_at":"yesterday",` +
		`"expiration":99999999999999,"history":"{","in_progress_expiration":-1,` +
		`"parts":{"blobs":["YQ=="],"bytes":"YQ==","done":[true,12345678901234567890],"none":null,"numbers":["1"],` +
		`"texts":["a"]},"status":7,"steps":{"invoice":1,"mail":"\"m1\""},` +
		`"verdict":"{\"class\":\"permanent\",\"epoch\":\"x\"}"}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func TestGetReadsSteps(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	table := d.ledger("id")
	d.put(item{"id": text("mails#k"), "steps": &types.AttributeValueMemberM{Value: item{"mail": text(`"m1"`)}}})
	got := d.get(table, "mails#k")
	if diff := cmp.Diff(map[string]string{"mail": `"m1"`}, got.Steps); diff != "" || got.Other != nil {
		t.Errorf("beside %v, steps (-want +got):\n%s", got.Other, diff)
	}
}

func TestStateOfAJobAtATime(t *testing.T) {
	t.Parallel()
	soon, before, later := now.Add(time.Second), now.Add(-time.Second), now.Add(time.Hour)
	running := ledger.Entry{Status: "INPROGRESS", Claims: 2, Settled: 1, Expires: later}
	with := func(change func(*ledger.Entry)) ledger.Entry {
		e := running
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name  string
		entry ledger.Entry
		want  ledger.State
		live  bool
	}{
		{"claimed", with(func(e *ledger.Entry) { e.Lease = soon }), ledger.StateHeld, true},
		{"claimed until this moment", with(func(e *ledger.Entry) { e.Lease = now }), ledger.StateLeft, false},
		{"lapsed", with(func(e *ledger.Entry) { e.Lease = before }), ledger.StateLeft, false},
		{"of Powertools, without a deadline", ledger.Entry{Status: "INPROGRESS", Expires: later}, ledger.StateHeld, true},
		{"of Powertools", ledger.Entry{Status: "INPROGRESS", Expires: later, Lease: soon}, ledger.StateHeld, true},
		{"released", with(func(e *ledger.Entry) { e.Settled, e.Lease = 2, soon }), ledger.StateWaiting, false},
		{"next attempt is due", with(func(e *ledger.Entry) { e.Settled, e.Lease = 2, before }), ledger.StateDue, false},
		{"completed", with(func(e *ledger.Entry) { e.Status, e.Lease = "COMPLETED", soon }), ledger.StateDone, false},
		{"no letter yet", with(func(e *ledger.Entry) { e.Status, e.Lease = "DEAD", soon }), ledger.StateSending, true},
		{"no letter", with(func(e *ledger.Entry) { e.Status, e.Lease = "DEAD", before }), ledger.StateUnsent, false},
		{
			"dead", with(func(e *ledger.Entry) { e.Status, e.Lease, e.DeadLetterID = "DEAD", soon, "d" }),
			ledger.StateDead, false,
		},
		{"expired", with(func(e *ledger.Entry) { e.Expires, e.Lease = now, soon }), ledger.StateExpired, false},
		{"never expires", with(func(e *ledger.Entry) { e.Expires, e.Lease = time.Time{}, soon }), ledger.StateHeld, true},
		{"of another program", ledger.Entry{Status: "PAUSED", Expires: later}, ledger.StateUnknown, false},
	} {
		if got := tt.entry.State(now); got != tt.want || got.Live() != tt.live {
			t.Errorf("%s: state %s, live %v; want %s, %v", tt.name, got, got.Live(), tt.want, tt.live)
		}
	}
}
