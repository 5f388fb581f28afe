package deadline_test

import (
	"context"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadline"
)

func TestEndReason(t *testing.T) {
	t.Parallel()
	running, cancel := context.WithCancel(t.Context())
	defer cancel()
	cancelled, end := context.WithCancel(t.Context())
	end()
	expired, release := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer release()
	below, stop := context.WithCancel(expired) // of a context that has run out of time
	defer stop()
	for name, tt := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"running": {running, ""}, "cancelled": {cancelled, "cancelled"}, "past its deadline": {expired, "no_time"},
		"below one past its deadline": {below, "no_time"},
	} {
		if got := deadline.EndReason(tt.ctx, "no_time", "cancelled"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
