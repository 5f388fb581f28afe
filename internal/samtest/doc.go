// Package samtest invokes the functions of the repository's template with the
// files of events/ and compares what they answer. It does so by the local
// Runtime API, and where the SAM CLI is at hand (make sam-test) by that as
// well, which also checks, translates and builds the template. All of it is
// tests.
package samtest
