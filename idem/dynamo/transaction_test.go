package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func TestATransactionCompletesTheJob(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
		s.sold(1, 1)
		s.want(s.deliver(), handler.OutcomeDuplicate, idem.ReasonCompleted, "update")
		s.sold(1, 1)
	})
}

func TestATransactionLeavesTheItemThatACompletionLeaves(t *testing.T) {
	t.Parallel()
	var left []map[string]types.AttributeValue
	for _, transacted := range []bool{true, false} {
		open(t, func(s *shop) {
			s.job = func(context.Context) error { return &handler.Result{Outcome: handler.OutcomeDeferred} }
			s.deliver() // so that there is a count to raise
			s.job = func(context.Context) error { return nil }
			if transacted {
				s.job = s.sell
			}
			s.want(s.deliver(), handler.OutcomeDone, "", s.writes...)
			out, err := s.Scan(s.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
			if err != nil || len(out.Items) != 1 {
				s.Fatalf("%d items, %v", len(out.Items), err)
			}
			delete(out.Items[0], "owner") // a random token
			left = append(left, out.Items[0])
		})
	}
	if diff := cmp.Diff(left[1], left[0], ignoreSDK); diff != "" {
		t.Errorf("items differ (-middleware +transaction):\n%s", diff)
	}
}

var ignoreSDK = cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.Update{})

func TestAConditionOfTheUsersIsTheUsersError(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.stock("0")
		r := s.deliver()
		s.want(r, handler.OutcomeDead, "rejected", "update", "transaction", "update")
		var cancelled *types.TransactionCanceledException
		var late *idem.LateError
		if !errors.As(r.Err, &cancelled) || len(cancelled.CancellationReasons) != 2 || errors.As(r.Err, &late) {
			s.Fatalf("error is %v, want the client's", r.Err)
		}
		s.stock("10")
		s.sold(0, 1)
	})
}

func TestALateFinisherCommitsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		other   idem.SettlementKind
		pieces  string
		outcome handler.Outcome
		reason  string
	}{
		{"the other runs", 0, "10", handler.OutcomeBusy, idem.ReasonLate},
		{"the other runs, and the user's condition fails too", 0, "0", handler.OutcomeBusy, idem.ReasonLate},
		{"the other waits to retry", idem.SettleRelease, "10", handler.OutcomeBusy, idem.ReasonLate},
		{"the other is dead", idem.SettleVerdict, "10", handler.OutcomeBusy, idem.ReasonLate},
		{"the other is done", idem.SettleComplete, "10", handler.OutcomeDone, idem.ReasonCompleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.stock(c.pieces)
				s.job = func(ctx context.Context) error {
					s.steal(c.other)
					err := s.sell(ctx)
					late, ok := errors.AsType[*idem.LateError](err)
					if !ok || late.ID != "#m1" || late.Kind != idem.SettleComplete || late.Status == "" || late.Until.IsZero() {
						s.Errorf("error is %#v, want a LateError with what the item says", err)
					}
					return err
				}
				s.want(s.deliver(), c.outcome, c.reason, "update", "transaction", "update")
				s.stock("10")
				s.sold(0, 1)
			})
		})
	}
}

func TestAJobThatIsGoneIsNotCompleted(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			_, err := s.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": text("#m1")},
			})
			return errors.Join(err, s.sell(ctx))
		}
		s.want(s.deliver(), handler.OutcomeBusy, idem.ReasonLate, "update", "transaction", "update")
		s.sold(0, 1)
	})
}

// What a job left running must not commit after the job's own outcome.
func TestATransactionAfterTheVerdictIsLate(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		var later func() error
		s.job = func(ctx context.Context) error {
			later = func() error { return s.sell(context.WithoutCancel(ctx)) }
			return permanent{errors.New("no such customer")}
		}
		s.deliver()
		late, ok := errors.AsType[*idem.LateError](later())
		if !ok || late.Status != idem.StatusDead {
			s.Errorf("error is %v, want a LateError of a dead job", late)
		}
		s.sold(0, 1)
	})
}

func TestAConflictOnTheJobsItemCostsNothing(t *testing.T) {
	t.Parallel()
	for name, codes := range map[string][]string{
		"alone":                   {"None", "TransactionConflict"},
		"beside one of the stock": {"TransactionConflict", "TransactionConflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.cancel = codes
				r := s.deliver()
				s.want(r, handler.OutcomeRetry, "conflict", "update", "transaction", "update")
				var cancelled *types.TransactionCanceledException
				if !errors.As(r.Err, &cancelled) || r.Delay < time.Second || r.Delay > 2*time.Second {
					s.Errorf("result is %+v, want a retry after a second for the client's error", r)
				}
				pass(r.Delay)
				s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
				if s.last.Attempts != 0 {
					s.Errorf("the job has %d attempts, want none", s.last.Attempts)
				}
				s.sold(1, 2)
			})
		})
	}
}

