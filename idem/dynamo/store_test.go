package dynamo_test

import (
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

func TestStorePassesTheSuite(t *testing.T) {
	t.Parallel()
	idemtest.Exercise(t, func(t *testing.T) idem.Store { return newLedger(t).store })
}

func complete(at time.Time) idem.Settlement {
	return idem.Settlement{Kind: idem.SettleComplete, Expires: at.Add(time.Hour)}
}

func TestARunCostsTwoWritesAndADuplicateOne(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	var a idem.Answer
	for _, c := range []struct {
		what string
		want int
		do   func()
	}{
		{"claim", 1, func() { a = l.acquire(request("o1", now), idem.AnswerAcquired) }},
		{"copy", 1, func() { l.acquire(request("o2", now), idem.AnswerBusy) }},
		{"take over", 1, func() { a = l.acquire(request("o3", now.Add(32*time.Second)), idem.AnswerAcquired) }},
		{"renewing", 1, func() { l.renew(a, now.Add(time.Minute)) }},
		{"completion", 1, func() { l.settle(a, complete(now)) }},
		{"duplicate", 1, func() { l.acquire(request("o4", now), idem.AnswerDuplicate) }},
		{"expired", 2, func() { l.acquire(request("o5", now.Add(2*time.Hour)), idem.AnswerAcquired) }},
	} {
		if got := l.calls(c.do); got != c.want {
			t.Errorf("%s cost %d writes, want %d", c.what, got, c.want)
		}
	}
}

func TestTheItemHasTheNamesAndUnitsOfPowertools(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.acquire(request("o1", now), idem.AnswerAcquired)
	item := l.item()
	for name, want := range map[string]types.AttributeValue{
		"id":                     text("charges#k"),
		"status":                 text("INPROGRESS"),
		"expiration":             number("1796043600"),
		"in_progress_expiration": number("1796040032007"),
		"validation":             text("test1:aaaa"),
		"owner":                  text("o1"),
		"message_id":             text("m1"),
		"claims":                 number("1"),
	} {
		if got := item[name]; show(got) != show(want) {
			t.Errorf("%s is %s, want %s", name, show(got), show(want))
		}
		delete(item, name)
	}
	if len(item) > 0 {
		t.Errorf("the item has %v as well", item)
	}
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

func show(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S " + v.Value
	case *types.AttributeValueMemberN:
		return "N " + v.Value
	default:
		return "none"
	}
}

func TestRenewingChangesTheLeaseAlone(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for _, settled := range []bool{false, true} {
		a := l.acquire(request("o1", now), idem.AnswerAcquired)
		want := l.item()
		want["in_progress_expiration"] = number("1796040090007")
		l.renew(a, now.Add(90*time.Second))
		if diff := cmp.Diff(want, l.item(), cmp.Transformer("show", show)); diff != "" {
			t.Errorf("with a settled run (%v) the item differs (-want +got):\n%s", settled, diff)
		}
		l.settle(a, idem.Settlement{Kind: idem.SettleAbort, Lease: now, Expires: now.Add(time.Hour)})
	}
}

func TestOptionsKeyAttribute(t *testing.T) {
	t.Parallel()
	for key, o := range map[string]*dynamo.Options{"id": {}, "job": {KeyAttribute: "job"}} {
		l := newLedgerKeyed(t, key, o)
		a := l.acquire(request("o1", now), idem.AnswerAcquired)
		l.acquire(request("o2", now), idem.AnswerBusy)
		l.settle(a, complete(now))
	}
}

func TestAHugeFailureFits(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("\x01ä", 200<<10) // each \x01 takes six bytes of JSON
	var history handler.History
	for n := range 18 {
		history = history.Append(handler.Attempt{Number: n, Message: huge[:90<<10]})
	}
	for name, f := range map[string]handler.Failure{
		"stack":   {Reason: "card", Message: "refused", Stack: huge},
		"message": {Reason: "card", Message: huge},
		"key":     {Reason: "card", Key: huge},
		"all":     {Reason: "card", Message: huge, Stack: huge, Types: []string{huge}, History: history, Key: huge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.Last = handler.NewTimestamp(now)
			l := newLedger(t)
			a := l.acquire(request("o1", now), idem.AnswerAcquired)
			l.settle(a, idem.Settlement{
				Kind: idem.SettleVerdict, Lease: now, Expires: now.Add(time.Hour), DeadAt: now, Failure: &f, History: history,
			})
			sent := l.acquire(request("o2", now), idem.AnswerSend)
			if sent.Failure.Reason != "card" || name == "stack" && sent.Failure.Message != "refused" {
				t.Fatalf("failure is %.200v, want its reason and what fits", sent.Failure)
			}
			if sent.Failure.Runs() != f.Runs() || sent.Failure.Last != f.Last {
				t.Fatalf("%d runs, last at %v; want %d, %v", sent.Failure.Runs(), sent.Failure.Last, f.Runs(), f.Last)
			}
			if kept := sent.Job.History; kept.Len() != history.Len() {
				t.Fatalf("history tells of %d runs, want %d", kept.Len(), history.Len())
			}
		})
	}
}

