package check

import "strings"

// budget is what a function of sqsafe grants a job.
type budget struct {
	attempts int
	// schedule is how long all attempts with their waits take, in seconds, without
	// the runs themselves.
	schedule int
	known    bool
}

// Defaults of sqsafe; see docs/backoff.md.
const (
	exponentialAttempts = 8
	steppedAttempts     = 4
	longestWait         = 300
	// jitter is added to each wait, in percent.
	exponentialJitter = 20
	steppedJitter     = 10
)

var steps = []int{60, 300, 900}

// budgetOf reads the variables of a function.
func budgetOf(f *resource) budget {
	profile, given := variables(f).get("SQSAFE_BACKOFF"), variables(f).get("SQSAFE_MAX_ATTEMPTS").number(0)
	if !given.known || !profile.absent() && !profile.known() {
		return budget{}
	}
	b := budget{attempts: exponentialAttempts, known: true}
	stepped := strings.EqualFold(profile.text, "stepped")
	if stepped {
		b.attempts = steppedAttempts
	}
	if given.n > 0 {
		b.attempts = min(given.n, 1000)
	}
	wait := 1
	for i := range b.attempts - 1 {
		if stepped {
			b.schedule += steps[min(i, len(steps)-1)] * (100 + steppedJitter) / 100
			continue
		}
		b.schedule += wait * (100 + exponentialJitter) / 100
		wait = min(2*wait, longestWait)
	}
	return b
}
