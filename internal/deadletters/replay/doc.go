// Package replay sends dead letters back, in their order and without losing one.
//
// [NewPlan] is a pure function: it says for each letter where it goes, in which order, and
// what the ledger says will happen. [Run] carries a plan out: a letter is sent, confirmed
// by message id and checksums, and only then deleted. A [Journal] has each step on disk
// before it is made, so that a run that was killed can be resumed. A [Lock] keeps a second
// replay of the queue away.
package replay
