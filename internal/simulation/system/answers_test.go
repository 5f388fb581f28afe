package system

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
)

const (
	logNotHidden  = "visibility timeout not changed"
	logNotDeleted = "message not deleted"
	// refusedEntry begins the error of an entry that SQS has answered.
	refusedEntry = "SQS refused the entry"
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
	if c.operation == "claim" {
		j.activity(p).claimed = j.w.now()
	}
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
		j.said[p.name+" "+c.operation+" "+receive] = c.verdicts[c.entries[i]]
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
	if j.said[p.name+" "+operation+" "+receive] {
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
		if done, said := j.said[p.name+" hide "+receive]; said && !done {
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
