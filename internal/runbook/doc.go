// Package runbook contains only tests: the real AWS CLI runs every command of
// docs/RUNBOOK.md against emulators that hold real dead letters, and the output
// is compared with what the runbook shows.
//
// The document itself is the test's script. A comment of the form
//
//	<!-- state: NAME -->
//
// starts with new queues and an empty ledger and brings them into the state of
// that name, which lasts until the next such comment. A comment
//
//	<!-- then: NAME -->
//
// names an event that happens at that point. Both names are keys of tables in
// the test. A block of "sh" is run in the shell of its state, after the blocks
// of <!-- setup -->. A block of "text" or "json" after it is its expected
// output, in which a line "…" stands for any lines; without one it must print
// nothing. A block of "sh aws-only" cannot be
// run here: the test checks that the CLI makes the calls that a table lists for
// it.
//
// Ids, times, receipt handles and stacks are not compared, but an id that
// occurs twice must occur twice in both. "go test ./internal/runbook -update"
// writes the output of all blocks into the document. RUNBOOK_TOOLS names the
// folder of another AWS CLI, such as version 2, to use instead of the one that
// "make runbook-venv" installs.
package runbook
