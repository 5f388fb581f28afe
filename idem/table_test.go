package idem

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// document is the part of docs/ledger.md whose table has these first columns.
func document(t *testing.T, columns ...string) (header []string, rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		row, found := cells(line)
		switch {
		case header == nil && found && len(row) >= len(columns) && cmp.Equal(row[:len(columns)], columns):
			header = row
		case header != nil && !found:
			return header, rows
		case header != nil && !strings.HasPrefix(row[0], "--"):
			rows = append(rows, row)
		}
	}
	t.Fatalf("docs/ledger.md has no table with the columns %q", columns)
	return nil, nil
}

func cells(line string) ([]string, bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil, false
	}
	row := strings.Split(strings.Trim(line, "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row, true
}

func TestTheDocumentTellsTheTableOfClaiming(t *testing.T) {
	t.Parallel()
	_, rows := document(t, "state", "request")
	told := map[itemState]map[requestKind]action{}
	for _, row := range rows {
		if told[itemState(row[0])] == nil {
			told[itemState(row[0])] = map[requestKind]action{}
		}
		told[itemState(row[0])][requestKind(row[1])] = action(row[4])
	}
	if diff := cmp.Diff(told, actions); diff != "" {
		t.Errorf("docs/ledger.md and the table differ (-document +code):\n%s", diff)
	}
}

func TestTheDocumentTellsTheTableOfSettling(t *testing.T) {
	t.Parallel()
	header, rows := document(t, "settlement", "condition")
	told := map[string]map[ownership]reaction{}
	for _, row := range rows {
		told[row[0]] = map[ownership]reaction{}
		for i := 4; i < len(row); i++ {
			if reaction(row[i]) != reactLate {
				told[row[0]][ownership(header[i])] = reaction(row[i])
			}
		}
	}
	have := map[string]map[ownership]reaction{}
	for kind, row := range reactions {
		have[kind.String()] = row
	}
	if diff := cmp.Diff(told, have); diff != "" {
		t.Errorf("docs/ledger.md and the table differ (-document +code):\n%s", diff)
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// itemIn is an item that is in that state at noon.
func itemIn(state itemState) *Item {
	item := &Item{
		ID: "charges#k", Status: StatusInProgress, Owner: "other", MessageID: "m1", Validation: "test1:aaaa",
		Lease: noon.Add(time.Second), Expiration: noon.Add(time.Hour), Claims: 1, DeadAt: noon.Add(-time.Hour),
	}
	switch state {
	case stateUnknown:
		item.Expiration = noon
	case stateLapsed:
		item.Lease = noon
	case stateCompleted:
		item.Status = StatusCompleted
	case stateSending, stateUnsent, stateDeadConfirmed:
		item.Status = StatusDead
	}
	if state == stateUnsent {
		item.Lease = noon
	}
	if state == stateDeadConfirmed {
		item.DeadLetterID = "letter-1"
	}
	return item
}

// requestOf is a request at noon of that kind.
func requestOf(kind requestKind) Request {
	r := Request{
		ID: "charges#k", Owner: "me", MessageID: "m2", Validation: "test1:aaaa", SentAt: noon.Add(-2 * time.Hour),
		Now: noon, Lease: noon.Add(time.Minute), Expires: noon.Add(time.Hour),
	}
	switch kind {
	case requestRepeated:
		r.Owner = "other"
	case requestNewEpoch:
		r.SentAt = noon
	case requestConflict:
		r.Validation = "test1:bbbb"
	}
	return r
}

// Each row of the document is what the code does.
func TestClaimingDoesWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	_, rows := document(t, "state", "request")
	for _, row := range rows {
		state, kind := itemState(row[0]), requestKind(row[1])
		t.Run(row[0]+", "+row[1], func(t *testing.T) {
			t.Parallel()
			item := itemIn(state)
			before := *item
			d := Decide(item, requestOf(kind))
			if got := d.Answer.Kind.String(); got != row[5] {
				t.Errorf("the answer is %s, want %s", got, row[5])
			}
			if writes := d.Write != nil; writes != (row[3] != "nothing") || writes != (row[2] != "–") {
				t.Errorf("something is written: %v; the document says %q on the condition of %q", writes, row[3], row[2])
			}
			if diff := cmp.Diff(before, *item); diff != "" {
				t.Errorf("the item that was seen is changed:\n%s", diff)
			}
			written(t, action(row[4]), item, d.Write)
		})
	}
}

// written holds what is stored against the kind of the action.
func written(t *testing.T, r action, seen, next *Item) {
	t.Helper()
	if next == nil {
		return
	}
	type essence struct {
		Status           Status
		Owner, MessageID string
		Epoch, Claims    int
		Lease            time.Time
	}
	want := essence{StatusInProgress, "me", "m2", 0, 1, noon.Add(time.Minute)}
	switch r {
	case actTakeOver:
		want.Claims = seen.Claims + 1
	case actReopen:
		want.Epoch = seen.Epoch + 1
	case actTakeLetter:
		want.Status, want.MessageID = StatusDead, "m1"
	}
	got := essence{next.Status, next.Owner, next.MessageID, next.Epoch, next.Claims, next.Lease}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the item differs (-want +got):\n%s", diff)
	}
}

// itemOf is an item that is owned so by the claim of "me".
func itemOf(owns ownership) *Item {
	item := &Item{ID: "charges#k", Status: StatusInProgress, Owner: "me", Lease: noon}
	switch owns {
	case ownsSettled:
		item.Settled = 1
	case ownsDead:
		item.Status = StatusDead
	case ownsCompleted:
		item.Status, item.Owner = StatusCompleted, "other"
	case ownsNothing:
		item.Owner = "other"
	}
	return item
}

func TestSettlingDoesWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	header, rows := document(t, "settlement", "condition")
	c := Claim{ID: "charges#k", Owner: "me"}
	for _, row := range rows {
		for i := 4; i < len(row); i++ {
			t.Run(row[0]+", "+header[i], func(t *testing.T) {
				t.Parallel()
				store := NewMemory()
				item := *itemOf(ownership(header[i]))
				store.items[c.ID] = &item
				s := Settlement{
					Kind: kindNamed(t, row[0]), DeadLetterID: "letter-1", Crashes: 1,
					Lease: noon.Add(time.Minute), Expires: noon.Add(time.Hour),
				}
				err := settle(t.Context(), store, c, s)
				if late := err != nil; late != (reaction(row[i]) == reactLate) {
					t.Errorf("settling gave %v, the document says %s", err, row[i])
				}
				if wrote := store.items[c.ID] != &item; wrote != (reaction(row[i]) == reactWrite) {
					t.Errorf("something is written: %v, the document says %s", wrote, row[i])
				}
				if reaction(row[i]) == reactWrite && item.Status != s.Needs() {
					t.Errorf("it needs %s, the document writes over %s", s.Needs(), item.Status)
				}
			})
		}
	}
}

