package idemtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

const (
	lease = 32 * time.Second
	keep  = 30 * 24 * time.Hour
	hash  = "test1:aaaa"
)

// bench is a store on trial and the time that it is told.
type bench struct {
	*testing.T
	store    idem.Store
	now      time.Time
	requests int
}

func newBench(t *testing.T, store idem.Store) *bench {
	// Odd milliseconds show up where a store mixes units.
	return &bench{T: t, store: store, now: time.Now().Truncate(time.Second).Add(7 * time.Millisecond)}
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

// delivery is a request for the job "charges#k" by a message that was sent a
// minute ago.
func (b *bench) delivery(messageID string) idem.Request {
	b.requests++
	return idem.Request{
		ID: "charges#k", Owner: fmt.Sprintf("owner-%d", b.requests), MessageID: messageID, Validation: hash,
		SentAt: b.now.Add(-time.Minute), Now: b.now, Lease: b.now.Add(lease), Expires: b.now.Add(keep),
	}
}

// ask acquires and demands an answer of that kind.
func (b *bench) ask(r idem.Request, want idem.AnswerKind) idem.Answer {
	b.Helper()
	answer, err := b.store.Acquire(b.Context(), r)
	if err != nil {
		b.Fatalf("acquire: %v", err)
	}
	if answer.Kind != want {
		b.Fatalf("acquire answered %s, want %s", answer.Kind, want)
	}
	if claims := want == idem.AnswerAcquired || want == idem.AnswerSend; claims {
		if answer.Claim.ID != r.ID || answer.Claim.Owner != r.Owner || !answer.Claim.Lease.Equal(r.Lease) {
			b.Fatalf("claim is %+v, want that of the request %+v", answer.Claim, r)
		}
	}
	return answer
}

// claim acquires for a message that is to get the job.
func (b *bench) claim(messageID string) idem.Answer {
	b.Helper()
	return b.ask(b.delivery(messageID), idem.AnswerAcquired)
}

// settle writes a settlement that is to be taken.
func (b *bench) settle(a idem.Answer, s idem.Settlement) {
	b.Helper()
	if err := b.store.Settle(b.Context(), a.Claim, s); err != nil {
		b.Fatalf("%s: %v", s.Kind, err)
	}
}

// late writes a settlement that is to be refused.
func (b *bench) late(a idem.Answer, s idem.Settlement, want idem.Status) {
	b.Helper()
	err := b.store.Settle(b.Context(), a.Claim, s)
	var late *idem.LateError
	if !errors.As(err, &late) {
		b.Fatalf("%s of a lost claim gave %v, want a LateError", s.Kind, err)
	}
	if late.Status != want || late.ID != a.Claim.ID || late.Kind != s.Kind {
		b.Fatalf("%s of a lost claim gave %+v, want status %s", s.Kind, late, want)
	}
}

// renew asks for a lease until then, which is to be given.
func (b *bench) renew(a idem.Answer, until time.Time) {
	b.Helper()
	if err := b.store.Renew(b.Context(), a.Claim, until); err != nil {
		b.Fatalf("renew: %v", err)
	}
}

// unrenewed asks for a lease that is to be refused.
func (b *bench) unrenewed(a idem.Answer, want idem.Status) {
	b.Helper()
	err := b.store.Renew(b.Context(), a.Claim, b.now.Add(lease))
	var late *idem.LateError
	if !errors.As(err, &late) {
		b.Fatalf("renew of a lost claim gave %v, want a LateError", err)
	}
	if late.Status != want || late.ID != a.Claim.ID || late.Kind != idem.SettleRenew {
		b.Fatalf("renew of a lost claim gave %+v, want status %s", late, want)
	}
}

func (b *bench) complete() idem.Settlement {
	return idem.Settlement{Kind: idem.SettleComplete, Expires: b.now.Add(keep)}
}

func (b *bench) abort() idem.Settlement {
	return idem.Settlement{Kind: idem.SettleAbort, Lease: b.now, Expires: b.now.Add(keep)}
}

func (b *bench) release(wait time.Duration) idem.Settlement {
	return idem.Settlement{
		Kind: idem.SettleRelease, Lease: b.now.Add(wait), Expires: b.now.Add(keep),
		Attempts: 3, Unclassified: 1, History: b.history(),
	}
}

func (b *bench) verdict() idem.Settlement {
	return idem.Settlement{
		Kind: idem.SettleVerdict, Lease: b.now.Add(lease), Expires: b.now.Add(keep), DeadAt: b.now,
		Attempts: 3, Unclassified: 1, History: b.history(), Failure: b.failure(),
	}
}

func (b *bench) crash(crashes int) idem.Settlement {
	return idem.Settlement{Kind: idem.SettleCrash, Crashes: crashes, CrashStack: "main.charge()", Lease: b.now}
}

// alone counts a crash ahead of a lone run.
func alone(crashes int) idem.Settlement {
	return idem.Settlement{Kind: idem.SettleAlone, Crashes: crashes}
}

// drop is a verdict on a job that is to have no letter.
func (b *bench) drop() idem.Settlement {
	s := b.verdict()
	s.DeadLetterID = idem.DroppedLetter
	return s
}

func confirm() idem.Settlement {
	return idem.Settlement{Kind: idem.SettleConfirm, DeadLetterID: "dead-1"}
}

func (b *bench) history() handler.History {
	return handler.History{Attempts: []handler.Attempt{
		{
			Number: 1, Start: handler.NewTimestamp(b.now.Add(-time.Second)), End: handler.NewTimestamp(b.now),
			Class: "retryable", Reason: "timeout", DelaySeconds: 1.5,
		},
	}}
}

func (b *bench) failure() *handler.Failure {
	return &handler.Failure{
		Class: "permanent", Reason: "rejected", Rule: "http", Types: []string{"*errors.errorString"},
		Message: "no \"such\" customer: ☃", Stack: "main.charge()\n\tmain.go:7", Fingerprint: "abc",
		Key: "k", Verdict: true, Attempts: 3, History: b.history(),
		First: handler.NewTimestamp(b.now.Add(-time.Hour)), Last: handler.NewTimestamp(b.now),
	}
}

// die brings the job to its death under message "m1", without confirmation.
func (b *bench) die() idem.Answer {
	b.Helper()
	a := b.claim("m1")
	b.settle(a, b.verdict())
	return a
}

// counts demands what the store knew before the claim.
func (b *bench) counts(a idem.Answer, claims, settled, crashes int) {
	b.Helper()
	if a.Claims != claims || a.Settled != settled || a.Job.Crashes != crashes {
		b.Fatalf("claims %d, settled %d, crashes %d; want %d, %d, %d",
			a.Claims, a.Settled, a.Job.Crashes, claims, settled, crashes)
	}
}

func (b *bench) same(what string, got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}

// contend lets 30 deliveries ask at once and counts the answers.
func (b *bench) contend(request func(i int) idem.Request) map[idem.AnswerKind]int {
	b.Helper()
	const deliveries = 30
	kinds := make(chan idem.AnswerKind, deliveries)
	for i := range deliveries {
		r := request(i)
		go func() {
			answer, err := b.store.Acquire(context.WithoutCancel(b.Context()), r)
			if err != nil {
				b.Errorf("acquire: %v", err)
			}
			kinds <- answer.Kind
		}()
	}
	counts := map[idem.AnswerKind]int{}
	for range deliveries {
		counts[<-kinds]++
	}
	return counts
}
