// Package idemtest has the suite that every [idem.Store] has to pass, and a
// store that fails as a test tells it.
//
// The suite needs no clock: all times come with the requests, so that it runs
// in no time against a store in memory and against one far away.
package idemtest
