package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
)

// Channel is the kind of a message.
type Channel string

// The channels, each with a path of its own.
const (
	Email Channel = "email"
	Text  Channel = "sms"
)

// Message is an email or a text message that was sent.
type Message struct {
	// Key is the Idempotency-Key of the message; empty if the caller sent none.
	Key     string  `json:"key,omitempty"`
	Channel Channel `json:"channel"`
	// To is the address or the phone number.
	To string `json:"to"`
	// Time is when it was sent.
	Time time.Time `json:"time"`
}

// Messages returns a copy of the messages sent so far, in their order.
func (p *Provider) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages)
}

// message returns the handler for the calls of a channel.
func (p *Provider) message(channel Channel) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var wanted struct {
			To string `json:"to"`
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil || json.Unmarshal(body, &wanted) != nil || wanted.To == "" {
			refuse(w, http.StatusUnprocessableEntity, `the body is no message: it wants {"to":"…"}`)
			return
		}
		m := Message{Key: r.Header.Get("Idempotency-Key"), Channel: channel, To: wanted.To}
		p.perform(w, m.To, func() (any, bool, error) { return p.dispatch(m) })
	}
}

// dispatch sends the message, or returns the one that was sent with the same
// key.
func (p *Provider) dispatch(m Message) (sent Message, created bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, seen := p.sentByKey[m.Key]; seen {
		sent = p.messages[i]
		if sent.To != m.To || sent.Channel != m.Channel {
			return Message{}, false, errKeyReused
		}
		return sent, false, nil
	}
	m.Time = p.now()
	if m.Key != "" {
		p.sentByKey[m.Key] = len(p.messages)
	}
	p.messages = append(p.messages, m)
	return m, true, nil
}
