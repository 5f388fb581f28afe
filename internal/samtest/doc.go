// Package samtest contains only tests. It invokes the functions of the
// repository's template with the files of events/ and compares their answers.
// It uses the local Runtime API, and if the SAM CLI is installed (make
// sam-test) that as well, which also checks, translates and builds the
// template.
package samtest
