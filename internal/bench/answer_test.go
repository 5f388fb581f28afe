package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	const sequence = 7
	e := shape{messages: 20, bodyBytes: 200, failEvery: 10}.event() // messages 9 and 19 fail
	failure := func(i int) string { return fmt.Sprintf(`{"itemIdentifier":%q}`, messageID(sequence, i)) }
	tests := []struct {
		name, answer string
		problem      string // part of the error; empty means none
	}{
		{"both", `{"batchItemFailures":[` + failure(9) + `,` + failure(19) + `]}`, ""},
		{"in another order", `{"batchItemFailures":[` + failure(19) + `,` + failure(9) + `]}`, ""},
		{"one left out", `{"batchItemFailures":[` + failure(9) + `]}`, "leaves out 1 of 2"},
		{"none", `{"batchItemFailures":[]}`, "leaves out 2 of 2"},
		{"one that did not fail", `{"batchItemFailures":[` + failure(8) + `]}`, "did not fail"},
		{"one twice", `{"batchItemFailures":[` + failure(9) + `,` + failure(9) + `]}`, "reported twice"},
		{"an id of another event", `{"batchItemFailures":[{"itemIdentifier":"` + emptyID + `"}]}`, emptyID},
		{"no response", `"ok"`, "not a batch response"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := e.check(sequence, []byte(test.answer))
			if test.problem == "" && err != nil {
				t.Error(err)
			}
			if test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("error %v, want one with %q", err, test.problem)
			}
		})
	}
}
