package handler_test

import (
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/handler"
)

// Whatever a queue leaves out, only a positive answer without an error counts.
func TestOnlyAPositiveAnswerConfirms(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	tests := map[string]struct {
		confirmed bool
		err, want error
	}{
		"nothing":   {want: handler.ErrUnanswered},
		"confirmed": {confirmed: true},
		"refused":   {err: down, want: down},
		"both":      {confirmed: true, err: down, want: down},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letter := handler.Letter{Err: tt.err}
			if tt.confirmed {
				letter.DeadLetterID = "dead-1"
			}
			change := handler.VisibilityChange{Done: tt.confirmed, Err: tt.err}
			deletion := handler.Deletion{Done: tt.confirmed, Err: tt.err}
			for of, got := range map[string]error{
				"letter": letter.Answer(), "change": change.Answer(), "deletion": deletion.Answer(),
			} {
				if !errors.Is(got, tt.want) || (got == nil) != (tt.want == nil) {
					t.Errorf("answer for the %s is %v, want %v", of, got, tt.want)
				}
			}
		})
	}
}
