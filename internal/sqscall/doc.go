// Package sqscall has what the packages that call SQS share: checks of what a
// client is made of, and batch calls that ask again for failed entries.
package sqscall
