//go:build unix

package parity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
)

// endings looks at what a host has left behind, by the id of the trial. The
// host must have ended.
func (r *rig) endings(ctx context.Context) (map[string]ending, error) {
	items, err := r.items(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]ending{}
	for _, t := range r.trials {
		letters, err := r.letters(ctx, t)
		if err != nil {
			return nil, err
		}
		all[t.ID()] = r.ending(t, items, letters)
	}
	return all, nil
}

func (r *rig) ending(t trial, items map[string]item, letters []types.Message) ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := ending{Jobs: map[string]jobResult{}, Crashes: r.crashes[t.Queue()]}
	for _, j := range t.jobs {
		if f := r.jobResult(t, j, items[t.Queue()+"#"+j.id], letters); f != (jobResult{}) {
			e.Jobs[j.id] = f
		}
	}
	for _, m := range letters {
		if body := aws.ToString(m.Body); !slices.ContainsFunc(t.jobs, func(j job) bool { return j.body() == body }) {
			e.Jobs["stray letter "+body] = jobResult{Dead: deadText(m)}
		}
	}
	for _, q := range r.server.SQS().Stats() {
		if q.Name == t.Queue() {
			e.Left = q.Visible + q.NotVisible + q.Delayed
		}
	}
	return e
}

func (r *rig) jobResult(t trial, j job, kept item, letters []types.Message) jobResult {
	var dead, ids []string
	for _, m := range letters {
		if aws.ToString(m.Body) == j.body() {
			dead, ids = append(dead, deadText(m)), append(ids, aws.ToString(m.MessageId))
		}
	}
	slices.Sort(dead)
	at := place{t.ID(), j.id}
	return jobResult{
		Outcomes: strings.Join(r.outcomes[at], ", "),
		Runs:     r.provider.runs[at],
		Effects:  len(r.provider.effects[at]),
		Ledger:   ledgerText(kept, ids),
		Dead:     strings.Join(dead, ", "),
	}
}

func deadText(m types.Message) string {
	record, err := dlq.Open(m)
	if errors.Is(err, dlq.ErrNoRecord) {
		return "no record"
	}
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s %s attempts %d", record.Class, record.Reason, record.Attempts)
	if record.Epoch > 0 {
		text += fmt.Sprintf(" epoch %d", record.Epoch)
	}
	return text
}

// ledgerText leaves out what cannot be equal: times, the owner, message ids. A
// death must be confirmed with the id of one of the letters.
func ledgerText(kept item, letters []string) string {
	if kept == nil {
		return ""
	}
	words := []string{text(kept["status"])}
	for _, name := range []string{"epoch", "claims", "settled", "crashes", "attempts", "unclassified"} {
		if n := text(kept[name]); n != "" && n != "0" {
			words = append(words, name, n)
		}
	}
	switch id := text(kept["dlq_message_id"]); {
	case id == "":
	case slices.Contains(letters, id):
		words = append(words, "confirmed")
	default:
		words = append(words, "confirmed as another letter")
	}
	return strings.Join(words, " ")
}
