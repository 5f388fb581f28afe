package powertools_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/idem"
)

func (s *shared) result() map[string]string { return map[string]string{"charged": s.key} }

func (s *shared) ran() answer { return answer{Ran: true, Result: s.result()} }

func refused(errs ...string) answer { return answer{Errors: errs} }

// unreadable is the answer of Powertools for a status that it does not know.
func unreadable() answer {
	return refused("IdempotencyPersistenceLayerError", "IdempotencyInvalidStatusError")
}

const inProgress = "IdempotencyAlreadyInProgressError"

func (s *shared) same(what string, want, got answer) {
	s.Helper()
	if len(got.Errors) == 0 {
		got.Errors = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestPowertoolsReadsItemsOfOurStore lets Powertools find items that our store wrote.
//
//nolint:tparallel // the subtests share one Python program, since starting it takes most of the time
func TestPowertoolsReadsItemsOfOurStore(t *testing.T) {
	t.Parallel()
	const past, future = -time.Second, time.Hour
	all := share(t)
	for n, tt := range []struct {
		name  string
		write func(*shared)
		want  answer
	}{
		{"a live claim", func(s *shared) { s.acquire(future, idem.AnswerAcquired) }, refused(inProgress)},
		{"a claim whose lease has expired", func(s *shared) { s.acquire(past, idem.AnswerAcquired) }, answer{Ran: true}},
		{"released until later", func(s *shared) {
			s.must(s.acquire(future, idem.AnswerAcquired), idem.SettleRelease, future)
		}, refused(inProgress)},
		{"released, and the next attempt is due", func(s *shared) {
			s.must(s.acquire(future, idem.AnswerAcquired), idem.SettleRelease, past)
		}, answer{Ran: true}},
		{"released without counting an attempt", func(s *shared) {
			s.must(s.acquire(future, idem.AnswerAcquired), idem.SettleAbort, past)
		}, answer{Ran: true}},
		{"completed: our items have no result", func(s *shared) {
			s.must(s.acquire(future, idem.AnswerAcquired), idem.SettleComplete, 0)
		}, answer{}},
		{"dead", func(s *shared) {
			a := s.acquire(future, idem.AnswerAcquired)
			s.must(a, idem.SettleVerdict, future)
			s.must(a, idem.SettleConfirm, 0)
		}, unreadable()},
		{"dead, its dead letter not confirmed", func(s *shared) {
			s.must(s.acquire(future, idem.AnswerAcquired), idem.SettleVerdict, past)
		}, unreadable()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *all
			s.T, s.key = t, fmt.Sprintf("ch-%d", n)
			tt.write(&s)
			if tt.want.Ran {
				tt.want.Result = s.result()
			}
			before := s.item()
			s.same("Powertools", tt.want, s.powertools("return", anHour()))
			if !tt.want.Ran {
				if diff := cmp.Diff(before, s.item(), cmpopts.IgnoreUnexported(
					types.AttributeValueMemberS{}, types.AttributeValueMemberN{})); diff != "" {
					t.Errorf("Powertools has changed the item (-want +got):\n%s", diff)
				}
				return
			}
			want := []string{"data", "expiration", "id", "in_progress_expiration", "status"}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.item()))); diff != "" {
				t.Errorf("attributes of an item that Powertools took over (-want +got):\n%s", diff)
			}
			s.acquire(future, idem.AnswerDuplicate)
		})
	}
}

// TestOurStoreReadsItemsOfPowertools lets our store find items of Powertools, starting with
// its claim.
func TestOurStoreReadsItemsOfPowertools(t *testing.T) {
	t.Parallel()
	s := share(t)
	if a := s.powertools("hold", anHour()); !a.Running {
		t.Fatalf("Powertools does not run the job: %+v", a)
	}
	busy := s.acquire(time.Hour, idem.AnswerBusy)
	if left := time.Until(busy.Until); left < 50*time.Minute || left > time.Hour {
		t.Errorf("busy for %v, want about the hour that the invocation has", left)
	}
	s.same("Powertools", s.ran(), s.tell("return"))
	s.acquire(time.Hour, idem.AnswerDuplicate)
	s.same("a copy at Powertools", answer{Result: s.result()}, s.powertools("return", anHour()))
}