func TestWhatElseCancelsATransactionIsTheUsers(t *testing.T) {
	t.Parallel()
	for reason, codes := range map[string][]string{
		"conflict":     {"TransactionConflict", "None"},
		"unclassified": {"ConditionalCheckFailed", "TransactionConflict"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.cancel = codes
				r := s.deliver()
				s.want(r, handler.OutcomeRetry, reason, "update", "transaction", "update")
				if r.Job.Attempts != 1 {
					s.Errorf("the job has %d attempts, want 1", r.Job.Attempts)
				}
			})
		})
	}
}

func TestACancellationWithoutReasonsIsTheUsers(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.cancel = []string{}
		s.want(s.deliver(), handler.OutcomeRetry, "unclassified", "update", "transaction", "update")
	})
}

// lose lets so many transactions be done without an answer, or all until it is
// told to stop.
func (s *shop) lose(times int) (stop func()) {
	return s.server.Inject(localaws.Fault{Operation: "TransactWriteItems", Times: times, AfterEffect: true})
}

func TestAnAnswerThatTheClientAsksForAgainIsASuccess(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.lose(1)
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
		s.sold(1, 1)
	})
}

func TestAnAnswerThatIsLostForGood(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(error) error{
		"and returned":  func(err error) error { return err },
		"and permanent": func(err error) error { return permanent{err} },
		"and ignored":   func(error) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.lose(0)
				s.job = func(ctx context.Context) error { return end(s.sell(ctx)) }
				r := s.deliver()
				s.want(r, handler.OutcomeDone, r.Decision.Reason, "update", "transaction", "update")
				s.sold(1, 1)
				s.want(s.deliver(), handler.OutcomeDuplicate, idem.ReasonCompleted, "update")
			})
		})
	}
}

func TestATransactionIsSentAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"and there is more": "10", "and that was the last piece": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.stock(left)
				found := s.lose(0)
				s.job = func(ctx context.Context) error {
					if s.sell(ctx) == nil {
						s.Error("a lost answer was a success")
					}
					found()
					return s.sell(ctx)
				}
				s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction", "transaction")
			})
		})
	}
}

func TestATransactionThatIsBuiltAgainIsTheSame(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			first, err := dynamo.Completion(ctx)
			pass(5 * time.Second)
			again, err2 := dynamo.Completion(ctx)
			if diff := cmp.Diff(first.Update, again.Update, ignoreSDK); diff != "" {
				s.Errorf("completions differ (-first +again):\n%s", diff)
			}
			return errors.Join(err, err2)
		}
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "update")
	})
}

func TestATransactionThatWasNotDoneIsMadeByTheNextAttempt(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		mended := s.server.Inject(localaws.Fault{Operation: "TransactWriteItems", Status: 500})
		s.want(s.deliver(), handler.OutcomeRetry, "unavailable", "update", "transaction", "update")
		mended()
		pass(time.Hour)
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
		s.sold(1, 2)
	})
}

func TestWhatFollowsTheCommitChangesNothing(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]error{
		"retryable": context.DeadlineExceeded,
		"permanent": permanent{errors.New("no such address")},
		"cut off":   &handler.Result{Outcome: handler.OutcomeDeferred},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.job = func(ctx context.Context) error {
					if err := s.sell(ctx); err != nil {
						return err
					}
					return after
				}
				s.want(s.deliver(), handler.OutcomeDone, idem.ReasonCompleted, "update", "transaction")
				s.want(s.deliver(), handler.OutcomeDuplicate, idem.ReasonCompleted, "update")
				s.sold(1, 1)
			})
		})
	}
}

func TestADuplicateOfTheUsersStaysOne(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			return errors.Join(s.sell(ctx), &handler.Result{Outcome: handler.OutcomeDuplicate})
		}
		s.want(s.deliver(), handler.OutcomeDuplicate, "", "update", "transaction")
	})
}

func TestAProcessThatDiesAfterTheCommitHasDoneTheJob(t *testing.T) {
	t.Parallel()
	for name, death := range map[string]func() error{
		"a panic":        func() error { panic("out of range") },
		"a caught panic": func() error { return &handler.PanicError{Value: "out of range"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				s.job = func(ctx context.Context) error { return errors.Join(s.sell(ctx), death()) }
				outcome := handler.OutcomeCrash
				func() {
					defer func() { _ = recover() }()
					outcome = s.deliver().Outcome
				}()
				if outcome != handler.OutcomeCrash {
					s.Errorf("outcome is %s, want that of a crash", outcome)
				}
				s.want(s.deliver(), handler.OutcomeDuplicate, idem.ReasonCompleted, "update", "transaction", "update")
				s.sold(1, 1)
			})
		})
	}
}

