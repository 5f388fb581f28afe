package idem

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decisions are what the version before the present one decided, as its own code wrote
// them down. They are for items of three claims, one of them settled, that are asked
// for, and of four claims that the fourth settles.
type decisions struct {
	Claiming []claiming
	Settling []settling
}

type claiming struct {
	State   itemState
	Request requestKind
	Told    string
	Writes  bool
	Status  Status
	Owner   string
	Message string

	Epoch, Claims, Settled int
}

type settling struct {
	Settlement string
	Job        ownership
	Reaction   reaction
	Status     Status

	Claims, Settled, Crashes int
}

func decisionsBefore(t *testing.T) (d decisions) {
	t.Helper()
	document, err := os.ReadFile("testdata/decisions-before.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Two versions share a table while one is deployed, and when it is rolled back.
func TestTheVersionBeforeClaimsAlike(t *testing.T) {
	t.Parallel()
	rows := decisionsBefore(t).Claiming
	for _, row := range rows {
		item := itemIn(row.State)
		item.Claims, item.Settled = 3, 1
		d := Decide(item, requestOf(row.Request))
		got := claiming{State: row.State, Request: row.Request, Told: d.Answer.Kind.String(), Writes: d.Write != nil}
		if w := d.Write; w != nil {
			got.Status, got.Owner, got.Message = w.Status, w.Owner, w.MessageID
			got.Epoch, got.Claims, got.Settled = w.Epoch, w.Claims, w.Settled
		}
		if diff := cmp.Diff(row, got); diff != "" {
			t.Errorf("%s, %s: the versions differ (-before +now):\n%s", row.State, row.Request, diff)
		}
	}
	cells := 0
	for _, row := range actions {
		cells += len(row)
	}
	if len(rows) != cells {
		t.Errorf("%d decisions of before, %d cells now", len(rows), cells)
	}
}

// What is written at the end of a claim differs in one number.
func TestTheVersionBeforeSettlesAlikeButForTheCount(t *testing.T) {
	t.Parallel()
	for _, row := range decisionsBefore(t).Settling {
		store, c := NewMemory(), Claim{ID: "charges#k", Owner: "me", Claims: 4, Settled: 1}
		item := *itemOf(row.Job)
		item.Claims, item.Settled = 4, 1
		if row.Job == ownsSettled {
			item.Settled = 2
		}
		store.items[c.ID] = &item
		kind := kindNamed(t, row.Settlement)
		_ = settle(t.Context(), store, c, Settlement{
			Kind: kind, DeadLetterID: "letter-1", Crashes: 1, Lease: noon.Add(time.Minute), Expires: noon.Add(time.Hour),
		})
		left := store.items[c.ID]
		got := settling{
			row.Settlement, row.Job, item.react(kind, c), left.Status, left.Claims, left.Settled, left.Crashes,
		}
		ends := kind == SettleComplete || kind == SettleRelease || kind == SettleVerdict
		if ends && got.Reaction == reactWrite {
			row.Settled = 4 // those before it are settled with it
		}
		if diff := cmp.Diff(row, got); diff != "" {
			t.Errorf("%s, %s: the versions differ (-before +now):\n%s", row.Settlement, row.Job, diff)
		}
	}
}