// TestAFailureOfPowertoolsLeavesNoItem checks that there is no item of a job
// that failed in Powertools.
func TestAFailureOfPowertoolsLeavesNoItem(t *testing.T) {
	t.Parallel()
	s := share(t)
	s.same("Powertools", answer{Ran: true, Errors: []string{"ValueError"}}, s.powertools("raise", anHour()))
	a := s.acquire(time.Hour, idem.AnswerAcquired)
	if a.Claims != 0 || a.Job.Attempts != 0 {
		t.Errorf("the answer %+v knows of an earlier run", a)
	}
}

// TestOurLateSettlementDoesNotOverwritePowertools checks that our store, after it lost its claim to
// Powertools, overwrites nothing.
func TestOurLateSettlementDoesNotOverwritePowertools(t *testing.T) {
	t.Parallel()
	s := share(t)
	ours := s.acquire(-time.Second, idem.AnswerAcquired)
	if a := s.powertools("hold", anHour()); !a.Running {
		t.Fatalf("Powertools does not take the lapsed claim over: %+v", a)
	}
	var late *idem.LateError
	if err := s.settle(ours, idem.SettleRelease, 0); !errors.As(err, &late) || late.Status != idem.StatusInProgress {
		t.Errorf("our release gives %v", err)
	}
	s.same("Powertools", s.ran(), s.tell("return"))
	if err := s.settle(ours, idem.SettleComplete, 0); err != nil {
		t.Errorf("the job is done, which is all that our completion says: %v", err)
	}
	if _, ok := s.item()["data"]; !ok {
		t.Error("the result of Powertools is gone")
	}
}

// TestLateCompletionOfPowertoolsOverwritesOurClaim shows that Powertools, which has no fence,
// overwrites our claim. This is why only one of the two should write a key.
func TestLateCompletionOfPowertoolsOverwritesOurClaim(t *testing.T) {
	t.Parallel()
	s := share(t)
	lapsed := int64(-1000)
	if a := s.powertools("hold", &lapsed); !a.Running {
		t.Fatalf("Powertools does not run the job: %+v", a)
	}
	ours := s.acquire(time.Hour, idem.AnswerAcquired)
	s.same("Powertools", s.ran(), s.tell("return"))
	if status := s.item()["status"].(*types.AttributeValueMemberS).Value; status != "COMPLETED" {
		t.Errorf("status %s, want Powertools to complete what we hold", status)
	}
	if err := s.settle(ours, idem.SettleComplete, 0); err != nil {
		t.Errorf("our completion of a job that counts as done: %v", err)
	}
}

// TestLateFailureOfPowertoolsDeletesOurClaim shows that Powertools deletes our claim, for the
// same reason.
func TestLateFailureOfPowertoolsDeletesOurClaim(t *testing.T) {
	t.Parallel()
	s := share(t)
	lapsed := int64(-1000)
	if a := s.powertools("hold", &lapsed); !a.Running {
		t.Fatalf("Powertools does not run the job: %+v", a)
	}
	ours := s.acquire(time.Hour, idem.AnswerAcquired)
	s.same("Powertools", answer{Ran: true, Errors: []string{"ValueError"}}, s.tell("raise"))
	var late *idem.LateError
	if err := s.settle(ours, idem.SettleComplete, 0); !errors.As(err, &late) || late.Status != "" {
		t.Errorf("our completion of an item that is gone: %v", err)
	}
}

// TestPowertoolsValidationRefusesOurHash shows that Powertools takes our hash for that of
// another payload.
func TestPowertoolsValidationRefusesOurHash(t *testing.T) {
	t.Parallel()
	s := share(t)
	s.must(s.acquire(time.Hour, idem.AnswerAcquired), idem.SettleComplete, 0)
	got := s.run(job{Table: table, Queue: queue, Key: s.key, End: "return", Left: anHour(), Check: true})
	s.same("Powertools", refused("IdempotencyValidationError", "ConditionalCheckFailedException"), got)
}

// TestClaimOfPowertoolsWithoutDeadlineIsHeldUntilItExpires shows that a claim without a lease is held
// until it expires.
func TestClaimOfPowertoolsWithoutDeadlineIsHeldUntilItExpires(t *testing.T) {
	t.Parallel()
	s := share(t)
	if a := s.powertools("hold", nil); !a.Running {
		t.Fatalf("Powertools does not run the job: %+v", a)
	}
	if until := s.acquire(time.Hour, idem.AnswerBusy).Until; time.Until(until) < 50*time.Minute {
		t.Errorf("busy until %v, want the hour after which Powertools forgets its claim", until)
	}
	s.same("Powertools", s.ran(), s.tell("return"))
	s.acquire(time.Hour, idem.AnswerDuplicate)
}
