// Command mutants shows that the tests can fail: it puts small faults into the code, one
// at a time, and runs the test that must find each.
//
// The faults are in the folder faults, with the text that is replaced and what must
// catch them. They are put into a copy of the module in .build/mutants, never into the
// module itself. The list is also the table of docs/guarantees.md.
package main
