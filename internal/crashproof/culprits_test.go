//go:build unix

package crashproof_test

// culprit is a kind of job that ends its process, and how it ends itself.
type culprit struct {
	name string
	job  job
	// receives is the queue's maxReceiveCount.
	receives int
	// in are the settings that it is tried in.
	in []setting

	// lost is how many processes it takes with it, status how these end, and says
	// a part of what each writes.
	lost         int
	status, says string
	// kills: what runs beside it is not waited for.
	kills bool
	ends  jobResult
	// takesAlong: what is in its batch may end as it does in the queue, though it is
	// done. How many processes that takes is not counted.
	takesAlong bool
}

// How processes end, in the words of package os.
const (
	exit0, exit1, exit2, exit3 = "exit status 0", "exit status 1", "exit status 2", "exit status 3"
	killed                     = "signal: killed"
)

var culprits = []culprit{
	marks("panic", "panic").saying("panic: on purpose").at("main.throw").only(append(othersHang, every...)),
	marks("panic in handler.Go", "handler.Go panic").saying("panic: on purpose").at("main.throw"),
	marks("ignored context", "ignore").saying(abandoned).only(every),
	marks("blocked system call", "block in read").saying(abandoned),
	marks("busy loop", "spin").saying(abandoned).only(few),

	kills("panic in a goroutine", "goroutine panic", exit2).saying("panic: on purpose"),
	kills("exit 0", "exit 0", exit0),
	kills("exit 3", "exit 3", exit3).only(every),
	kills("out of memory", "out of memory", exit2).saying("out of memory"),
	kills("stack overflow", "stack overflow", exit2).saying("stack overflow"),
	kills("concurrent map writes", "concurrent writes", exit2).saying("concurrent map writes"),
	kills("frozen process", "freeze", killed),
	kills("SIGKILL", "kill", killed),
	atOnce("exit before any call", "exit 3", exit3).only(behind),
	atOnce("SIGKILL before any call", "kill", killed).only(behind),

	refused("panic in UnmarshalJSON", job{Decoding: "panic"}).at("main.(*job).UnmarshalJSON"),
	refused("panic in Validate", job{Validating: "panic"}).at("main.(*job).Validate"),
	undecodable("exit in UnmarshalJSON", job{Decoding: "exit 3"}, exit3),
	undecodable("overflow in Validate", job{Validating: "stack overflow"}, exit2).saying("stack overflow"),
}

// unrecorded is what is said of a dead letter that SQS has moved.
const unrecorded = "no record"

// abandoned is what is said of a handler that does not return.
const abandoned = "abandoned"

// many is more receives than any end but SQS's own takes.
const many = 20

// crashLoop is the end after a number of calls. The ledger has counted two
// crashes whatever the number: marks of the process itself, or of its lone runs
// before they began.
func crashLoop(calls int) jobResult {
	return jobResult{
		Calls: calls, Effects: min(calls, 1),
		Ledger: "DEAD crashes 2 confirmed", Dead: "permanent crash_loop attempts 0",
	}
}

// marks is a culprit whose crash the process can still mark: two are enough.
func marks(name, end string) culprit {
	return culprit{
		name: name, job: job{Running: end}, receives: many, in: most,
		lost: 2, status: exit1, ends: crashLoop(2),
	}
}

// kills is a culprit whose process has no time to mark anything: two deaths make it a
// suspect, and two more, alone in the process, a crash loop.
func kills(name, end, status string) culprit {
	return culprit{
		name: name, job: job{Running: end}, receives: many, in: most,
		lost: 4, status: status, kills: true, ends: crashLoop(4),
	}
}

// atOnce is one that does not even call the provider: what ran before it may still be
// unsettled when it starts.
func atOnce(name, end, status string) culprit {
	c := kills(name, end, status)
	c.job.Silent, c.ends = true, crashLoop(0)
	return c
}

// refused is a culprit that never gets as far as a claim, and harms nobody.
func refused(name string, j job) culprit {
	return culprit{
		name: name, job: j, receives: many, in: most,
		ends: jobResult{Dead: "permanent panic attempts 0"},
	}
}

// undecodable is a culprit that only SQS can stop. What comes with it in one batch each
// time is done in the end, but never acknowledged, so that SQS moves it as well.
func undecodable(name string, j job, status string) culprit {
	return culprit{
		name: name, job: j, receives: times.receives, in: times.undecodable,
		status: status, kills: true, ends: jobResult{Dead: unrecorded}, takesAlong: true,
	}
}

func (c culprit) saying(text string) culprit {
	c.says = text
	return c
}

// at is a culprit whose letter has a stack with that function.
func (c culprit) at(function string) culprit {
	c.ends.Stack = function
	return c
}

// only tries a culprit in other settings.
func (c culprit) only(in []setting) culprit {
	c.in = in
	return c
}