func TestASecondTransactionIsNotSent(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			if err := s.sell(ctx); err != nil {
				return err
			}
			err := s.sell(ctx)
			if !errors.Is(err, dynamo.ErrCommitted) {
				s.Errorf("error is %v, want ErrCommitted", err)
			}
			return err
		}
		s.want(s.deliver(), handler.OutcomeDone, idem.ReasonCompleted, "update", "transaction")
		s.sold(1, 1)
	})
}

func TestACopyOfTheCompletionIsKnown(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			done, err := dynamo.Completion(ctx)
			if err != nil {
				return err
			}
			copied := *done.Update
			_, err = dynamo.NewTransactor(s).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{{Update: &copied}, order()},
			})
			return err
		}
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
		s.sold(1, 1)
	})
}

func TestACompletionPastTheTransactorCostsOneMoreWrite(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error { return s.sellVia(ctx, s) }
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction", "update")
		s.want(s.deliver(), handler.OutcomeDuplicate, idem.ReasonCompleted, "update")
		s.sold(1, 1)
	})
}

func TestOtherTransactionsPassThrough(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			_, err := dynamo.NewTransactor(s).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{order()},
			})
			return err
		}
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction", "update")
		if err := s.job(s.Context()); err != nil {
			s.Errorf("outside of a job: %v", err)
		}
		s.sold(2, 1)
	})
}

func TestARenewalThatMeetsTheCompletionEndsNothing(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, func(s *shop) {
				want := []string{"update", "update", "transaction", "update"}
				api := dynamo.TransactionAPI(dynamo.NewTransactor(s))
				if !seen {
					api, want = s, append(want, "update")
				}
				s.job = func(ctx context.Context) error {
					pass(30 * time.Second)
					err := s.sellVia(ctx, api)
					pass(time.Hour)
					return errors.Join(err, context.Cause(ctx))
				}
				s.want(s.deliverIn(s.Context()), handler.OutcomeDone, "", want...)
				s.sold(1, 1)
			})
		})
	}
}

func TestALostClaimEndsAJobThatHasItsCompletion(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			if _, err := dynamo.Completion(ctx); err != nil {
				return err
			}
			s.steal(0)
			<-ctx.Done()
			return s.sell(context.WithoutCancel(ctx))
		}
		s.want(s.deliverIn(s.Context()), handler.OutcomeBusy, idem.ReasonLate, "update", "update", "transaction", "update")
		s.sold(0, 1)
	})
}

func TestWithoutAClaimThereIsNoCompletion(t *testing.T) {
	t.Parallel()
	if _, err := dynamo.Completion(t.Context()); !errors.Is(err, dynamo.ErrNoClaim) {
		t.Errorf("outside of a job the error is %v, want ErrNoClaim", err)
	}
}

// A step could not be recorded beside a job that is completed.
func TestAStepDoesNotCompleteItsJob(t *testing.T) {
	t.Parallel()
	open(t, func(s *shop) {
		s.job = func(ctx context.Context) error {
			if err := idem.Step(ctx, "sell", s.sell); !errors.Is(err, dynamo.ErrNoClaim) {
				s.Errorf("error is %v, want ErrNoClaim", err)
			}
			return s.sell(ctx)
		}
		s.want(s.deliver(), handler.OutcomeDone, "", "update", "transaction")
	})
}

func TestAMemoryTakesPartInNoTransaction(t *testing.T) {
	t.Parallel()
	r := deliverTo(t.Context(), t, idem.NewMemory(), func(ctx context.Context, _ *handler.Message) error {
		_, err := dynamo.Completion(ctx)
		return err
	})
	if !errors.Is(r.Err, dynamo.ErrNoTransactions) || r.Outcome != handler.OutcomeRetry {
		t.Errorf("result is %v, want a retry with ErrNoTransactions", r)
	}
}

func TestACompletionUsesTheTablesOwnKey(t *testing.T) {
	t.Parallel()
	l := newLedgerKeyed(t, "pk", &dynamo.Options{KeyAttribute: "pk"})
	for _, want := range []handler.Outcome{handler.OutcomeDone, handler.OutcomeDuplicate} {
		r := deliverTo(t.Context(), t, l.store, func(ctx context.Context, _ *handler.Message) error {
			done, err := dynamo.Completion(ctx)
			if err != nil {
				return err
			}
			_, err = dynamo.NewTransactor(l).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{done},
			})
			return err
		})
		if r.Outcome != want {
			t.Fatalf("outcome is %s: %v; want %s", r.Outcome, r.Err, want)
		}
	}
	if n := l.updates; n != 2 {
		t.Errorf("%d updates, want two claims", n)
	}
}
