// Package scaffold writes the folder that sqsafe init makes: a function with a
// test, a SAM template with what a job needs, and a Makefile that runs them.
package scaffold
