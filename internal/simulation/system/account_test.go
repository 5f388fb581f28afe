package system

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/handler"
)

// account is what an invocation has said about its messages.
type account struct {
	runs int
	// lines are the outcomes that were logged, by message and receive.
	lines map[string]string
	// sent counts lines of letters.
	sent int
	// report is what hooks were told.
	report *handler.Report
}

// account is that of a request. The world is locked.
func (j *judge) account(request string) *account {
	a := j.accounts[request]
	if a == nil {
		a = &account{lines: map[string]string{}}
		j.accounts[request] = a
	}
	return a
}

// logged takes in a line of a process.
func (j *judge) logged(p *process, line string, fields map[string]string) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if line == handler.LogOutcome {
		j.takenUp(p, fields["messageId"])
		if m := j.messages[fields["messageId"]]; m != nil {
			m.dropped = m.dropped || fields["outcome"] == handler.OutcomeDropped.String()
			j.checkDelay(p, m, fields)
			j.checkBreaker(p, m, fields)
			j.checkLastReceive(p, m, fields)
		}
	}
	j.checkLost(line, j.w.names[fields["messageId"]])
	j.checkAnswer(p, line, fields)
	switch line {
	case logUnconfirmed:
		j.letterConfirmed(p, line, fields)
	case logLetterNotSent, handler.LogDeadLettered:
		j.checkLetterID(fields)
		j.letterTold(p, line, j.w.names[fields["messageId"]])
		j.letterConfirmed(p, line, fields)
	}
	request := fields["requestId"]
	if request == "" {
		return
	}
	a := j.account(request)
	switch line {
	case handler.LogDeadLettered:
		a.sent++
	case handler.LogOutcome:
		// A message may be twice in a batch, since it is handed out twice: the count
		// of receives tells the two apart.
		key := receiveKey(fields["messageId"], fields["receiveCount"])
		name := j.w.names[fields["messageId"]]
		if before, twice := a.lines[key]; twice {
			j.w.breaksLocked("truth", []string{keyOf(name)}, "%s has the outcomes %s and %s in %s",
				name, before, fields["outcome"], request)
		}
		a.lines[key] = fields["outcome"]
	}
}

// confirmed takes in that the process was told which of its letters have arrived.
func (j *judge) confirmed(p *process, c *call) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.answered(p, c)
	for _, name := range c.arrived {
		j.arrived[p.name+" "+name] = true
	}
}

// logLetterNotSent is what the processor logs of a letter that comes again.
const logLetterNotSent = "dead letter not sent"

// letterTold compares what a line says of a letter with what SQS has said.
func (j *judge) letterTold(p *process, line, name string) {
	key := p.name + " " + name
	if line == logLetterNotSent && j.arrived[key] && !j.w.on[duplicates] {
		j.w.breaksLocked("one letter", []string{keyOf(name)}, "the letter of %s has arrived, and is to be sent again", name)
	}
	delete(j.arrived, key)
}

// logUnconfirmed is what the processor logs if the ledger was not told of a letter.
const logUnconfirmed = "dead letter not confirmed in the ledger"

// letterConfirmed checks that the ledger was told of a letter with a verdict, unless the
// processor says that it could not.
func (j *judge) letterConfirmed(p *process, line string, fields map[string]string) {
	name := j.w.names[fields["messageId"]]
	key := p.name + " " + name + " " + fields["receiveCount"]
	if line == logUnconfirmed {
		j.unconfirmed[key] = true
		return
	}
	for _, l := range j.letters {
		if l.id != fields["deadLetterId"] || l.record == nil || !l.record.Verdict || j.unconfirmed[key] {
			continue
		}
		if !j.state(keyOf(name)).at(l.record.Epoch).confirmed {
			j.w.breaksLocked("accounting", []string{keyOf(name)}, "the letter of %s is not confirmed in the ledger", name)
		}
	}
}

// reported takes in the report of a batch.
func (j *judge) reported(ctx context.Context, p *process, r handler.Report) {
	lc, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return
	}
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	a := j.account(lc.AwsRequestID)
	a.report = &r
	j.checkFailures(p, a, &r)
	counts, lines := map[string]int{}, map[string]int{}
	all := 0
	for _, c := range r.Counts {
		counts[c.Outcome.String()] += c.N
		all += c.N
	}
	for _, outcome := range a.lines {
		lines[outcome]++
	}
	told := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			j.w.breaksLocked("truth", nil, "the report of %s has %v %s, want %v", lc.AwsRequestID, got, what, want)
		}
	}
	told("outcomes", counts, lines)
	told("messages", r.Messages, all)
	told("runs", r.Runs, a.runs)
	told("letters", r.Sent, a.sent)
	told("dead", r.Sent+r.Unsent, counts[handler.OutcomeDead.String()])
}

// acknowledged are the outcomes after which a message is deleted, if a letter that it
// needs was sent.
var acknowledged = map[string]bool{"done": true, "duplicate": true, "dropped": true, "dead": true}

// responded compares the answer of an invocation with what was logged.
func (j *judge) responded(request string, asked, back []string) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	a := j.account(request)
	if a.report == nil {
		j.watchdogged(request)
		return
	}
	for _, line := range slices.Sorted(maps.Keys(a.lines)) {
		outcome := a.lines[line]
		for _, id := range asked {
			if len(line) < len(id) || line[:len(id)] != id || slices.Contains(back, id) || acknowledged[outcome] {
				continue
			}
			name := j.w.names[id]
			j.w.breaksLocked("truth", []string{keyOf(name)}, "%s is %s in %s, and not reported as failed",
				name, outcome, request)
		}
	}
	for _, id := range back {
		name := j.w.names[id]
		if !slices.Contains(asked, id) {
			j.w.breaksLocked("truth", []string{keyOf(name)}, "%s is reported as failed in %s, and was not in it", name, request)
		}
	}
}

// crashed checks that what was finished before a crash is deleted: the batch has no
// answer that could tell.
func (j *judge) crashed(request string, asked []string) {
	if !j.w.reliable() {
		return
	}
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	a := j.account(request)
	if a.report == nil || a.report.Unsent > 0 {
		return
	}
	open := map[string]bool{} // not every receive of it is acknowledged
	for line, outcome := range a.lines {
		if id, _, _ := strings.Cut(line, " "); !acknowledged[outcome] {
			open[id] = true
		}
	}
	for line := range a.lines {
		id, _, _ := strings.Cut(line, " ")
		m := j.messages[id]
		if m != nil && m.gone == "" && !open[id] && slices.Contains(asked, id) {
			j.w.breaksLocked("deleted", []string{keyOf(m.name)},
				"%s is settled in %s, which crashed, and not deleted", m.name, request)
		}
	}
}

// reliable reports whether all calls do what they are asked to.
func (c *config) reliable() bool {
	for _, f := range []feature{refusals, spells, losses, partials, slowness, hangs, outages, duplicates, hasty} {
		if c.on[f] {
			return false
		}
	}
	return true
}
