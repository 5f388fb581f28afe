package idem

import (
	"context"
	"maps"
)

// StepRecord says that a part of a job is done.
type StepRecord struct {
	// Name is the step's own in its job.
	Name string
	// Result is the step's result as JSON; empty for a step without a result.
	Result string
	// First reports whether the caller knows of no recorded step of the job. It is only a
	// hint which write a store should try first.
	First bool
}

// Recorded reports whether the item of claim c has the step. The error is a [*LateError]
// if the item has another claim, or if the item is nil, which means that there is none.
func (s *StepRecord) Recorded(item *Item, c Claim) (bool, error) {
	if item == nil {
		return false, &LateError{ID: c.ID, Kind: SettleStep}
	}
	if !item.holds(c) {
		return false, &LateError{ID: c.ID, Kind: SettleStep, Status: item.Status, Until: item.Lease}
	}
	_, done := item.Steps[s.Name]
	return done, nil
}

// Apply returns the item with the step added. It does not change the map of the given
// item.
func (s *StepRecord) Apply(item Item) Item {
	steps := make(map[string]string, len(item.Steps)+1)
	maps.Copy(steps, item.Steps)
	steps[s.Name] = s.Result
	item.Steps = steps
	return item
}

// RecordStep implements [Store]. Its only errors are [*LateError] and those
// of ctx.
func (s *Memory) RecordStep(ctx context.Context, c Claim, step StepRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.items[c.ID]
	if done, err := step.Recorded(item, c); done || err != nil {
		return err
	}
	next := step.Apply(*item)
	s.items[c.ID] = &next
	return nil
}
