package fault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
)

// The codes are from PostgreSQL's appendix A, MySQL's error reference, SQLite's
// list of result codes, and SQL Server's database engine errors.
var (
	sqlUnique = &sqlCodes{
		states: []string{"23505"}, mysql: []uint64{1062, 1586},
		sqlite: []int64{1555, 2067, 2579}, mssql: []int32{2601, 2627},
	}
	sqlForeignKey = &sqlCodes{
		states: []string{"23503"}, mysql: []uint64{1216, 1217, 1451, 1452}, sqlite: []int64{787}, mssql: []int32{547},
	}
	sqlData = &sqlCodes{
		states: []string{"22", "23"}, mysql: []uint64{1048, 1264, 1292, 1364, 1366, 1406, 3819},
		sqlite: []int64{18, 19, 20}, mssql: []int32{245, 515, 2628, 8114, 8152},
	}
	sqlStatement = &sqlCodes{
		states: []string{"42"}, mysql: []uint64{1054, 1064, 1146}, mssql: []int32{102, 207, 208},
	}
	sqlRights = &sqlCodes{
		states: []string{"28", "42501"}, mysql: []uint64{1044, 1045, 1142, 1143, 1227, 1370},
		sqlite: []int64{3, 23}, mssql: []int32{229, 4060, 18456},
	}
	sqlConnection = &sqlCodes{
		states: []string{"08", "57P01", "57P02", "57P03"}, mysql: []uint64{1053, 2006, 2013},
	}
	sqlContention = &sqlCodes{
		states: []string{"40001", "40P01", "55P03"}, mysql: []uint64{1205, 1213},
		sqlite: []int64{5, 6}, mssql: []int32{1205, 1222, 3960},
	}
	// For SQL Server these are the limits of Azure SQL.
	sqlOverload = &sqlCodes{
		states: []string{"53"}, mysql: []uint64{1040, 1203}, sqlite: []int64{13},
		mssql: []int32{10928, 10929, 40197, 40501, 40613, 49918, 49919, 49920},
	}
	sqlReadOnly = &sqlCodes{
		states: []string{"25006"}, mysql: []uint64{1290, 1836}, sqlite: []int64{8}, mssql: []int32{3906},
	}
	sqlCancelled = &sqlCodes{states: []string{"57014"}, mysql: []uint64{1317, 3024}, sqlite: []int64{9}}
)

var sqlDataRules = Table{
	{ID: "sql.unique", Reason: ReasonAlreadyExists, Class: ClassPermanent, Match: sqlUnique.match()},
	{ID: "sql.foreign_key", Reason: ReasonForeignKey, Class: ClassPermanent, Match: sqlForeignKey.match()},
	{ID: "sql.data", Reason: ReasonRejected, Class: ClassPermanent, Match: sqlData.match()},
	// A missing permission has a SQLSTATE of class 42 too.
	{ID: "sql.statement", Reason: ReasonRejected, Class: ClassPermanent, Match: sqlStatement.match(sqlRights)},
}

var sqlServerRules = Table{
	// For too many connections MySQL returns the SQLSTATE 08004.
	{ID: "sql.overload", Reason: ReasonUnavailable, Class: ClassRetryable, Match: sqlOverload.match()},
	{ID: "sql.connection", Reason: ReasonConnection, Class: ClassRetryable,
		Match: anyOf(
			isAny(driver.ErrBadConn, sql.ErrConnDone), sqlConnection.match(), neverSent, invalidConnection)},
	{ID: "sql.contention", Reason: ReasonConflict, Class: ClassRetryable, Match: sqlContention.match()},
	{ID: "sql.read_only", Reason: ReasonReadOnly, Class: ClassRetryable, Match: sqlReadOnly.match()},
	{ID: "sql.cancelled", Reason: ReasonTimeout, Class: ClassRetryable, Match: sqlCancelled.match()},
}

var sqlRightsRules = Table{
	{ID: "sql.environment", Reason: ReasonEnvironment, Class: ClassRetryable, Match: sqlRights.match()},
}

// neverSent matches the errors of pgx for a call that did not reach the server.
func neverSent(_ context.Context, err error) bool {
	return has(err, func(e interface{ SafeToRetry() bool }) bool { return e.SafeToRetry() })
}

var plainText = reflect.TypeOf(errors.New(""))

// invalidConnection matches ErrInvalidConn of go-sql-driver/mysql. It can be
// recognized only by its text, which is compared whole and only for errors of
// this type.
func invalidConnection(_ context.Context, err error) bool {
	return has(err, func(e error) bool {
		return reflect.TypeOf(e) == plainText && e.Error() == "invalid connection"
	})
}
