package provider

import "net/http"

// Fault is how the provider fails the calls for a customer, or for the recipient
// of a message. Its zero value fails none.
type Fault struct {
	// Calls is how many of the customer's calls fail, counted from the first;
	// negative means all of them.
	Calls int
	// Status is the HTTP status of a failed call.
	Status int
	// RetryAfter is the Retry-After header in whole seconds; 0 means no header.
	RetryAfter int
	// Reset takes the charge and then resets the connection instead of
	// answering, so that the caller cannot know what happened.
	Reset bool
}

// Schedule says which customers and recipients meet which fault. Those that it
// does not name are served well.
type Schedule map[string]Fault

// everyCall as Fault.Calls never lets a call succeed.
const everyCall = -1

// DefaultSchedule is the demo's.
func DefaultSchedule() Schedule {
	return Schedule{
		"c-busy":     {Calls: 1, Status: http.StatusTooManyRequests, RetryAfter: 1},
		"c-reset":    {Calls: 1, Reset: true},
		"c-declined": {Calls: everyCall, Status: http.StatusUnprocessableEntity},
		"c-down":     {Calls: everyCall, Status: http.StatusServiceUnavailable},
		// A redirect to nowhere: nothing that a caller's rules provide for.
		"c-odd": {Calls: everyCall, Status: http.StatusMultipleChoices},
		// A phone that text messages do not reach at first.
		"+49155500503": {Calls: 1, Status: http.StatusServiceUnavailable},
	}
}

// Charges tells whether a job with this body is to end in a charge, and under
// which id: the provider understands it, and serves its customer in the end.
func (s Schedule) Charges(body []byte) (id string, ok bool) {
	o, err := decodeOrder(body)
	return o.ID, err == nil && s[o.Customer].Calls >= 0
}

// applies tells whether the customer's call of that number, from 1, fails.
func (f Fault) applies(call int) bool {
	return f.Calls < 0 || call <= f.Calls
}
