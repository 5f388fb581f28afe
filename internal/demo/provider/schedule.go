package provider

import "net/http"

// Fault describes how the provider fails calls for a customer, or for the
// recipient of a message. The zero value fails none.
type Fault struct {
	// Calls is how many of the customer's calls fail, counted from the first;
	// negative means all of them.
	Calls int
	// Status is the HTTP status of a failed call.
	Status int
	// RetryAfter is the Retry-After header in whole seconds; 0 means no header.
	RetryAfter int
	// Reset makes the charge and then resets the connection instead of
	// answering, so that the caller cannot know what happened.
	Reset bool
}

// Schedule maps customers and recipients to faults. Calls for others do not
// fail.
type Schedule map[string]Fault

// everyCall as Fault.Calls lets every call fail.
const everyCall = -1

// DefaultSchedule returns the schedule of the demo.
func DefaultSchedule() Schedule {
	return Schedule{
		"c-busy":     {Calls: 1, Status: http.StatusTooManyRequests, RetryAfter: 1},
		"c-reset":    {Calls: 1, Reset: true},
		"c-declined": {Calls: everyCall, Status: http.StatusUnprocessableEntity},
		"c-down":     {Calls: everyCall, Status: http.StatusServiceUnavailable},
		// A redirect without a target: no rule matches it.
		"c-odd": {Calls: everyCall, Status: http.StatusMultipleChoices},
		// A phone number for which the first text message fails.
		"+49155500503": {Calls: 1, Status: http.StatusServiceUnavailable},
	}
}

// Charges reports whether a job with this body will end in a charge, and with
// which id: the body is valid, and the calls for its customer do not fail
// forever.
func (s Schedule) Charges(body []byte) (id string, ok bool) {
	o, err := decodeOrder(body)
	return o.ID, err == nil && s[o.Customer].Calls >= 0
}

// applies reports whether the customer's call of that number, counted from 1,
// fails.
func (f Fault) applies(call int) bool {
	return f.Calls < 0 || call <= f.Calls
}
