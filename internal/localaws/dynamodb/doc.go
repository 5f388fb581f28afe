// Package dynamodb is a strict in-memory emulator of DynamoDB, for tests and
// for running a stack on one machine. It responds like AWS: conditional writes
// are atomic, numbers are exact, and invalid requests get AWS's errors.
//
// A [Service] answers one JSON request at a time, with [Service.Operate]. It
// has the operations on tables, items, batches, transactions, queries and
// scans. It does not have the legacy parameters that expressions have replaced,
// PartiQL, streams or backups. What is missing is refused with an error that
// names it: an operation with UnknownOperationException, a parameter with
// ValidationException.
//
// Where AWS guarantees nothing, the emulator takes the choice that finds wrong
// assumptions: a scan returns partitions in an arbitrary order, and an item
// whose time to live has expired stays. A table is active at the first call
// after CreateTable.
package dynamodb
