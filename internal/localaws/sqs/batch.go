package sqs

import "regexp"

// maxEntries is the maximum number of entries in a batch (AWS limit).
const maxEntries = 10

var entryIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkEntries returns an error for a batch that is empty or too long, or whose
// ids are invalid or not distinct.
func checkEntries[E any](operation string, entries []E, id func(E) string) error {
	if len(entries) == 0 {
		return refusal("EmptyBatchRequest", "There should be at least one %sRequestEntry in the request.", operation)
	}
	if len(entries) > maxEntries {
		return refusal("TooManyEntriesInBatchRequest",
			"Maximum number of entries per request are %d. You have sent %d.", maxEntries, len(entries))
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if !entryIDs.MatchString(id(e)) {
			return refusal("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, "+
				"hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id(e)] {
			return refusal("BatchEntryIdsNotDistinct", "Id %s repeated.", id(e))
		}
		seen[id(e)] = true
	}
	return nil
}

// batchSuccess is a successful entry of a batch.
type batchSuccess struct {
	ID string `json:"Id"`
}

type batchOutput struct {
	Successful []batchSuccess
	Failed     []batchFailure `json:",omitempty"`
}

// each executes the entries of a batch one by one.
func each[E any](entries []E, id func(E) string, do func(E) error) *batchOutput {
	out := &batchOutput{Successful: []batchSuccess{}}
	for _, e := range entries {
		if err := do(e); err != nil {
			out.Failed = append(out.Failed, failure(id(e), err))
			continue
		}
		out.Successful = append(out.Successful, batchSuccess{id(e)})
	}
	return out
}
