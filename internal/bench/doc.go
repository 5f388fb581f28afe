// Command bench compares a function made with this module to one made with
// aws-lambda-go alone, by the processor time that they take for a batch.
//
// Both are built as they are deployed, run as processes of their own behind a
// local Runtime API, and get the same events in turns. Reported are medians of
// the ratio within a window, which are about the same on other machines, and on
// busy ones. See docs/performance.md.
//
//	go run ./internal/bench            # all shapes, a Markdown table
//	go run ./internal/bench -quick     # half a minute, fails over the limit
//	go run ./internal/bench -noise     # bare against itself
package main
