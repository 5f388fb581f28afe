package local

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localreport"
	"github.com/sqsafe/sqsafe/metrics"
)

// output takes a line that a function has printed. Whatever it looks like, it is no
// event: a payload can be printed, too.
func (j *journal) output(function, line string) {
	j.write(Event{Kind: KindOutput, Function: function, Line: line})
}

// report takes a line that the library has written to its own pipe, to which nothing
// else can write. Outcomes become events, so that what is shown here and what is logged
// in the cloud are one.
func (j *journal) report(function, line string) {
	var fields struct {
		Event
		Message   string    `json:"message"`
		Timestamp time.Time `json:"timestamp"`
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		j.output(function, line)
		return
	}
	fields.Event.Time = fields.Timestamp
	switch fields.Message {
	case localreport.Hello:
		j.reporting.Store(function, true)
	case handler.LogOutcome:
		fields.Event.Kind, fields.Event.Function = KindOutcome, function
		j.write(fields.Event)
	case metrics.LogBatch: // the numbers of what is told one by one
	case handler.LogDeadLettered:
		// Else the letter's record has told, as it came into its queue.
		if _, bare := j.bare.LoadAndDelete(fields.Event.DeadLetterID); bare || j.foreign {
			j.buried(fields.Event)
		}
	default:
		j.output(function, line)
	}
}

// buried takes a function's word for a dead letter.
func (j *journal) buried(e Event) {
	e.Kind = KindDead
	for dead, sources := range j.deadLetters {
		if slices.Contains(sources, e.Queue) {
			e.DeadLetterQueue = dead
		}
	}
	j.write(e)
}
