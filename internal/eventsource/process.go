package eventsource

import (
	"context"
	"slices"
)

// process invokes the function with a batch, in parts if its event would be too
// large.
func (p *Poller) process(ctx context.Context, batch []delivery) {
	parts := split(batch, maxEvent)
	for i, part := range parts {
		settled := p.invoke(ctx, part)
		if rest := slices.Concat(parts[i+1:]...); !settled && p.mapping.fifo() && len(rest) > 0 {
			// In a FIFO queue, later parts may have messages of the groups that
			// failed.
			p.observe(Event{Kind: Withheld}, rest)
			return
		}
	}
}

// invoke invokes the function and reports whether every message was processed
// and deleted.
func (p *Poller) invoke(ctx context.Context, part []delivery) bool {
	all := len(part)
	ctx, part = p.stopLoops(ctx, part)
	if len(part) == 0 {
		return false
	}
	p.observe(Event{Kind: Invoked}, part)
	answer, err := p.invoker.Invoke(ctx, event(part))
	if err != nil {
		p.observe(Event{Kind: Failed, Err: err}, part)
		return false
	}
	done, failed := p.classify(answer, part)
	return p.delete(ctx, done) && len(failed) == 0 && len(part) == all
}

// classify separates the messages that are done from those that stay in the queue.
func (p *Poller) classify(answer []byte, part []delivery) (done, failed []delivery) {
	v := read(answer, part)
	if !p.mapping.ReportBatchItemFailures {
		if ignored := named(part, v.failed); len(ignored) > 0 {
			p.observe(Event{Kind: Ignored}, ignored)
		}
		return part, nil
	}
	if v.malformed != "" {
		p.observe(Event{Kind: Malformed, Reason: v.malformed}, part)
		return nil, part
	}
	if v.unnamed != "" {
		p.observe(Event{Kind: Unnamed, Reason: v.unnamed}, part)
	}
	failed = named(part, v.failed)
	done = slices.DeleteFunc(slices.Clone(part), func(d delivery) bool { return v.failed[d.ID] })
	if len(failed) > 0 {
		p.observe(Event{Kind: Reported}, failed)
	}
	return done, failed
}

// named returns the messages with these ids.
func named(part []delivery, ids map[string]bool) (all []delivery) {
	for _, d := range part {
		if ids[d.ID] {
			all = append(all, d)
		}
	}
	return all
}
