package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

func Example() {
	err := fmt.Errorf("charge ch-1: %w", fault.Permanent(errors.New("card is stolen"), fault.WithReason("card_stolen")))

	d := fault.Classify(context.Background(), err)
	fmt.Println(err)
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output:
	// charge ch-1: card is stolen
	// permanent card_stolen tag.permanent
}

func ExampleRetryAfter() {
	err := fault.RetryAfter(90*time.Second, errors.New("ledger is closing its day"), fault.WithReason("closing"))

	d := fault.Classify(context.Background(), err)
	fmt.Println(d.Class, d.Reason, d.RetryAfter)
	// Output: retryable closing 1m30s
}

func ExampleCheckResponse() {
	resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"30"}}}

	err := fault.CheckResponse(resp)
	d := fault.Classify(context.Background(), err)
	fmt.Println(err)
	fmt.Println(d.Class, d.Rule, d.RetryAfter)
	// Output:
	// HTTP 429 Too Many Requests
	// retryable http.429 30s
}

// The client has followed the redirect of a POST by a GET, and the login page
// that it got says nothing about the charge.
func ExampleCheckResponse_redirect() {
	charge := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "pay.example", Path: "/charges"}}
	found := &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"/login"}}, Request: charge}
	login := &http.Request{Method: http.MethodGet, Response: found}
	resp := &http.Response{StatusCode: http.StatusOK, Request: login}

	err := fault.CheckResponse(resp)
	d := fault.Classify(context.Background(), err)
	text, _, _ := strings.Cut(err.Error(), ";") // the rest is what to do
	fmt.Println(text)
	fmt.Println(d.Class, d.Reason, d.Rule)
	// Output:
	// POST pay.example/charges: HTTP 302 Found to https://pay.example/login, followed as GET without the body
	// retryable environment http.redirect
}

func ExamplePermanent() {
	err := fault.Permanent(errors.New("card is stolen"))

	// A caller that knows more can tag the error again. The outermost tag
	// decides.
	fmt.Println(fault.Classify(context.Background(), err).Class)
	fmt.Println(fault.Classify(context.Background(), fault.Retryable(fmt.Errorf("second card: %w", err))).Class)
	fmt.Println(fault.Classify(context.Background(), errors.Join(errors.New("boom"), err)).Class)
	// Output:
	// permanent
	// retryable
	// permanent
}

func ExampleRetryable() {
	err := fault.Retryable(errors.New("no answer from the till"))

	// %w keeps a tag, %v loses it.
	fmt.Println(fault.Classify(context.Background(), fmt.Errorf("pay: %w", err)).Class)
	fmt.Println(fault.Classify(context.Background(), fmt.Errorf("pay: %v", err)).Class)
	// Output:
	// retryable
	// unclassified
}

func ExampleWithReason() {
	err := fault.Retryable(errors.New("no answer from the till"), fault.WithReason("till_offline"))

	fmt.Println(fault.Classify(context.Background(), err).Reason)
	// Output: till_offline
}

func ExampleTagged() {
	err := errors.New("card is stolen")

	fmt.Println(fault.Tagged(err), fault.Tagged(fmt.Errorf("charge: %w", fault.Permanent(err))))
	// Output: false true
}

func ExampleClassify() {
	for _, err := range []error{
		fmt.Errorf("read: %w", syscall.ECONNRESET),
		fmt.Errorf("attachment: %w", fs.ErrNotExist),
		errors.New("boom"),
		nil,
	} {
		d := fault.Classify(context.Background(), err)
		fmt.Printf("%v: %v %s %s\n", err, d.Class, d.Reason, d.Rule)
	}
	// Output:
	// read: connection reset by peer: retryable connection net.reset
	// attachment: file does not exist: permanent not_found file.missing
	// boom: unclassified unclassified unknown
	// <nil>: unclassified
}

// The job's context distinguishes the job's own deadline from the timeout of a
// call.
func ExampleClassify_deadline() {
	job, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()

	fmt.Println(fault.Classify(job, context.DeadlineExceeded).Rule)
	fmt.Println(fault.Classify(context.Background(), context.DeadlineExceeded).Rule)
	// Output:
	// deadline
	// net.timeout
}

func ExampleStack() {
	err := fault.Permanent(errors.New("card is stolen"))

	function, _, _ := strings.Cut(fault.Stack(fmt.Errorf("charge: %w", err)), "\n")
	fmt.Println(function)
	// Output: github.com/sqsafe/sqsafe/fault_test.ExampleStack
}

func ExampleTypes() {
	err := fault.Retryable(fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: "a.pdf", Err: syscall.ENOENT}))

	fmt.Println(fault.Types(err))
	// Output: [*fs.PathError syscall.Errno]
}
