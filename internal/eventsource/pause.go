package eventsource

import (
	"context"
	"time"
)

// The pause after a failed receive doubles from firstPause to longestPause.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

type pause struct{ last time.Duration }

func (p *pause) next() time.Duration {
	p.last = min(max(firstPause, 2*p.last), longestPause)
	return p.last
}

func (p *pause) reset() { p.last = 0 }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
