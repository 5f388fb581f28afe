package eventsource

import (
	"context"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// applyFilters returns the messages that the filters let pass, and deletes the others.
// Filtered messages do not count towards the batch size.
func (p *Poller) applyFilters(ctx context.Context, received []delivery) []delivery {
	if p.criteria == nil {
		return received
	}
	var passed, dropped []delivery
	apart := map[filter.Reason][]delivery{}
	for _, d := range received {
		reason := p.criteria.Match(d.body)
		if reason == filter.Matched {
			passed = append(passed, d)
			continue
		}
		dropped = append(dropped, d)
		apart[reason] = append(apart[reason], d)
	}
	for _, reason := range []filter.Reason{filter.Unmatched, filter.WantsJSON, filter.WantsText} {
		if messages := apart[reason]; len(messages) > 0 {
			p.observe(Event{Kind: Filtered, Reason: string(reason)}, messages)
		}
	}
	p.delete(context.WithoutCancel(ctx), dropped) // one that stays is filtered again later
	return passed
}
