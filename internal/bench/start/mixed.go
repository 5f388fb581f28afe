package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/bench/job"
)

var jobs atomic.Int64

// mixed is the work where BENCH_WORK is "mixed": of four jobs in a row one succeeds, one
// fails, one is dead, and one runs into a timeout of its own.
func mixed(ctx context.Context, _ job.Order) error {
	switch jobs.Add(1) % 4 {
	case 1:
		return fault.Retryable(errors.New("later"))
	case 2:
		return fault.Permanent(errors.New("no"))
	case 3:
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}
