package system

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// told is what SQS has said last about a message.
type told struct {
	done bool
	at   time.Duration
}

const (
	logNotHidden  = "visibility timeout not changed"
	logNotDeleted = "message not deleted"
	// justNow is how long after an answer it is surely the one that a line is about.
	justNow = 50 * time.Millisecond
)

// operationOf is what a line about a failure is about.
var operationOf = map[string]string{logNotHidden: "hide", logNotDeleted: "delete"}

// asked forgets what was said about messages, since a call asks again.
func (j *judge) asked(p *process, c *call) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for _, name := range c.subjects {
		delete(j.said, p.name+" "+c.operation+" "+name)
	}
}

// refused takes the entries that SQS itself refuses into the verdicts.
func (c *call) refused(answer []byte) {
	if !bytes.Contains(answer, []byte(`"Failed":[{`)) {
		return
	}
	var out struct {
		Failed []struct {
			ID string `json:"Id"`
		}
	}
	_ = json.Unmarshal(answer, &out)
	for _, e := range out.Failed {
		c.verdicts[e.ID] = false
	}
}

// answered takes in the answer to a batch call, which the process gets. The world is locked.
func (j *judge) answered(p *process, c *call) {
	for i, id := range c.entries {
		if c.verdicts != nil {
			j.said[p.name+" "+c.operation+" "+c.subjects[i]] = told{c.verdicts[id], j.w.now()}
		}
	}
}

// checkAnswer checks that what a line says has failed is not what SQS has just confirmed. The
// world is locked.
func (j *judge) checkAnswer(p *process, line, name string) {
	operation := operationOf[line]
	if operation == "" || p.slots > 0 || j.w.on[duplicates] || j.w.on[hangs] || j.w.on[hasty] {
		return
	}
	if last, ok := j.said[p.name+" "+operation+" "+name]; ok && last.done && j.w.now()-last.at < justNow {
		j.w.breaksLocked("truth", []string{keyOf(name)}, "%s of %s has failed, says %s, and SQS has confirmed it",
			operation, name, p.name)
	}
}

// checkFailures checks that a report counts the messages that SQS did not hide. The world is
// locked.
func (j *judge) checkFailures(p *process, a *account, r *handler.Report) {
	if p.slots > 0 || r.Unsettled > 0 || j.w.on[duplicates] || j.w.on[hangs] || j.w.on[hasty] {
		return
	}
	for id := range a.ids() {
		name := j.w.names[id]
		if last, ok := j.said[p.name+" hide "+name]; ok && !last.done && j.w.now()-last.at < justNow {
			j.w.breaksLocked("truth", []string{keyOf(name)}, "SQS did not hide %s, and the report counts no failure", name)
		}
	}
}

// checkLetterID checks that the id in a line is that of the message's letter. The world is
// locked.
func (j *judge) checkLetterID(fields map[string]string) {
	name := j.w.names[fields["messageId"]]
	for _, l := range j.letters {
		if l.id == fields["deadLetterId"] && keyOf(l.name) != keyOf(name) {
			j.w.breaksLocked("truth", []string{keyOf(name), keyOf(l.name)}, "the letter of %s is said to be that of %s",
				l.name, name)
		}
	}
}
