// Package idemtest has what every idem.Store has to pass, and a store that fails as a test
// tells it.
//
//	func TestStore(t *testing.T) {
//		idemtest.Exercise(t, func(t *testing.T) idem.Store { return newStore(t) })
//	}
//
// It is for those who write a store of their own, and for tests of what happens while a store
// cannot be reached: [Faulty] wraps a store for that.
//
// # The suite
//
// [Exercise] has cases for each answer and each write. It needs no clock: all times come with
// the requests, so that it runs in no time.
//
// # Errors
//
// A case that fails is a failed subtest, which shows what the store answered and what it was
// to answer.
//
// # Concurrency
//
// The suite also makes concurrent calls, so run it with the race detector. [Faulty] is safe
// for concurrent use if its functions and its store are.
package idemtest
