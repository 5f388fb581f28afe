package notify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/functions/internal/notify"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// service responds with the given statuses and then with 202, and records each
// call.
type service struct {
	answers []int
	calls   []string // path, key and body
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.calls = append(s.calls, fmt.Sprintf("%s %s %q %s", r.Method, r.URL.Path, r.Header["Idempotency-Key"], body))
	if len(s.answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(s.answers[0])
	s.answers = s.answers[1:]
}

// The calls of the job below, one for each step.
const (
	email = `POST /email ["nt-1#email"] {"to":"a@example.com"}`
	sms   = `POST /sms ["nt-1#text-message"] {"to":"+491234"}`
)

// deliverer returns a function that delivers the job once, with a ledger, and
// reports whether the job came back for a retry.
func deliverer(t *testing.T, s *service) func() bool {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	sender, err := notify.NewSender(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	store := &patient{Memory: idem.NewMemory()}
	ledger, err := idem.New(store, &idem.Options{Key: idem.JSONField("id"), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.JSON(sender.Notify), &handler.Options{
		Ledger: ledger, Logger: quiet, Breaker: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() bool {
		response, err := p.Handle(context.WithoutCancel(t.Context()), events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "m1", Body: `{"id":"nt-1","email":"a@example.com","phone":"+491234"}`,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return len(response.BatchItemFailures) > 0
	}
}

// patient is a store whose clock is an hour later at each call, so that the
// test does not wait for the next attempt.
type patient struct {
	*idem.Memory
	asked int
}

func (p *patient) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	p.asked++
	passed := time.Duration(p.asked) * time.Hour
	r.Now, r.Lease = r.Now.Add(passed), r.Lease.Add(passed)
	return p.Memory.Acquire(ctx, r)
}

func TestEachStepIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []int
		back    int // how often the job is returned for a retry
		want    []string
	}{
		{"both succeed", nil, 0, []string{email, sms}},
		{"the email fails", []int{503}, 1, []string{email, email, sms}},
		{"the text message fails", []int{200, 503}, 1, []string{email, sms, sms}},
		{"both fail", []int{503, 200, 503, 429}, 3, []string{email, email, sms, sms, sms}},
		{"a redirect is retried", []int{302}, 1, []string{email, email, sms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &service{answers: tt.answers}
			deliver := deliverer(t, s)
			for i := range tt.back {
				if !deliver() {
					t.Errorf("delivery %d did not come back", i+1)
				}
			}
			for range 2 { // the second delivery is a duplicate
				if deliver() {
					t.Error("the job came back after all was sent")
				}
			}
			if diff := cmp.Diff(tt.want, s.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotifyOutsideAJobFails(t *testing.T) {
	t.Parallel()
	sender, err := notify.NewSender("https://messages.example.com")
	if err != nil {
		t.Fatal(err)
	}
	err = sender.Notify(t.Context(), notify.Notice{})
	if _, ok := errors.AsType[*idem.StepError](err); !ok {
		t.Errorf("%v, want an *idem.StepError", err)
	}
}

func TestValidateRefusesInvalidNotices(t *testing.T) {
	t.Parallel()
	good := notify.Notice{ID: "nt-1", Email: "a@example.com", Phone: "+491234"}
	for _, tt := range []struct {
		name   string
		change func(*notify.Notice)
		want   string // empty means valid
	}{
		{"good", func(*notify.Notice) {}, ""},
		{"no id", func(n *notify.Notice) { n.ID = "" }, "id is required"},
		{"no email", func(n *notify.Notice) { n.Email = "" }, "email must be an address"},
		{"no address", func(n *notify.Notice) { n.Email = "a" }, "email must be an address"},
		{"a name before the address", func(n *notify.Notice) { n.Email = "A <a@example.com>" }, "email must be an address"},
		{"no phone", func(n *notify.Notice) { n.Phone = "" }, "phone must be an international number"},
		{"a local phone", func(n *notify.Notice) { n.Phone = "01234" }, "phone must be an international number"},
		{"a phone with spaces", func(n *notify.Notice) { n.Phone = "+49 1234" }, "phone must be an international number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := good
			tt.change(&n)
			err := n.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestASenderNeedsAURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "messages.example.com", "http://bad host", "https://"} {
		if _, err := notify.NewSender(base); err == nil || !strings.Contains(err.Error(), "NOTIFY_URL is") {
			t.Errorf("%q: error %v, want one that names NOTIFY_URL", base, err)
		}
	}
}