func TestAStackIsCutBeforeItIsDropped(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	a := l.acquire(request("o1", now), idem.AnswerAcquired)
	l.settle(a, idem.Settlement{
		Kind: idem.SettleVerdict, Lease: now, Expires: now.Add(time.Hour), DeadAt: now,
		Failure: &handler.Failure{Stack: strings.Repeat("main.charge()\n", 100<<10)},
	})
	sent := l.acquire(request("o2", now), idem.AnswerSend)
	if n := len(sent.Failure.Stack); n < 32<<10 || n > 256<<10 {
		t.Fatalf("stack has %d bytes, want as much as fits", n)
	}
}

func TestTheErrorsOfTheClientComeThrough(t *testing.T) {
	t.Parallel()
	errDown := errors.New("no route to host")
	l := newLedger(t)
	a := l.acquire(request("o1", now), idem.AnswerAcquired)
	l.fail = func(int) error { return errDown }
	_, err := l.store.Acquire(t.Context(), request("o2", now))
	demand(t, err, errDown, "claim in table ledger")
	demand(t, l.store.Settle(t.Context(), a.Claim, complete(now)), errDown, "complete in table ledger")
	demand(t, l.store.Renew(t.Context(), a.Claim, now), errDown, "renew in table ledger")
}

func demand(t *testing.T, err, target error, words string) {
	t.Helper()
	if !errors.Is(err, target) || !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want %v and the words %q", err, target, words)
	}
}

func TestAnItemThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]types.AttributeValue{
		"status":  number("1"),
		"claims":  number("1.5"),
		"crashes": number("-1"),
		"settled": number("9223372036854775807"),
		"epoch":   text("one"),
		"history": text("{"),
		"verdict": text("[]"),
	} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			l.put(map[string]types.AttributeValue{attribute: value})
			_, err := l.store.Acquire(t.Context(), request("o1", now))
			settled := l.store.Settle(t.Context(), idem.Claim{ID: "charges#k", Owner: "o1"}, complete(now))
			for _, err := range []error{err, settled} {
				if err == nil || !strings.Contains(err.Error(), `"charges#k"`) || !strings.Contains(err.Error(), attribute) {
					t.Errorf("error is %v, want one that names the item and %s", err, attribute)
				}
			}
		})
	}
}

func TestAnItemOfPowertoolsIsUnderstood(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.put(map[string]types.AttributeValue{
		"status": text("COMPLETED"), "expiration": number("1796043600"), "data": text(`{"ok":true}`),
	})
	l.acquire(request("o1", now), idem.AnswerDuplicate)
	l.put(map[string]types.AttributeValue{
		"status": text("INPROGRESS"), "expiration": number("1796043600"), "in_progress_expiration": number("1796040030000"),
	})
	l.acquire(request("o2", now), idem.AnswerBusy)
	l.acquire(request("o3", now.Add(time.Minute)), idem.AnswerAcquired)
}

func TestAnItemThatKeepsChangingIsContended(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.fail = func(int) error {
		return &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
	}
	calls := l.calls(func() {
		_, err := l.store.Acquire(t.Context(), request("o1", now))
		demand(t, err, dynamo.ErrContended, "claim in table ledger")
	})
	if calls != 4 {
		t.Errorf("%d writes, want 4", calls)
	}
}

// meanwhile does something between the refusal of the next claim and the write
// that is to replace what was in its way.
func (l *ledger) meanwhile(do func()) {
	first := l.updates + 1
	l.fail = func(n int) error {
		if n > first {
			l.fail = nil
			do()
		}
		return nil
	}
}

