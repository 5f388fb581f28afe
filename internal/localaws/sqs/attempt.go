package sqs

import "time"

// attempt is a receive that its client can repeat if the response was lost.
type attempt struct {
	id       string
	at       time.Time
	messages []attempted
}

// attempted is a message of an attempt, in the state after the receive.
type attempted struct {
	message *message
	handle  string
	until   time.Time // when it becomes visible again
}

// checkAttempt returns an error for an attempt id that the queue does not
// accept.
func (q *queue) checkAttempt(id string) error {
	const name = "ReceiveRequestAttemptId"
	switch {
	case id == "":
		return nil
	case !q.fifo():
		return invalidValue(id, name, "The request include parameter that is not valid for this queue type.")
	case !messageIDs.MatchString(id):
		return invalidValue(id, name,
			name+" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	return nil
}

// note records which messages a receive returned, for the interval in which it
// can be repeated.
func (q *queue) note(id string, took []*message, now time.Time) {
	for len(q.attempts) > 0 && now.Sub(q.attempts[0].at) >= dedupInterval {
		q.attempts = q.attempts[1:]
	}
	if id == "" || len(took) == 0 {
		return
	}
	a := attempt{id: id, at: now}
	for _, m := range took {
		a.messages = append(a.messages, attempted{m, m.handle, m.due[toShow]})
	}
	q.attempts = append(q.attempts, a)
}

// repeat returns the messages of the last receive with the id, and starts their
// visibility timeout again. It returns none if one of them was deleted, became
// visible or had its visibility timeout changed since.
func (q *queue) repeat(id string, now time.Time, timeout time.Duration) []*message {
	for i := len(q.attempts) - 1; i >= 0 && id != ""; i-- {
		a := &q.attempts[i]
		if a.id != id || now.Sub(a.at) >= dedupInterval {
			continue
		}
		return a.again(q, now.Add(timeout))
	}
	return nil
}

func (a *attempt) again(q *queue, until time.Time) []*message {
	for _, x := range a.messages {
		m := x.message
		if q.messages[m.id] != m || m.state != inFlight || m.handle != x.handle || !m.due[toShow].Equal(x.until) {
			return nil
		}
	}
	var all []*message
	for i, x := range a.messages {
		q.set(x.message, inFlight, until)
		a.messages[i].until = until
		all = append(all, x.message)
	}
	return all
}
