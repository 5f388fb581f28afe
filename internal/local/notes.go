package local

import (
	"fmt"
	"strconv"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// maxReceivesVariable tells a function the maxReceiveCount of its queue.
const maxReceivesVariable = "SQSAFE_MAX_RECEIVES"

// notes tell what works, but rarely as it was meant, and is not in the template:
// internal/check looks at that.
func notes(s *stack.Stack, v Variables) []string {
	var all []string
	for _, f := range s.Functions {
		maximum := v.environment(f, nil)[maxReceivesVariable]
		for _, e := range f.Events {
			queue, _ := s.Queue(e.Queue)
			if hidden := visibleAfter(e, f.Timeout, queue); hidden > 0 && e.Enabled {
				all = append(all, fmt.Sprintf("event %s of %s: its batching window and the Timeout are %v, above the "+
					"VisibilityTimeout of %s, %v; messages are hidden for %v, as Lambda does",
					e.Name, f.LogicalID, e.Window+f.Timeout, queue.LogicalID, queue.Visibility, hidden))
			}
			n := queue.MaxReceiveCount
			if maximum != f.Environment[maxReceivesVariable] && n > 0 && maximum != strconv.Itoa(n) {
				all = append(all, fmt.Sprintf("%s of %s is %s, and queue %s has the maxReceiveCount %d; make them the same",
					maxReceivesVariable, f.LogicalID, maximum, queue.LogicalID, n))
			}
		}
	}
	return all
}

// unread names the queues whose messages would keep a run from ever being idle.
func unread(s *stack.Stack) []string {
	if len(s.Functions) == 0 {
		return nil // then nothing waits for them
	}
	read := map[string]bool{}
	for _, q := range s.Queues {
		read[q.DeadLetterQueue] = true // dead letters are not waited for
	}
	for _, f := range s.Functions {
		for _, e := range f.Events {
			read[e.Queue] = read[e.Queue] || e.Enabled
		}
	}
	var all []string
	for _, q := range s.Queues {
		if !read[q.LogicalID] {
			all = append(all, fmt.Sprintf("nothing reads queue %s: --until-idle waits while it holds a message", q.LogicalID))
		}
	}
	return all
}

// unreported says why Lambda does not look at the answer of a function; empty where
// it does.
func unreported(f stack.Function, e stack.SQSEvent) string {
	if e.ReportBatchItemFailures || !e.Enabled {
		return ""
	}
	return fmt.Sprintf("event %s of %s has no FunctionResponseTypes: [ReportBatchItemFailures]", e.Name, f.LogicalID)
}
