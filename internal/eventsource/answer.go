package eventsource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// verdict is what a function's response says about its batch.
type verdict struct {
	failed map[string]bool // ids of the messages that failed and stay in the queue
	// malformed says which rule the response breaks; then all messages stay in
	// the queue.
	malformed string
	// unnamed lists the members that a response has instead of
	// batchItemFailures.
	unnamed string
}

// read applies the rules of partial batch responses. Member names must match
// exactly, so the response is not decoded into a struct: encoding/json ignores
// case.
func read(answer []byte, batch []delivery) verdict {
	answer = bytes.Trim(answer, " \t\r\n")
	switch string(answer) {
	case "", "null", "[]", `""`:
		return verdict{}
	}
	if !json.Valid(answer) {
		return malformed("the answer is not JSON")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil {
		return malformed("the answer is %s, not an object", kind(answer))
	}
	list, ok := members["batchItemFailures"]
	if !ok {
		return verdict{unnamed: unknownMembers(members)}
	}
	var entries []json.RawMessage
	if json.Unmarshal(list, &entries) != nil {
		return malformed("batchItemFailures is %s, not a list", kind(list))
	}
	return readEntries(entries, batch)
}

func readEntries(entries []json.RawMessage, batch []delivery) verdict {
	known := make(map[string]bool, len(batch))
	for _, d := range batch {
		known[d.ID] = true
	}
	failed := make(map[string]bool, len(entries))
	for i, entry := range entries {
		id, problem := readEntry(entry)
		switch {
		case problem != "":
			return malformed("batchItemFailures[%d] %s", i, problem)
		case !known[id]:
			return malformed("batchItemFailures[%d] names %.80q, which is not in the batch", i, id)
		}
		failed[id] = true
	}
	return verdict{failed: failed}
}

func readEntry(entry json.RawMessage) (id, problem string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(entry, &members) != nil || members == nil {
		return "", fmt.Sprintf("is %s, not an object", kind(entry))
	}
	value, ok := members["itemIdentifier"]
	switch {
	case !ok:
		return "", "has no itemIdentifier"
	case kind(value) != "a string":
		return "", fmt.Sprintf("has %s as itemIdentifier, not a string", kind(value))
	}
	_ = json.Unmarshal(value, &id) // cannot fail: a string of a valid document
	if id == "" {
		return "", "has an empty itemIdentifier"
	}
	return id, ""
}

func malformed(form string, args ...any) verdict {
	return verdict{malformed: fmt.Sprintf(form, args...)}
}

func unknownMembers(members map[string]json.RawMessage) string {
	if len(members) == 0 {
		return ""
	}
	for name := range members {
		if strings.EqualFold(name, "batchItemFailures") {
			return fmt.Sprintf("the answer has %q where batchItemFailures belongs", name)
		}
	}
	return "the answer is an object without batchItemFailures"
}

// kind returns the name of a JSON value's type.
func kind(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
