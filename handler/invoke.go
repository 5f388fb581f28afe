package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/sqsevent"
)

// Invoke is [Processor.Handle] for an event as Lambda sends it, and answers as
// Lambda reads it. It makes a Processor the handler for lambda.Start: decoding by
// way of lambda.Start(p.Handle) takes several times as long, and is most of what a
// large batch costs. An event that is no JSON gives an error with [ErrNotSQS].
func (p *Processor) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := sqsevent.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSQS, err)
	}
	response, err := p.Handle(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}
