// Package simulation walks random histories of jobs over a store of package idem. It
// is for tests only.
//
// [Model] has one job and all that may happen to it, and [ModelFleet] has processes
// with several jobs. Both drive the real processor and ledger in virtual time, and
// hold what they see against promises of their own.
package simulation