func TestAnItemThatChangesMeanwhileIsDecidedAnew(t *testing.T) {
	t.Parallel()
	later := now.Add(2 * time.Hour)
	renewed := idem.Settlement{Lease: later.Add(time.Second), Expires: later.Add(time.Hour)}
	for _, c := range []struct {
		name  string
		first idem.SettlementKind // what becomes of the first claim; 0 for nothing
		at    time.Time           // when the second asks
		do    func(l *ledger, first idem.Answer)
		want  idem.AnswerKind
	}{
		{"completed and expired, claimed", idem.SettleComplete, later, func(l *ledger, _ idem.Answer) {
			l.acquire(request("o2", later), idem.AnswerAcquired)
		}, idem.AnswerBusy},
		{"held and expired, claimed", 0, later, func(l *ledger, _ idem.Answer) {
			l.acquire(request("o2", later), idem.AnswerAcquired)
		}, idem.AnswerBusy},
		{"held and expired, completed", 0, later, func(l *ledger, first idem.Answer) {
			l.settle(first, complete(later))
		}, idem.AnswerDuplicate},
		{"held and expired, released", 0, later, func(l *ledger, first idem.Answer) {
			s := renewed
			s.Kind = idem.SettleRelease
			l.settle(first, s)
		}, idem.AnswerBusy},
		{"dead, taken over", idem.SettleVerdict, now.Add(time.Minute), func(l *ledger, _ idem.Answer) {
			l.acquire(request("o2", now.Add(time.Minute)), idem.AnswerSend)
		}, idem.AnswerBusy},
		{"dead, confirmed", idem.SettleVerdict, now.Add(time.Minute), func(l *ledger, first idem.Answer) {
			l.settle(first, idem.Settlement{Kind: idem.SettleConfirm, DeadLetterID: "dead-1"})
		}, idem.AnswerDuplicate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			first := l.acquire(request("o1", now), idem.AnswerAcquired)
			if c.first != 0 {
				l.settle(first, idem.Settlement{
					Kind: c.first, Lease: now, DeadAt: now, Expires: now.Add(time.Hour), Failure: &handler.Failure{},
				})
			}
			var left map[string]types.AttributeValue
			l.meanwhile(func() {
				c.do(l, first)
				left = l.item()
			})
			l.acquire(request("o3", c.at), c.want)
			if diff := cmp.Diff(left, l.item(), cmp.Transformer("show", show)); diff != "" {
				t.Fatalf("the refused claim changed the item:\n%s", diff)
			}
		})
	}
}

// A lapsed claim whose hash has another scheme is replaced as the item was seen. Its
// owner is still alive, and writes in between.
func TestATakeOverOverwritesNothingOfALiveOwner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		do      func(l *ledger, first idem.Answer)
		want    idem.AnswerKind
		crashes int
	}{
		{"it renews its claim", func(l *ledger, first idem.Answer) {
			l.renew(first, now.Add(time.Minute))
		}, idem.AnswerBusy, 0},
		{"it marks a crash", func(l *ledger, first idem.Answer) {
			l.settle(first, idem.Settlement{
				Kind: idem.SettleCrash, Crashes: 1, CrashStack: "main.charge()", Lease: first.Claim.Lease,
			})
		}, idem.AnswerAcquired, 1},
		{"it counts a crash ahead of a lone run", func(l *ledger, first idem.Answer) {
			l.settle(first, idem.Settlement{Kind: idem.SettleAlone, Crashes: 1})
		}, idem.AnswerAcquired, 1},
		{"it gives the job back", func(l *ledger, first idem.Answer) {
			l.settle(first, idem.Settlement{Kind: idem.SettleAbort, Lease: now, Expires: now.Add(time.Hour)})
		}, idem.AnswerAcquired, 0},
		{"it is done", func(l *ledger, first idem.Answer) { l.settle(first, complete(now)) }, idem.AnswerDuplicate, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			first := l.acquire(request("o1", now), idem.AnswerAcquired)
			var left map[string]types.AttributeValue
			l.meanwhile(func() {
				c.do(l, first)
				left = l.item()
			})
			r := request("o2", first.Claim.Lease)
			r.Validation = "test2:aaaa"
			if a := l.acquire(r, c.want); a.Job.Crashes != c.crashes {
				t.Errorf("crashes are %d, want %d", a.Job.Crashes, c.crashes)
			}
			// The answer is that on the item as it was before the write, whatever that did.
			got := l.item()
			if c.want == idem.AnswerAcquired {
				maps.Copy(left, map[string]types.AttributeValue{
					"owner": text("o2"), "validation": text("test2:aaaa"), "claims": number("2"),
					"in_progress_expiration": got["in_progress_expiration"], "expiration": got["expiration"],
				})
			}
			if diff := cmp.Diff(left, got, cmp.Transformer("show", show)); diff != "" {
				t.Errorf("the item differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDocumentNamesEachAttribute(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## What an item holds")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, attribute := range dynamo.ItemAttributes {
		if !strings.Contains(section, "`"+attribute+"`") {
			t.Errorf("docs/ledger.md does not tell of %s", attribute)
		}
	}
}

func TestATableThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	store := dynamo.New(newLedger(t), "ledgre", nil)
	_, err := store.Acquire(t.Context(), request("o1", now))
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "table ledgre") {
		t.Fatalf("error is %v, want that of a missing table", err)
	}
}
