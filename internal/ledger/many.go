package ledger

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/internal/jobid"
)

// ID returns the id of the job with this key from that queue.
func ID(queue, key string) string { return jobid.Of(queue, key) }

// maxKeys is how many items one call reads (BatchGetItem, API reference).
const maxKeys = 100

// GetMany returns the jobs with these ids that the table has. Ids may repeat. Its errors
// are those of the client; with an error it returns the jobs that it has read.
func (t *Table) GetMany(ctx context.Context, ids []string) (map[string]*Entry, error) {
	found := map[string]*Entry{}
	asked := map[string]bool{}
	var keys []map[string]types.AttributeValue
	flush := func() error {
		if len(keys) == 0 {
			return nil
		}
		defer func() { keys = keys[:0] }()
		return t.getPack(ctx, keys, found)
	}
	for _, id := range ids {
		if id == "" || asked[id] {
			continue
		}
		asked[id] = true
		if keys = append(keys, item{t.key: text(id)}); len(keys) == maxKeys {
			if err := flush(); err != nil {
				return found, err
			}
		}
	}
	return found, flush()
}

// getPack reads up to 100 items, and asks again for those that DynamoDB left out.
func (t *Table) getPack(ctx context.Context, keys []map[string]types.AttributeValue, found map[string]*Entry) error {
	asked := map[string]types.KeysAndAttributes{t.Name: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	for len(asked) > 0 {
		out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return err
		}
		for _, read := range out.Responses[t.Name] {
			e := Decode(t.key, read)
			found[e.ID] = &e
		}
		asked = out.UnprocessedKeys
	}
	return nil
}

// FindMessages returns the jobs whose last claim was made for one of these messages, by
// message id. It reads the whole table. Its errors are those of the client.
func (t *Table) FindMessages(ctx context.Context, ids map[string]bool) (map[string]*Entry, error) {
	found := map[string]*Entry{}
	err := t.List(ctx, Filter{}, func(jobs []Entry, _ int) bool {
		for i := range jobs {
			if ids[jobs[i].MessageID] {
				found[jobs[i].MessageID] = &jobs[i]
			}
		}
		return len(found) < len(ids)
	})
	return found, err
}
