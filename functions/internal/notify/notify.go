// Package notify notifies customers by email and by text message. Each is sent
// once for each job, whichever of the two fails.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
)

// Notice is the payload of a job.
type Notice struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	// Phone is an international number such as +491234.
	Phone string `json:"phone"`
}

var phone = regexp.MustCompile(`^\+[1-9][0-9]{3,14}$`) // E.164

// Validate says what is missing or wrong. It does not show the values, since
// its errors are logged.
func (n Notice) Validate() error {
	switch address, err := mail.ParseAddress(n.Email); {
	case n.ID == "":
		return errors.New("id is required")
	case err != nil || address.Address != n.Email:
		return errors.New("email must be an address such as a@example.com")
	case !phone.MatchString(n.Phone):
		return errors.New("phone must be an international number such as +491234")
	}
	return nil
}

// Sender sends messages over HTTP. It is safe for concurrent use.
type Sender struct {
	base   string
	client *http.Client
}

// NewSender returns a sender for the service at a base URL, or an error if it
// is not a URL.
func NewSender(base string) (*Sender, error) {
	if u, err := url.Parse(base); err != nil || u.Host == "" {
		return nil, fmt.Errorf("NOTIFY_URL is %q; set it to the service's URL, such as https://messages.example.com", base)
	}
	// Do not follow redirects: the request would become a GET, which sends
	// nothing and succeeds.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{base: base, client: &http.Client{Transport: idem.Transport{}, CheckRedirect: stay}}, nil
}

// Notify sends the email and then the text message. If one of them fails, the
// retry does not send the other again. If the process dies before a sent
// message is recorded, the retry sends it with the same key, which is that of
// the step.
func (s *Sender) Notify(ctx context.Context, n Notice) error {
	err := idem.Step(ctx, "email", func(ctx context.Context) error { return s.send(ctx, "/email", n.Email) })
	if err != nil {
		return fmt.Errorf("email: %w", err)
	}
	err = idem.Step(ctx, "text-message", func(ctx context.Context) error { return s.send(ctx, "/sms", n.Phone) })
	if err != nil {
		return fmt.Errorf("text message: %w", err)
	}
	return nil
}

// send sends a message through the service, under the step's key, which the
// client's transport adds.
func (s *Sender) send(ctx context.Context, path, to string) error {
	body, _ := json.Marshal(map[string]string{"to": to})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return fault.CheckResponse(resp)
}
