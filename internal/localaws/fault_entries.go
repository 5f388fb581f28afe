package localaws

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// entry is the part of a batch entry that is needed here.
type entry struct {
	ID string `json:"Id"`
}

// failedEntry reports a failed entry as SQS does.
type failedEntry struct {
	entry
	SenderFault   bool
	Code, Message string
}

// performEntries executes a batch with entries that are to fail: it leaves them
// out, or with AfterEffect executes them too, and reports them as failed.
func (f *Fault) performEntries(ctx context.Context, svc service, r *protocol.Request) (any, error) {
	var in map[string]json.RawMessage
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	rest, failed := f.split(in["Entries"])
	if len(failed) == 0 {
		return svc.Operate(ctx, r)
	}
	out := batchOutput{Successful: []json.RawMessage{}}
	if f.AfterEffect || len(rest) > 0 {
		if !f.AfterEffect {
			in["Entries"], _ = json.Marshal(rest)
			without := *r
			without.Body, _ = json.Marshal(in)
			r = &without
		}
		response, err := svc.Operate(ctx, r)
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(response)
		if err := json.Unmarshal(text, &out); err != nil {
			return nil, err
		}
	}
	out.Successful, _ = f.pick(out.Successful)
	out.Failed, _ = f.pick(out.Failed)
	for _, e := range failed {
		text, _ := json.Marshal(e)
		out.Failed = append(out.Failed, text)
	}
	return out, nil
}

type batchOutput struct {
	Successful []json.RawMessage
	Failed     []json.RawMessage `json:",omitempty"`
}

// split separates the entries of a request: it returns those to execute, and
// the failures of the others.
func (f *Fault) split(entries json.RawMessage) (rest []json.RawMessage, failed []failedEntry) {
	var all []json.RawMessage
	// The operation refuses a request whose entries are not a list.
	_ = json.Unmarshal(entries, &all)
	rest, ids := f.pick(all)
	e := f.refusal()
	for _, id := range ids {
		failed = append(failed, failedEntry{
			entry{id}, e.Status < http.StatusInternalServerError, e.Code, e.Message,
		})
	}
	return rest, failed
}

// pick separates the entries that are to fail: it returns the others, and the
// ids of those.
func (f *Fault) pick(entries []json.RawMessage) (rest []json.RawMessage, ids []string) {
	rest = entries[:0:0]
	for _, text := range entries {
		var e entry
		_ = json.Unmarshal(text, &e)
		if slices.Contains(f.Entries, e.ID) {
			ids = append(ids, e.ID)
			continue
		}
		rest = append(rest, text)
	}
	return rest, ids
}
