// Package deadletters knows dead-letter queues: it reads a queue without losing a
// letter or hiding one longer than needed, says what each letter is, and groups and
// selects letters. Packages below it replay and archive them.
//
// A [Queue] is one dead-letter queue. [Queue.Read] receives its messages and returns a
// [Hold], which gives them back, extends them or deletes them. [Decode] makes a [Letter]
// of a message: of one that sqsafe sent, one that SQS moved, or one of another service.
// [Join] adds what the ledger has. [Filter] and [Groups] work on letters alone.
//
// Functions do not link this package. The command line and the page are built on it.
package deadletters
