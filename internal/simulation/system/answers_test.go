package system

import (
	"bytes"
	"encoding/json"
	"strings"
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
	// refusedEntry begins the error of an entry that SQS has answered.
	refusedEntry = "SQS refused the entry"
	// justNow is how long after an answer it is surely the one that a line is about.
	justNow = 50 * time.Millisecond
)

// operationOf is what a line about a failure is about.
var operationOf = map[string]string{logNotHidden: "hide", logNotDeleted: "delete"}

// receiveKey names a receive of a message.
func receiveKey(id, count string) string { return id + " #" + count }

// handles takes in the receipt handles of messages that were received.
func (j *judge) handles(messages []map[string]any) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for _, m := range messages {
		attributes, _ := m["Attributes"].(map[string]any)
		count, _ := attributes["ApproximateReceiveCount"].(string)
		id, _ := m["MessageId"].(string)
		receipt, _ := m["ReceiptHandle"].(string)
		j.receipts[receipt] = receiveKey(id, count)
	}
}

// receiveOf names the receive of a receipt handle.
func (j *judge) receiveOf(receipt string) string {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	return j.receipts[receipt]
}

// asked forgets what was said about messages, since a call asks again.
func (j *judge) asked(p *process, c *call) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for _, receive := range c.receives {
		delete(j.said, p.name+" "+c.operation+" "+receive)
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
	if c.verdicts == nil {
		return
	}
	for i, receive := range c.receives {
		j.said[p.name+" "+c.operation+" "+receive] = told{c.verdicts[c.entries[i]], j.w.now()}
	}
}

// checkAnswer checks that what a line says has failed is not what SQS has just confirmed. The
// world is locked.
func (j *judge) checkAnswer(p *process, line string, fields map[string]string) {
	operation := operationOf[line]
	if operation == "" || !strings.HasPrefix(fields["error"], refusedEntry) {
		return // of a call without an answer, what was said before is of another one
	}
	receive := receiveKey(fields["messageId"], fields["receiveCount"])
	if last, ok := j.said[p.name+" "+operation+" "+receive]; ok && last.done && j.w.now()-last.at < justNow {
		name := j.w.names[fields["messageId"]]
		j.w.breaksLocked("truth", []string{keyOf(name)}, "%s of %s has failed, says %s, and SQS has confirmed it",
			operation, name, p.name)
	}
}

// checkFailures checks that a report counts the messages that SQS did not hide. The world is
// locked.
func (j *judge) checkFailures(p *process, a *account, r *handler.Report) {
	if p.slots > 0 || r.Unsettled > 0 || j.w.on[hangs] { // a worker has heartbeats, too
		return
	}
	for receive := range a.lines {
		if last, ok := j.said[p.name+" hide "+receive]; ok && !last.done && j.w.now()-last.at < justNow {
			id, _, _ := strings.Cut(receive, " ")
			name := j.w.names[id]
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
