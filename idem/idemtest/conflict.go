package idemtest

import "github.com/sqsafe/sqsafe/idem"

// other is a delivery whose payload has another hash.
func (b *bench) other(messageID, validation string) idem.Request {
	r := b.delivery(messageID)
	r.Validation = validation
	return r
}

var conflictCases = []testCase{
	{"another payload under the key conflicts with a held job", func(b *bench) {
		a := b.claim("m1")
		b.ask(b.other("m2", "test1:bbbb"), idem.AnswerConflict)
		b.pass(lease)
		b.ask(b.other("m2", "test1:bbbb"), idem.AnswerConflict)
		b.settle(a, b.complete())
	}},
	{"another payload under the key conflicts with a completed job", func(b *bench) {
		b.settle(b.claim("m1"), b.complete())
		b.ask(b.other("m2", "test1:bbbb"), idem.AnswerConflict)
		b.ask(b.delivery("m2"), idem.AnswerDuplicate)
	}},
	{"another payload under the key conflicts with a dead job", func(b *bench) {
		b.settle(b.die(), confirm())
		b.ask(b.other("m2", "test1:bbbb"), idem.AnswerConflict)
	}},
	{"a message does not conflict with itself", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		a := b.ask(b.other("m1", "test1:bbbb"), idem.AnswerAcquired)
		b.counts(a, 1, 1, 0)
		b.settle(a, b.complete())
		b.ask(b.other("m2", "test1:bbbb"), idem.AnswerDuplicate)
	}},
	{"hashes of two schemes do not conflict", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		a := b.ask(b.other("m2", "test2:aaaa"), idem.AnswerAcquired)
		b.settle(a, b.complete())
		b.ask(b.other("m3", "test1:cccc"), idem.AnswerDuplicate)
	}},
}
