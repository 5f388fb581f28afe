package costs

// What the event source calls: a receive for a batch, and a deletion if anything was
// acknowledged.
const (
	received = 1.0 / Batch
	deleted  = 1.0 / Batch
	once     = 1.0 / Batch // a call for the whole batch
)

// Without is sqsafe without a ledger.
func Without() Way {
	done := Job{Source: received + deleted, Processor: 0.31e-3}
	failed := Job{Own: once, Source: received, Processor: 0.55e-3, RoundTrips: 1, Logged: 5600}
	dead := failed
	dead.Source, dead.Logged = received+deleted, 11_200
	return Way{Name: "sqsafe without ledger and metrics", Done: done, Duplicate: done, Retry: failed, Dead: dead}
}

// Ledger is sqsafe.Start.
func Ledger() Way {
	return Way{
		Name: "sqsafe.Start",
		Done: Job{
			Units: 2, Calls: 2, Source: received + deleted, Processor: 3.9e-3, RoundTrips: 2, Logged: 900, Stored: 280,
		},
		Duplicate: Job{
			Units: 1, Calls: 1, Source: received + deleted, Processor: 2.7e-3, RoundTrips: 1, Logged: 3600,
		},
		Retry: Job{
			Units: 2, Calls: 2, Own: once, Source: received, Processor: 6e-3, RoundTrips: 3, Logged: 5600,
		},
		// The item of a dead job has the failure record: more than 1 KB.
		Dead: Job{
			Units: 5, Calls: 3, Own: once, Source: received + deleted, Processor: 8.3e-3, RoundTrips: 4, Logged: 11_200,
			Stored: 1300,
		},
	}
}

// ByHand is two calls of the SDK for each message, ten messages at a time.
func ByHand() Way {
	return poisoned(Way{
		Name: "two calls by hand",
		Done: Job{
			Units: 2, Calls: 2, Source: received + deleted, Processor: 3.4e-3, RoundTrips: 2, Stored: 82,
		},
		Duplicate: Job{Units: 1, Calls: 1, Source: received + deleted, Processor: 2.2e-3, RoundTrips: 1},
		Retry:     Job{Units: 2, Calls: 2, Source: received, Processor: 3.5e-3, RoundTrips: 2},
	})
}

// Python is Powertools for AWS Lambda (Python) with idempotency: one message after the other.
func Python() Way {
	return poisoned(Way{
		Name: "Powertools for Python",
		Done: Job{
			Units: 2, Calls: 2, Source: received + deleted, Processor: 29e-3, RoundTrips: 20,
		},
		Duplicate: Job{Units: 1, Calls: 1, Source: received + deleted, Processor: 18e-3, RoundTrips: 10},
		Retry:     Job{Units: 2, Calls: 2, Source: received, Processor: 28e-3, RoundTrips: 20},
	})
}

// TypeScript is Powertools for AWS Lambda (TypeScript) with idempotency: all messages at once.
func TypeScript() Way {
	return poisoned(Way{
		Name: "Powertools for TypeScript",
		Done: Job{
			Units: 2, Calls: 2, Source: received + deleted, Processor: 29e-3, RoundTrips: 2,
		},
		Duplicate: Job{Units: 1, Calls: 1, Source: received + deleted, Processor: 16e-3, RoundTrips: 1},
		Retry:     Job{Units: 2, Calls: 2, Source: received, Processor: 20e-3, RoundTrips: 2},
	})
}

// poisoned completes a way that dead-letters nothing itself: a job that fails each time
// runs until the queue moves it.
func poisoned(w Way) Way {
	w.Dead = w.Retry.times(PoisonReceives)
	return w
}

// Ways are all that docs/costs.md compares.
func Ways() []Way { return []Way{Without(), Ledger(), ByHand(), Python(), TypeScript()} }
