// Command bench compares a function made with this module to one made with
// aws-lambda-go alone, by the processor time that they use for a batch.
//
// Both are built with the flags of a deployment, run in their own processes
// behind a local Runtime API, and get the same events in turn. The results are
// medians of the ratio within a window. Ratios are about the same on other
// machines and on busy ones. See docs/performance.md.
//
//	go run ./internal/bench            # all shapes, a Markdown table
//	go run ./internal/bench -quick     # half a minute, fails over the limit
//	go run ./internal/bench -noise     # bare against itself
package main
