package fault

import (
	"context"
	"reflect"
	"slices"
	"strings"
)

// sqlCode holds the codes of one database error. No driver is imported: the
// errors of pgx, lib/pq and go-mssqldb have methods for their codes; those of
// go-sql-driver/mysql and of SQLite are recognized by the names of their types.
type sqlCode struct {
	state  string // SQLSTATE
	mysql  uint64
	sqlite int64 // the extended result code; its low byte is the primary result code
	mssql  int32
}

func sqlCodeOf(err error) sqlCode {
	switch e := err.(type) {
	case interface{ SQLState() string }:
		return sqlCode{state: e.SQLState()}
	case interface{ SQLErrorNumber() int32 }:
		return sqlCode{mssql: e.SQLErrorNumber()}
	}
	v, ok := structOf(err)
	if !ok {
		return sqlCode{}
	}
	switch t := v.Type(); {
	case t.Name() == "MySQLError":
		return mysqlCode(v)
	case isSQLite(t):
		return sqlCode{sqlite: sqliteCode(err, v)}
	}
	return sqlCode{}
}

// mysqlCode reads the fields Number and SQLState. A server may leave SQLState
// empty.
func mysqlCode(v reflect.Value) sqlCode {
	var code sqlCode
	if number, ok := field(v, "Number"); ok && number.CanUint() {
		code.mysql = number.Uint()
	}
	if state, ok := field(v, "SQLState"); ok {
		if bytes, ok := reflect.TypeAssert[[5]byte](state); ok {
			code.state = string(bytes[:])
		}
	}
	return code
}

// isSQLite compares the type's name with its package, such as sqlite3.Error.
func isSQLite(t reflect.Type) bool {
	name := t.String()
	return strings.Contains(name, "sqlite") || strings.Contains(name, "SQLite")
}

// sqliteCode calls the method of the driver without cgo, or reads the field of
// the driver with cgo.
func sqliteCode(err error, v reflect.Value) int64 {
	if e, ok := err.(interface{ Code() int }); ok {
		return int64(e.Code())
	}
	if code, ok := field(v, "ExtendedCode"); ok && code.CanInt() {
		return code.Int()
	}
	return 0
}

// sqlCodes is a set of codes, with lists for each kind of database.
type sqlCodes struct {
	states []string // whole SQLSTATEs, or their classes of two characters
	mysql  []uint64
	sqlite []int64 // extended result codes, or primary ones, which include their extended ones
	mssql  []int32
}

func (s *sqlCodes) contains(code sqlCode) bool {
	return slices.ContainsFunc(s.states, func(state string) bool { return inState(code.state, state) }) ||
		slices.Contains(s.mysql, code.mysql) ||
		slices.Contains(s.sqlite, code.sqlite) || slices.Contains(s.sqlite, code.sqlite&0xff) ||
		slices.Contains(s.mssql, code.mssql)
}

// inState reports whether a SQLSTATE is the wanted one, or is of the wanted
// class.
func inState(state, want string) bool {
	return len(state) == 5 && strings.HasPrefix(state, want)
}

// match returns a match for errors with a code that is in the set and in none
// of the exceptions.
func (s *sqlCodes) match(except ...*sqlCodes) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e error) bool {
			code := sqlCodeOf(e)
			return s.contains(code) &&
				!slices.ContainsFunc(except, func(x *sqlCodes) bool { return x.contains(code) })
		})
	}
}

// IsUniqueViolation reports whether err says that a row with the same unique
// value already exists: SQLSTATE 23505, MySQL 1062, SQLite 1555, 2067 or 2579,
// SQL Server 2601 or 2627.
//
// The standard rules classify this as permanent, because they cannot see which
// table the error is about. A function that keeps a table of finished jobs
// calls this with the error of its own insert into that table, and returns nil
// if it is true: the job was done before.
func IsUniqueViolation(err error) bool { return isUnique(context.Background(), err) }

var isUnique = sqlUnique.match()
