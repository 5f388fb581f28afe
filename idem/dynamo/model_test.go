package dynamo_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// Whatever happens to a job, the table says the same as a store in memory.
func TestTheTableAgreesWithTheMemory(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	jobs := 0
	rapid.Check(t, func(rt *rapid.T) {
		jobs++
		p := &pair{T: rt, ledger: l, memory: idem.NewMemory(), id: fmt.Sprintf("charges#%d", jobs), at: now}
		rt.Repeat(map[string]func(*rapid.T){
			"pass":    p.pass,
			"acquire": p.acquire,
			"settle":  p.settle,
			"renew":   p.renew,
			"step":    p.step,
		})
	})
}

// pair is one job in both stores.
type pair struct {
	*rapid.T
	ledger *ledger
	memory *idem.Memory
	id     string
	at     time.Time
	owners int
	claims []idem.Claim
}

func (p *pair) pass(t *rapid.T) {
	steps := []time.Duration{time.Millisecond, time.Second, 10 * time.Second, 32 * time.Second, time.Hour}
	p.at = p.at.Add(rapid.SampledFrom(steps).Draw(t, "pass"))
}

func (p *pair) acquire(t *rapid.T) {
	p.owners++
	r := request(fmt.Sprintf("o%d", p.owners), p.at)
	r.ID = p.id
	r.MessageID = rapid.SampledFrom([]string{"m1", "m2", "m3"}).Draw(t, "message")
	r.Validation = rapid.SampledFrom([]string{"test1:aaaa", "test1:aaaa", "test1:bbbb", "test2:aaaa"}).Draw(t, "hash")
	r.Epoch = rapid.IntRange(0, 3).Draw(t, "epoch")
	r.SentAt = p.at.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "age")) * time.Second)
	for range rapid.IntRange(1, 2).Draw(t, "tries") {
		want, _ := p.memory.Acquire(p.ledger.Context(), r)
		got, err := p.ledger.store.Acquire(p.ledger.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("answers differ (-memory +table):\n%s", diff)
		}
		if want.Claim.ID != "" {
			p.claims = append(p.claims, want.Claim)
		}
	}
}

// claim is mostly the one that holds the job.
func (p *pair) claim(t *rapid.T) idem.Claim {
	if len(p.claims) == 0 {
		t.Skip("nothing is claimed")
	}
	return rapid.SampledFrom(p.claims[max(0, len(p.claims)-3):]).Draw(t, "claim")
}

func (p *pair) renew(t *rapid.T) {
	c := p.claim(t)
	until := p.at.Add(time.Duration(rapid.IntRange(0, 64).Draw(t, "lease")) * time.Second)
	p.agree(t, "renew", p.memory.Renew(p.ledger.Context(), c, until), p.ledger.store.Renew(p.ledger.Context(), c, until))
}

func (p *pair) settle(t *rapid.T) {
	c, at := p.claim(t), handler.NewTimestamp(p.at)
	s := idem.Settlement{
		Kind:         rapid.SampledFrom(settlements).Draw(t, "kind"),
		Crashes:      rapid.IntRange(0, 2).Draw(t, "crashes"),
		Lease:        p.at.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "lease")) * time.Second),
		Expires:      p.at.Add(time.Hour),
		Attempts:     rapid.IntRange(0, 5).Draw(t, "attempts"),
		Unclassified: rapid.IntRange(0, 2).Draw(t, "unclassified"),
		Failure:      &handler.Failure{Reason: "card", Last: at},
		DeadAt:       p.at,
		DeadLetterID: "dead-1",
		CrashStack:   "main.charge()",
	}
	if s.Kind == idem.SettleVerdict && rapid.Bool().Draw(t, "has a letter") {
		s.DeadLetterID = ""
	}
	s.History = s.History.Append(handler.Attempt{Number: s.Attempts, Start: at, End: at})
	want := p.memory.Settle(p.ledger.Context(), c, s)
	got := p.ledger.store.Settle(p.ledger.Context(), c, s)
	p.agree(t, s.Kind.String(), want, got)
}

// agree demands that both stores took a write, or refused it alike.
func (p *pair) agree(t *rapid.T, what string, want, got error) {
	var wantLate, gotLate *idem.LateError
	if errors.As(want, &wantLate) != errors.As(got, &gotLate) || (want == nil) != (got == nil) {
		t.Fatalf("%s gave %v, want %v", what, got, want)
	}
	if diff := cmp.Diff(wantLate, gotLate); diff != "" {
		t.Fatalf("refusals differ (-memory +table):\n%s", diff)
	}
}

var settlements = []idem.SettlementKind{
	idem.SettleComplete, idem.SettleRelease, idem.SettleAbort, idem.SettleVerdict, idem.SettleConfirm, idem.SettleCrash,
	idem.SettleAlone,
}
