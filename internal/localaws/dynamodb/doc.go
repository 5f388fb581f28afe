// Package dynamodb is a strict stand-in for DynamoDB, for tests and for running a
// stack on one machine. It keeps tables in memory and answers as AWS does: with
// conditional writes that are atomic, exact numbers, and AWS's refusals.
//
// A [Service] is asked through [Service.Operate], one JSON request at a time. It has
// the operations on tables, items, batches, transactions, queries and scans, but not
// the legacy parameters that expressions have replaced, PartiQL, streams or backups.
// What it does not have it refuses by name: an operation with
// UnknownOperationException, a member of a request with ValidationException.
//
// Where the stand-in is free to choose it does as a program has to expect of AWS:
// a scan returns partitions in an order of its own, and an item whose time to live
// is over stays. A table is ready with the first call after CreateTable.
package dynamodb
