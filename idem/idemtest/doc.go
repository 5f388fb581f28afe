// Package idemtest has what every [idem.Store] has to pass, and a store that
// fails as a test tells it.
//
// [Exercise] is a suite of cases for each answer and each write. It needs no
// clock: all times come with the requests, so that it runs in no time.
package idemtest
