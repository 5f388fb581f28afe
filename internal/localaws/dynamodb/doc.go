// Package dynamodb is a strict in-memory emulator of DynamoDB, for tests and
// for running a stack on one machine. It responds like AWS: conditional writes
// are atomic, numbers are exact, and invalid requests get AWS's errors.
//
// A [Service] answers one JSON request at a time, with [Service.Operate]. It
// has the operations on tables, items, batches, transactions, queries and
// scans, with expressions and with the parameters that expressions have
// replaced, tags, and consumed capacity. It does not have PartiQL, streams,
// global tables, and restoring of tables. What is missing is refused with an
// error that names it: an operation with UnknownOperationException, a parameter
// with ValidationException. Settings that change no answer, such as encryption,
// are described and do nothing.
//
// A request is checked in the order in which AWS does it: the types of its
// members and their rules (package shape), which parameters go together, the
// values and the expressions, the table, and what the table says of them.
//
// Each table and index is kept in the order in which it is read (package
// keyspace) and has a lock of its own: what a request costs depends on what it
// reads and writes, not on the size of the table or on other tables.
//
// Where AWS guarantees nothing, the emulator takes the choice that finds wrong
// assumptions: an item whose time to live has expired stays. A table is active
// at the first call after CreateTable or UpdateTable, and gone at the first one
// after DeleteTable. A scan returns partitions in the order of the hash that AWS
// was recorded to use.
package dynamodb
