package fault_test

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// refusal is a response with that body.
func refusal(body io.Reader) *http.Response {
	return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(body), Header: http.Header{}}
}

func TestTheHeadOfTheBodyIsKeptIfAsked(t *testing.T) {
	t.Parallel()
	cards := func(head string) string { return regexp.MustCompile(`\d{12,}`).ReplaceAllString(head, "#") }
	for _, tt := range []struct {
		name, body string
		option     fault.ResponseOption
		want       string
	}{
		{"not asked", "card declined", nil, ""},
		{"asked", "card declined", fault.KeepBody(100, nil), "card declined"},
		{"none", "", fault.KeepBody(100, nil), ""},
		{"lines and control characters", "{\r\n\t\"a\": \"b\x00\x1b[31m\"\n}", fault.KeepBody(100, nil), `{ "a": "b [31m" }`},
		{"direction marks", "a\u202eb", fault.KeepBody(100, nil), "a b"},
		{"not UTF-8", "a\xff\xfeb", fault.KeepBody(100, nil), "a\uFFFDb"},
		{"cut, no character split", "aé", fault.KeepBody(2, nil), "a"},
		{"at most 1024 bytes", strings.Repeat("x", 5000), fault.KeepBody(5000, nil), strings.Repeat("x", 1024)},
		{"redacted", "card 4111111111111111 declined", fault.KeepBody(100, cards), "card # declined"},
		{"redacted before it is cut", "card 4111111111111111 declined", fault.KeepBody(8, cards), "card # d"},
		{"redact panics", "secret", fault.KeepBody(100, func(string) string { panic("x") }), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp := refusal(strings.NewReader(tt.body))
			var options []fault.ResponseOption
			if tt.option != nil {
				options = append(options, tt.option)
			}
			err := fault.CheckResponse(resp, options...)
			e, _ := errors.AsType[*fault.HTTPError](err)
			text := strings.TrimSuffix("HTTP 400 Bad Request: "+tt.want, ": ")
			if e == nil || e.Body != tt.want || err.Error() != text {
				t.Errorf("body %q, error %v, want %q", e.Body, err, tt.want)
			}
			if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != tt.body {
				t.Errorf("read %d bytes afterwards, %v, want all %d", len(rest), err, len(tt.body))
			}
		})
	}
}

func TestABrokenBodyIsKeptAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	resp := refusal(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(torn)))
	e, _ := errors.AsType[*fault.HTTPError](fault.CheckResponse(resp, fault.KeepBody(100, nil)))
	if e == nil || e.Body != "half" {
		t.Errorf("error %v", e)
	}
	if rest, err := io.ReadAll(resp.Body); string(rest) != "half" || !errors.Is(err, torn) {
		t.Errorf("read %q, %v afterwards", rest, err)
	}
}

func TestTheBodyOfASuccessIsNotRead(t *testing.T) {
	t.Parallel()
	resp := refusal(iotest.ErrReader(errors.New("read")))
	resp.StatusCode = http.StatusOK
	if err := fault.CheckResponse(resp, fault.KeepBody(100, nil)); err != nil {
		t.Error(err)
	}
}

// clientError is an error of some client that keeps its response.
type clientError struct {
	Response *http.Response
}

func (e *clientError) Error() string { return "refused" }

// errorInside has its response further in, as the AWS SDK has.
type errorInside struct{ *clientError }

type wrappedResponse struct{ *http.Response }

type smithyLike struct{ Response *wrappedResponse }

func (e *smithyLike) Error() string { return "refused" }

func TestRetryAfterInsideErrorsOfClients(t *testing.T) {
	t.Parallel()
	asking := func(name, value string) *http.Response {
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{name: {value}}}
	}
	for _, tt := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"the field of a client", &clientError{Response: asking("Retry-After", "7")}, 7 * time.Second},
		{"an embedded error", errorInside{&clientError{Response: asking("Retry-After", "7")}}, 7 * time.Second},
		{"the response of the AWS SDK", &smithyLike{&wrappedResponse{asking("Retry-After", "7")}}, 7 * time.Second},
		{"milliseconds of AWS", &smithyLike{&wrappedResponse{asking("X-Amz-Retry-After", "1500")}}, 1500 * time.Millisecond},
		{"milliseconds of years", &smithyLike{&wrappedResponse{asking("X-Amz-Retry-After", "18446744073709551615")}},
			12 * time.Hour},
		{"nonsense", &smithyLike{&wrappedResponse{asking("X-Amz-Retry-After", "soon")}}, 0},
		{"no response", &clientError{}, 0},
		{"no error inside", errorInside{}, 0},
		{"no response inside", &smithyLike{&wrappedResponse{}}, 0},
		{"wrapped", fault.Retryable(&clientError{Response: asking("Retry-After", "7")}), 7 * time.Second},
		{"the tag asks too", fault.RetryAfter(time.Second, &clientError{Response: asking("Retry-After", "7")}), time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := fault.Classify(t.Context(), fault.Retryable(tt.err)).RetryAfter; got != tt.want {
				t.Errorf("delay %v, want %v", got, tt.want)
			}
		})
	}
}
