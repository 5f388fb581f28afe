package handlertest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

// Whatever handlers do, every job of a queue with a ledger ends once: done or dead.
func TestEveryJobEndsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := protected()
		q.Name = rapid.SampledFrom([]string{"jobs", "stock.fifo"}).Draw(rt, "queue")
		q.BatchSize = rapid.IntRange(1, 10).Draw(rt, "batch size")
		q.Options.Concurrency = rapid.IntRange(1, 4).Draw(rt, "concurrency")
		messages := rapid.SliceOfN(rapid.Custom(anyMessage), 1, 8).Draw(rt, "messages")
		report := q.Run(t, messages...)
		for i, job := range report.Jobs {
			done, dead := timesDone(job), job.Letter != nil
			if done > 1 || dead == (done == 1) || job.Expired || job.Redriven {
				rt.Fatalf("%s (%s) is done %d times, dead %v\n%s", job.ID, messages[i].Body, done, dead, report)
			}
		}
		if strings.HasSuffix(q.Name, ".fifo") {
			checkOrder(rt, messages, report)
		}
	})
}

// timesDone counts the deliveries that were done. One whose process was killed
// may have been, so that it counts where a later one is its duplicate.
func timesDone(job *handlertest.JobReport) int {
	done := 0
	for i, o := range job.Outcomes() {
		before := job.Outcomes()[:i]
		switch {
		case o == handler.OutcomeDone:
			done++
		case o != handler.OutcomeDuplicate || done > 0 || job.Letter != nil:
		case slices.Contains(before, handler.OutcomeNone):
			done++
		}
	}
	return done
}

func anyMessage(rt *rapid.T) handlertest.Message {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"retry", "ok", "slow", "kill", "panic"}), 0, 3).Draw(rt, "words")
	words = append(words, rapid.SampledFrom([]string{"ok", "bad"}).Draw(rt, "last word"))
	return handlertest.Message{
		Body:  strings.Join(words, " "),
		Group: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "group"),
		After: time.Duration(rapid.IntRange(0, 3).Draw(rt, "after")) * time.Second,
	}
}

// checkOrder demands that no message of a group runs before those sent earlier
// have run for the last time.
func checkOrder(rt *rapid.T, messages []handlertest.Message, report *handlertest.RunReport) {
	for _, group := range []string{"a", "b"} {
		var sent []int
		for i, m := range messages {
			if m.Group == group {
				sent = append(sent, i)
			}
		}
		slices.SortStableFunc(sent, func(x, y int) int { return int(messages[x].After - messages[y].After) })
		last := -1
		for _, i := range sent {
			id := fmt.Sprintf("m%d", i+1)
			if first := slices.Index(report.RunOrder, id); first >= 0 && first < last {
				rt.Fatalf("%s ran too early, order %v\n%s", id, report.RunOrder, report)
			}
			for n, ran := range report.RunOrder {
				if ran == id {
					last = max(last, n)
				}
			}
		}
	}
}
