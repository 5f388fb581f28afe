package local

import (
	"context"

	"github.com/sqsafe/sqsafe/internal/ledger"
)

const tableVariable = "SQSAFE_TABLE"

// verdicts asks the ledger about jobs that another consumer of the queue had last, such
// as a worker. A queue without a ledger, or one that cannot be asked, has no verdicts:
// then the queue's word counts.
func (s *Stack) verdicts(ctx context.Context, keys map[string][]string) map[place]verdict {
	all := map[place]verdict{}
	for queue, some := range keys {
		name := s.ledgerOf(queue)
		if name == "" {
			continue
		}
		table, err := ledger.Open(ctx, s.tables, name)
		if err != nil {
			continue
		}
		ids := make([]string, len(some))
		for i, key := range some {
			ids[i] = ledger.ID(queue, key)
		}
		entries, err := table.GetMany(ctx, ids)
		if err != nil {
			continue
		}
		for i, key := range some {
			all[place{queue, key}] = verdictOf(entries[ids[i]])
		}
	}
	return all
}

func verdictOf(e *ledger.Entry) verdict {
	switch {
	case e == nil:
		return verdict{}
	case e.Status == "COMPLETED":
		return verdict{done: true}
	case e.Status == "DEAD" && e.Verdict != nil:
		return verdict{dead: e.Verdict.Reason}
	}
	return verdict{}
}

// ledgerOf is the name of the table that the function of a queue keeps its jobs in.
func (s *Stack) ledgerOf(queue string) string {
	for _, f := range s.template.Functions {
		for _, e := range f.Events {
			if source, _ := s.template.Queue(e.Queue); source.Name == queue {
				return s.options.Variables.environment(f, nil)[tableVariable]
			}
		}
	}
	return ""
}
