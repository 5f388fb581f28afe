package handler

import (
	"context"

	"github.com/sqsafe/sqsafe/fault"
)

// Classify says what err means to the processor that runs the handler with this
// context: the decision of [Options].Classifier, or that of fault.Rules() outside
// of a handler. The processor decides on the error that the handler returns, and
// by the same rules; what is said here counts for nothing. It is safe for
// concurrent use.
func Classify(ctx context.Context, err error) fault.Decision {
	r := runOf(ctx)
	if r == nil || r.options == nil {
		return fault.Classify(ctx, err)
	}
	return r.options.Classifier.Classify(ctx, err)
}
