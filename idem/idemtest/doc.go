// Package idemtest has what every [idem.Store] has to pass, and a store that
// fails as a test tells it.
//
// [Exercise] is a suite of cases for each answer and each write. [Model] walks
// random histories of several workers whose store, queue, clocks and processes
// fail. Neither needs a clock: all times come with the requests, so that they
// run in no time.
package idemtest
