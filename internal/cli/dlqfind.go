package cli

import (
	"context"
	"fmt"
	"slices"
)

// sessions opens the queues with these names, or all dead-letter queues without names.
func (t *DLQTarget) sessions(ctx context.Context, names []string) ([]*session, error) {
	if len(names) == 0 {
		var err error
		if names, err = t.found(ctx); err != nil {
			return nil, err
		}
	}
	sessions := make([]*session, len(names))
	for i, name := range names {
		s, err := t.open(ctx, name)
		if err != nil {
			return nil, err
		}
		sessions[i] = s
	}
	return sessions, nil
}

// found returns the dead-letter queues: those of the outputs of the stack, or those to which
// other queues have a redrive policy.
func (t *DLQTarget) found(ctx context.Context) ([]string, error) {
	if t.Stack != "" {
		stack, err := t.describeStack(ctx, t.Stack)
		if err != nil {
			return nil, err
		}
		if names := stack.functions(); len(names) > 0 {
			return names, nil
		}
		return nil, fmt.Errorf("the outputs of stack %s name no dead-letter queue; name one", t.Stack)
	}
	client, err := t.client(ctx, "")
	if err != nil {
		return nil, err
	}
	urls, err := listQueues(ctx, client)
	if err != nil {
		return nil, t.explain(err, "")
	}
	rows, err := describeQueues(ctx, client, urls)
	if err != nil {
		return nil, t.explain(err, "")
	}
	var names []string
	for _, row := range rows {
		if slices.ContainsFunc(rows, func(source queueRow) bool { return source.DeadLetterQueue == row.Name }) {
			names = append(names, row.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no queue at %s is the dead-letter queue of another; name one", t)
	}
	return names, nil
}
