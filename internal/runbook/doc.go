// Package runbook is a test only: every command of docs/RUNBOOK.md is run by the
// real AWS CLI against stand-ins that hold real dead letters, and what it prints
// is compared with what the runbook shows.
//
// The document itself is the test's script. A comment of the form
//
//	<!-- state: NAME -->
//
// begins with new queues and an empty ledger and brings them into the state of
// that name; it holds until the next one. A comment
//
//	<!-- then: NAME -->
//
// says what happens besides at that point. Both names are those of tables in the
// test. A block of "sh" is run in the shell of its state, after the blocks of
// <!-- setup -->, and a block of "text" or "json" behind it is what it prints;
// without one it prints nothing. A block of "sh aws-only" cannot be run here:
// the test checks that the CLI makes the calls of it that a table names.
//
// Ids, times, receipt handles and stacks are not compared, but an id that comes
// twice must do so in both. "go test ./internal/runbook -update" writes anew
// what blocks print. RUNBOOK_TOOLS names the folder of another AWS CLI, such as
// version 2, than the one that "make runbook-venv" installs.
package runbook
