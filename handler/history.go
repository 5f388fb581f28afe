package handler

// Attempt is one failed run of a job. Its JSON is part of what the ledger and
// dead letters keep: members may be added, and what is there stays as it is.
type Attempt struct {
	// Number counts the job's failed runs from 1, those before a death included.
	Number int `json:"n"`
	// Start and End are when the run began and failed.
	Start Timestamp `json:"start,omitzero"`
	End   Timestamp `json:"end,omitzero"`
	// Class, Reason and Rule are the decision on its error.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text, cut to 256 bytes.
	Message string `json:"message,omitempty"`
	// DelaySeconds is the wait chosen after it, in seconds; 0 for the last run.
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	// RequestID is the invocation's.
	RequestID string `json:"requestId,omitempty"`
}

// historyKept is how many attempts History keeps at its start, and at its end.
const historyKept = 9

// History is the failed runs of a job in order: the first nine and the last
// nine of them.
type History struct {
	Attempts []Attempt `json:"attempts,omitempty"`
	// Dropped is how many were left out between the first and the last nine.
	Dropped int `json:"dropped,omitempty"`
}

// Len is the number of failed runs, those left out included.
func (h History) Len() int { return len(h.Attempts) + h.Dropped }

// Append gives the history with one more run. The receiver stays as it is.
func (h History) Append(a Attempt) History {
	attempts := make([]Attempt, 0, len(h.Attempts)+1)
	attempts = append(append(attempts, h.Attempts...), a)
	if len(attempts) > 2*historyKept {
		attempts = append(attempts[:historyKept], attempts[historyKept+1:]...)
		h.Dropped++
	}
	return History{Attempts: attempts, Dropped: h.Dropped}
}
