package local

import "time"

// KindSummary is the kind of the last line.
const KindSummary Kind = "summary"

// Summary accounts for all jobs of a run.
type Summary struct {
	Kind Kind      `json:"event"`
	Time time.Time `json:"time"`
	// Jobs is how many messages were sent to queues that are no dead-letter
	// queues. In another engine's queues those count that were sent from here or
	// received.
	Jobs int `json:"jobs"`
	// Done are the jobs that were acknowledged as done.
	Done int `json:"done"`
	// Duplicates are the messages that were recognised as copies of a settled job.
	Duplicates int `json:"duplicates"`
	// Filtered are the messages that no filter let pass.
	Filtered int `json:"filtered,omitempty"`
	// Dead counts dead letters by reason.
	Dead map[string]int `json:"dead"`
	// Letters counts the messages that came into dead-letter queues which a function
	// reads, and LettersDone those that it acknowledged. Those that died again, were
	// lost or are left count in Dead, Lost and Left as well.
	Letters     int `json:"letters,omitempty"`
	LettersDone int `json:"lettersDone,omitempty"`
	// Attempts is how often jobs were run, as far as functions tell.
	Attempts int `json:"attempts"`
	// StoreDown is how often a job waited because the ledger could not be asked,
	// and Unprotected how often one ran and was done all the same.
	StoreDown   int `json:"storeDown,omitempty"`
	Unprotected int `json:"unprotected,omitempty"`
	// Crashes is how often an invocation ended with its process.
	Crashes int `json:"crashes"`
	// Lost are messages that are in no queue although nothing says that they
	// were done, recognised or dead-lettered.
	Lost int `json:"lost"`
	// LostBecause is why messages were lost, where the template says it.
	LostBecause string `json:"lostBecause,omitempty"`
	// Left are the messages that are still in their queue.
	Left int `json:"left"`
}
