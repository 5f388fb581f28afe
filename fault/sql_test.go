package fault_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// stateError has the method of the errors of pgx and lib/pq.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// MySQLError has the name and the fields of the error of go-sql-driver/mysql.
type MySQLError struct {
	Number   uint16
	SQLState [5]byte
	Message  string
}

func (e *MySQLError) Error() string { return fmt.Sprintf("Error %d: %s", e.Number, e.Message) }

func mySQL(number uint16) error { return &MySQLError{Number: number} }

func mySQLState(number uint16, state string) error {
	return &MySQLError{Number: number, SQLState: [5]byte([]byte(state))}
}

// sqliteError has the method of the error of modernc.org/sqlite.
type sqliteError struct{ code int }

func (e *sqliteError) Error() string { return fmt.Sprintf("SQLite %d", e.code) }
func (e *sqliteError) Code() int     { return e.code }

// cgoSQLiteError has the fields of the error of mattn/go-sqlite3.
type cgoSQLiteError struct{ Code, ExtendedCode int }

func (e cgoSQLiteError) Error() string { return fmt.Sprintf("SQLite %d, %d", e.Code, e.ExtendedCode) }

// serverError has the method of the error of go-mssqldb.
type serverError int32

func (e serverError) Error() string         { return fmt.Sprintf("mssql: (%d)", int32(e)) }
func (e serverError) SQLErrorNumber() int32 { return int32(e) }

// unsent has the method of the errors that pgx returns before it sends a call.
type unsent bool

func (unsent) Error() string       { return "conn closed" }
func (e unsent) SafeToRetry() bool { return bool(e) }

// errInvalidConn has the text of ErrInvalidConn of go-sql-driver/mysql.
var errInvalidConn = errors.New("invalid connection")

func sqlCases() []ruleCase {
	groups := []struct {
		rule   string
		class  fault.Class
		reason string
		errs   []error
	}{
		{"sql.unique", permanent, "already_exists", []error{
			stateError("23505"), mySQL(1062), mySQLState(1062, "23000"), mySQL(1586),
			&sqliteError{1555}, &sqliteError{2067}, &sqliteError{2579}, cgoSQLiteError{19, 2067},
			serverError(2601), serverError(2627),
		}},
		{"sql.foreign_key", permanent, "foreign_key", []error{
			stateError("23503"), mySQL(1216), mySQL(1217), mySQL(1451), mySQL(1452), mySQLState(1452, "23000"),
			&sqliteError{787}, cgoSQLiteError{19, 787}, serverError(547),
		}},
		{"sql.data", permanent, "rejected", []error{
			stateError("22001"), stateError("22P02"), stateError("23502"), stateError("23514"), stateError("23P01"),
			mySQL(1048), mySQL(1366), mySQL(1406), mySQLState(1690, "22003"),
			&sqliteError{1299}, &sqliteError{275}, &sqliteError{18}, &sqliteError{20}, cgoSQLiteError{19, 1299},
			serverError(515), serverError(8152),
		}},
		{"sql.statement", permanent, "rejected", []error{
			stateError("42601"), stateError("42P01"), mySQL(1064), mySQLState(1146, "42S02"), serverError(208),
		}},
		{"sql.connection", retryable, "connection", []error{
			driver.ErrBadConn, sql.ErrConnDone, errInvalidConn, unsent(true),
			stateError("08006"), stateError("08001"), stateError("57P01"), stateError("57P02"), stateError("57P03"),
			mySQL(2006), mySQL(2013), mySQLState(1053, "08S01"),
		}},
		{"sql.contention", retryable, "conflict", []error{
			stateError("40001"), stateError("40P01"), stateError("55P03"), mySQL(1205), mySQL(1213),
			&sqliteError{5}, &sqliteError{517}, &sqliteError{6}, cgoSQLiteError{5, 5},
			serverError(1205), serverError(1222),
		}},
		{"sql.overload", retryable, "unavailable", []error{
			stateError("53300"), stateError("53100"), mySQL(1040), mySQLState(1040, "08004"), mySQL(1203),
			&sqliteError{13}, serverError(10928), serverError(10929), serverError(40197), serverError(40501),
			serverError(40613), serverError(49918), serverError(49919), serverError(49920),
		}},
		{"sql.read_only", retryable, "read_only", []error{
			stateError("25006"), mySQL(1290), mySQL(1836), &sqliteError{8}, serverError(3906),
		}},
		{"sql.cancelled", retryable, "timeout", []error{
			stateError("57014"), mySQL(1317), mySQL(3024), &sqliteError{9},
		}},
		{"sql.environment", retryable, "environment", []error{
			stateError("28P01"), stateError("28000"), stateError("42501"),
			mySQLState(1045, "28000"), mySQLState(1044, "42000"), mySQLState(1142, "42000"),
			&sqliteError{23}, serverError(18456), serverError(229),
		}},
		{"unknown", unclassified, "unclassified", []error{
			sql.ErrNoRows, sql.ErrTxDone, unsent(false), errors.New("invalid connection: proxy"),
			stateError(""), stateError("2"), stateError("225"), stateError("XX000"), stateError("P0001"),
			mySQL(0), mySQL(1105), mySQLState(1644, "45000"), &sqliteError{0}, &sqliteError{1},
			cgoSQLiteError{1, 1}, serverError(0), serverError(50000),
		}},
	}
	var cases []ruleCase
	for _, g := range groups {
		for _, err := range g.errs {
			cases = append(cases, ruleCase{err, g.rule, g.class, g.reason})
		}
	}
	return cases
}

