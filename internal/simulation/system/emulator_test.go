package system

import "net/http"

// emulator answers the calls of a history on a goroutine of its own. The calls are deep, and
// the stacks of all the goroutines that make one would have to grow for them.
type emulator struct {
	answers http.RoundTripper
	asked   chan *request
	over    chan struct{} // closed at the end
}

type request struct {
	*http.Request
	answered chan struct{}
	response *http.Response
	err      error
}

func newEmulator(answers http.RoundTripper) *emulator {
	return &emulator{answers: answers, asked: make(chan *request), over: make(chan struct{})}
}

// serve answers until the end.
func (e *emulator) serve() {
	for {
		select {
		case r := <-e.asked:
			r.response, r.err = e.answers.RoundTrip(r.Request)
			close(r.answered)
		case <-e.over:
			return
		}
	}
}

// end is called when no call is made any more.
func (e *emulator) end() { close(e.over) }

// Do implements [aws.HTTPClient].
func (e *emulator) Do(r *http.Request) (*http.Response, error) {
	asked := &request{Request: r, answered: make(chan struct{})}
	e.asked <- asked
	<-asked.answered
	return asked.response, asked.err
}
