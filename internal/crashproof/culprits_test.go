//go:build unix

package crashproof_test

// culprit is a kind of job that ends its process, with its expected result.
type culprit struct {
	name string
	job  job
	// receives is the queue's maxReceiveCount.
	receives int
	// in lists the settings in which it is tested.
	in []setting

	// lost is how many processes it ends; status is how they end, and says is a
	// part of the output of each.
	lost         int
	status, says string
	// kills: the process does not wait for the other jobs.
	kills bool
	ends  jobResult
}

// How processes end, as package os describes it.
const (
	exit0, exit1, exit2, exit3 = "exit status 0", "exit status 1", "exit status 2", "exit status 3"
	killed                     = "signal: killed"
)

var culprits = []culprit{
	marks("panic", "panic").saying("panic: on purpose").at("main.throw").only(every),
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

	refused("panic in UnmarshalJSON", job{Decoding: "panic"}).at("main.(*job).UnmarshalJSON"),
	refused("panic in Validate", job{Validating: "panic"}).at("main.(*job).Validate"),
	undecodable("exit in UnmarshalJSON", job{Decoding: "exit 3"}, exit3),
	undecodable("overflow in Validate", job{Validating: "stack overflow"}, exit2).saying("stack overflow"),
}

// abandoned is a word of the log line about a handler that does not return.
const abandoned = "abandoned"

// many is a maxReceiveCount that is never reached, unless only SQS can stop the
// job.
const many = 20

// crashLoop is the result after a number of calls. The ledger has always
// counted two crashes: those that the process recorded at its end, or those
// that were recorded before the job ran alone.
func crashLoop(calls int) jobResult {
	return jobResult{
		Calls: calls, Effects: 1,
		Ledger: "DEAD crashes 2 confirmed", Dead: "permanent crash_loop attempts 0",
	}
}

// marks returns a culprit whose crash the process can still record: two crashes
// are enough.
func marks(name, end string) culprit {
	return culprit{
		name: name, job: job{Running: end}, receives: many, in: most,
		lost: 2, status: exit1, ends: crashLoop(2),
	}
}

// kills returns a culprit whose process has no time to record anything: after
// the first crash it is only a suspect.
func kills(name, end, status string) culprit {
	return culprit{
		name: name, job: job{Running: end}, receives: many, in: most,
		lost: 3, status: status, kills: true, ends: crashLoop(3),
	}
}

// refused returns a culprit that fails before it is claimed. It ends no
// process.
func refused(name string, j job) culprit {
	return culprit{
		name: name, job: j, receives: many, in: most,
		ends: jobResult{Dead: "permanent panic attempts 0"},
	}
}

// undecodable returns a culprit that only SQS's maxReceiveCount can stop.
func undecodable(name string, j job, status string) culprit {
	const receives = 4
	return culprit{
		name: name, job: j, receives: receives, in: undisturbed,
		lost: receives, status: status, kills: true, ends: jobResult{Dead: "no record"},
	}
}

func (c culprit) saying(text string) culprit {
	c.says = text
	return c
}

// at returns a culprit whose dead letter has a stack with that function.
func (c culprit) at(function string) culprit {
	c.ends.Stack = function
	return c
}

// only returns a culprit that is tested in other settings.
func (c culprit) only(in []setting) culprit {
	c.in = in
	return c
}
