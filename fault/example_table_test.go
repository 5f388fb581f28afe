package fault_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sqsafe/sqsafe/fault"
)

func ExampleRules() {
	for _, rule := range fault.Rules()[:4] {
		fmt.Println(rule.ID, rule.Class, rule.Reason)
	}
	// Output:
	// tag.permanent permanent tagged
	// tag.retryable retryable tagged
	// cancelled retryable cancelled
	// deadline retryable deadline
}

var errShopClosed = errors.New("shop is closed")

func ExampleTable_With() {
	table := fault.Rules().With(fault.Rule{
		ID: "shop.closed", Reason: "closed", Class: fault.ClassRetryable,
		Match: func(_ context.Context, err error) bool { return errors.Is(err, errShopClosed) },
	})

	d := table.Classify(context.Background(), fmt.Errorf("order 7: %w", errShopClosed))
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output: retryable closed shop.closed
}

// The object that this job reads was written by another job a moment ago.
func ExampleTable_Override() {
	table := fault.Rules().Override("http.404", fault.ClassRetryable, fault.WithReason("not_yet"))

	d := table.Classify(context.Background(), &fault.HTTPError{Status: 404})
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output: retryable not_yet http.404
}

func ExampleTable_Override_misspelt() {
	defer func() { fmt.Println(recover()) }()
	fault.Rules().Override("sql.foriegn_key", fault.ClassRetryable)
	// Output:
	// fault: no rule "sql.foriegn_key" to override; nearest are "sql.foreign_key", "sql.contention", "sql.read_only"
}

// Customers arrive through another queue, possibly later than their orders.
func ExampleSQLState() {
	table := fault.Rules().With(fault.SQLState("23503", fault.ClassRetryable))

	d := table.Classify(context.Background(), fmt.Errorf("insert order: %w", stateError("23503")))
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output: retryable foreign_key sqlstate.23503
}

// The table done has one row for each job that took effect.
func ExampleIsUniqueViolation() {
	markDone := func() error { return stateError("23505") }
	handle := func() error {
		err := markDone()
		if fault.IsUniqueViolation(err) {
			return nil // the job was done before
		}
		return err
	}

	fmt.Println(handle())
	// Output: <nil>
}

func Example_replicaLag() {
	read := func() error { return sql.ErrNoRows }
	err := read()
	fmt.Println(fault.Classify(context.Background(), err).Class)

	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("order 7: %w", fault.ErrReplicaLag)
	}
	d := fault.Classify(context.Background(), err)
	fmt.Println(d.Class, d.Reason)
	// Output:
	// unclassified
	// retryable replica_lag
}
