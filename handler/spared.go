package handler

import (
	"context"
	"log/slog"
)

// spared keeps panics of a log handler from jobs: what cannot be logged is lost,
// and nothing else.
type spared struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (s spared) Enabled(ctx context.Context, level slog.Level) bool {
	defer func() { _ = recover() }()
	return s.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (s spared) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }()
	return s.Handler.Handle(ctx, r)
}
