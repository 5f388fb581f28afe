package provider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	const late = `{"to":"+49155500503"}`
	p := provider.New()
	for i, c := range []struct {
		path, key, body string
		status          int
	}{
		{"/email", "k1", `{"to":"a@example.com"}`, 201},
		{"/email", "k1", `{"to":"a@example.com"}`, 200},
		{"/email", "k1", `{"to":"b@example.com"}`, 422},
		{"/sms", "k1", `{"to":"a@example.com"}`, 422},
		{"/sms", "k2", `{"to":"+491234"}`, 201},
		{"/sms", "", `{"to":"+491234"}`, 201},
		{"/sms", "k3", late, 503},
		{"/sms", "k3", late, 201},
		{"/sms", "k4", `{"to":""}`, 422},
		{"/email", "k4", `{"to":`, 422},
		{"/email", "k4", `{"to":"` + strings.Repeat("a", 100_000) + `"}`, 422},
	} {
		request := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
		request.Header.Set("Idempotency-Key", c.key)
		response := httptest.NewRecorder()
		if p.ServeHTTP(response, request); response.Code != c.status {
			t.Errorf("call %d: HTTP %d, want %d: %s", i, response.Code, c.status, response.Body)
		}
	}
	want := []provider.Message{
		{Key: "k1", Channel: provider.Email, To: "a@example.com"},
		{Key: "k2", Channel: provider.Text, To: "+491234"},
		{Channel: provider.Text, To: "+491234"},
		{Key: "k3", Channel: provider.Text, To: "+49155500503"},
	}
	if diff := cmp.Diff(want, p.Messages(), cmpopts.IgnoreFields(provider.Message{}, "Time")); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
