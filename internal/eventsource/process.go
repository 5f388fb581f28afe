package eventsource

import (
	"context"
	"slices"
)

// process runs a batch, in parts if its event would be too large.
func (p *Poller) process(ctx context.Context, batch []delivery) {
	parts := split(batch, maxEvent)
	for i, part := range parts {
		settled := p.invoke(ctx, part)
		if rest := slices.Concat(parts[i+1:]...); !settled && p.mapping.fifo() && len(rest) > 0 {
			// A later part may hold the successors of what failed.
			p.observe(Event{Kind: Withheld}, rest)
			return
		}
	}
}

// invoke runs the function and tells whether every message is done and deleted.
func (p *Poller) invoke(ctx context.Context, part []delivery) bool {
	p.observe(Event{Kind: Invoked}, part)
	answer, err := p.invoker.Invoke(ctx, event(part))
	if err != nil {
		p.observe(Event{Kind: Failed, Err: err}, part)
		return false
	}
	done, failed := p.judge(answer, part)
	return p.delete(ctx, done) && len(failed) == 0
}

// judge divides the messages into those that are done and those that stay.
func (p *Poller) judge(answer []byte, part []delivery) (done, failed []delivery) {
	if !p.mapping.ReportBatchItemFailures {
		return part, nil
	}
	v := read(answer, part)
	if v.malformed != "" {
		p.observe(Event{Kind: Malformed, Reason: v.malformed}, part)
		return nil, part
	}
	if v.unnamed != "" {
		p.observe(Event{Kind: Unnamed, Reason: v.unnamed}, part)
	}
	for _, d := range part {
		if v.failed[d.ID] {
			failed = append(failed, d)
		} else {
			done = append(done, d)
		}
	}
	if len(failed) > 0 {
		p.observe(Event{Kind: Reported}, failed)
	}
	return done, failed
}