// Types that look like the error of a driver but are not.
type (
	coded         struct{ error }
	sqliteMissing struct{ error }
)

func (coded) Code() int { return 787 }

func TestTypesNamedLikeDriverErrorsDoNotMatch(t *testing.T) {
	t.Parallel()
	type MySQLError struct {
		error
		Number   string
		SQLState string
	}
	for _, err := range []error{
		coded{errBoom}, sqliteMissing{errBoom}, MySQLError{errBoom, "1062", "23505"},
		struct {
			error
			Code, ExtendedCode int
		}{errBoom, 19, 787},
	} {
		if got := fault.Classify(t.Context(), err); got.Rule != fault.RuleUnknown {
			t.Errorf("%T is known to %s", err, got.Rule)
		}
	}
}

type (
	quiet  struct{}
	number = MySQLError // an alias, so that it can be embedded in another MySQLError
)

func (*quiet) Error() string { return "quiet" }

// embedding returns a user's own MySQLError that embeds the driver's.
func embedding(inner *number) error {
	type MySQLError struct{ *number }
	return MySQLError{inner}
}

func TestNilPointersInAnErrorDoNotPanic(t *testing.T) {
	t.Parallel()
	var nothing *quiet
	for _, err := range []error{nothing, embedding(nil)} {
		if got := fault.Classify(t.Context(), err); got.Rule != fault.RuleUnknown {
			t.Errorf("%T with a nil pointer is known to %s", err, got.Rule)
		}
	}
}

func TestDriverErrorEmbeddedInAnotherMatches(t *testing.T) {
	t.Parallel()
	wantRule(t, embedding(&number{Number: 1213}), "sql.contention")
}

func TestIsUniqueViolation(t *testing.T) {
	t.Parallel()
	for _, tt := range sqlCases() {
		wrapped := errors.Join(errBoom, fmt.Errorf("insert: %w", tt.err))
		if got, want := fault.IsUniqueViolation(wrapped), tt.rule == "sql.unique"; got != want {
			t.Errorf("%v: %t, want %t", tt.err, got, want)
		}
	}
	if fault.IsUniqueViolation(nil) {
		t.Error("nil is a unique violation")
	}
	if !fault.IsUniqueViolation(fault.Retryable(stateError("23505"))) {
		t.Error("a tag hides the unique violation")
	}
}

func TestReplicaLag(t *testing.T) {
	t.Parallel()
	lag := fault.Decision{Class: retryable, Reason: "replica_lag", Rule: "tag.retryable"}
	for _, err := range []error{
		fault.ErrReplicaLag,
		fmt.Errorf("order 7: %w", fault.ErrReplicaLag),
		fmt.Errorf("%w: %w", fault.ErrReplicaLag, &fault.HTTPError{Status: 404}),
		errors.Join(sql.ErrNoRows, fault.ErrReplicaLag),
	} {
		if got := fault.Classify(t.Context(), err); got != lag {
			t.Errorf("%v: %+v, want %+v", err, got, lag)
		}
		if !errors.Is(err, fault.ErrReplicaLag) || fault.Stack(err) != "" {
			t.Errorf("%v is not found any more, or has a stack", err)
		}
	}
	if got := fault.Classify(t.Context(), fault.Permanent(fault.ErrReplicaLag)); got.Class != permanent {
		t.Errorf("a permanent tag around it: %+v", got)
	}
}

// pool is a database whose connections do nothing.
type pool struct{ driver.Conn }

func (p pool) Connect(context.Context) (driver.Conn, error) { return p, nil }
func (pool) Driver() driver.Driver                          { return nil }
func (pool) Close() error                                   { return nil }

func TestPoolIsExhausted(t *testing.T) {
	t.Parallel()
	db := sql.OpenDB(pool{})
	db.SetMaxOpenConns(1)
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = db.Conn(ctx)
	wantRule(t, err, "net.timeout")

	if err := errors.Join(first.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	wantRule(t, first.PingContext(t.Context()), "sql.connection")
}