func TestTheDocumentTellsWhatIsSettled(t *testing.T) {
	t.Parallel()
	_, rows := document(t, "settlement", "condition", "what is written", "settled")
	c := Claim{ID: "charges#k", Owner: "me", Claims: 5, Settled: 2}
	counts := map[string]int{"all claims": 5, "one more": 3, "as before": 2}
	for _, row := range rows {
		s := Settlement{Kind: kindNamed(t, row[0])}
		item := Item{ID: "charges#k", Owner: "me", Status: s.Needs(), Claims: 5, Settled: 2}
		if want, ok := counts[row[3]]; !ok || s.Kind != SettleStep && s.Apply(item, c).Settled != want {
			t.Errorf("%s settles %d, the document says %s", row[0], s.Apply(item, c).Settled, row[3])
		}
	}
}

// settle writes a settlement. A step has a call of its own.
func settle(ctx context.Context, store *Memory, c Claim, s Settlement) error {
	if s.Kind == SettleStep {
		return store.RecordStep(ctx, c, StepRecord{Name: "charge"})
	}
	return store.Settle(ctx, c, s)
}

func kindNamed(t *testing.T, name string) SettlementKind {
	t.Helper()
	for kind := range reactions {
		if kind.String() == name {
			return kind
		}
	}
	t.Fatalf("no settlement is called %q", name)
	return 0
}
