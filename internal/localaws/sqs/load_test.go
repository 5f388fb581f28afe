package sqs_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// load is a number of clients that use one queue at the same time.
type load struct {
	*testing.T
	client *awssqs.Client
	queue  string

	mu       sync.Mutex
	sent     map[string]bool // by message id
	received map[string]int
	order    map[string][]string // bodies by group, in the order of their first receive
	deleted  atomic.Int64
}

// send sends messages of a group one after the other.
func (l *load) send(group string, n int) {
	for i := range n {
		in := &awssqs.SendMessageInput{QueueUrl: &l.queue, MessageBody: aws.String(fmt.Sprintf("%s-%04d", group, i))}
		if strings.HasSuffix(l.queue, ".fifo") {
			in.MessageGroupId = &group
		}
		out, err := l.client.SendMessage(l.Context(), in)
		if err != nil {
			l.Error(err)
			return
		}
		l.mu.Lock()
		l.sent[*out.MessageId] = true
		l.mu.Unlock()
	}
}

// work receives messages, returns every fifth to the queue and deletes the
// others, until total messages are deleted.
func (l *load) work(total int64) {
	for l.deleted.Load() < total {
		out, err := l.client.ReceiveMessage(l.Context(), &awssqs.ReceiveMessageInput{
			QueueUrl: &l.queue, MaxNumberOfMessages: 10, VisibilityTimeout: 600, WaitTimeSeconds: 1,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		})
		if err != nil {
			l.Error(err)
			return
		}
		for _, m := range out.Messages {
			l.note(m)
		}
		for i, m := range out.Messages {
			// In a FIFO queue, the messages after a returned one of the group
			// are returned too.
			if rand.IntN(5) == 0 {
				l.giveBack(out.Messages[i:])
				break
			}
			_, err := l.client.DeleteMessage(l.Context(), &awssqs.DeleteMessageInput{
				QueueUrl: &l.queue, ReceiptHandle: m.ReceiptHandle,
			})
			if err != nil {
				l.Error(err)
				return
			}
			l.deleted.Add(1)
		}
	}
}

func (l *load) note(m types.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.received[*m.MessageId]++; l.received[*m.MessageId] == 1 {
		group := m.Attributes["MessageGroupId"]
		l.order[group] = append(l.order[group], *m.Body)
	}
}

func (l *load) giveBack(ms []types.Message) {
	var back []types.ChangeMessageVisibilityBatchRequestEntry
	for i, m := range ms {
		back = append(back, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0,
		})
	}
	out, err := l.client.ChangeMessageVisibilityBatch(l.Context(), &awssqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: &l.queue, Entries: back,
	})
	if err != nil || len(out.Failed) > 0 {
		l.Errorf("giving back: %v, %v", out, err)
	}
}

// With sixteen senders and sixteen workers, no message is lost or left over,
// and in a FIFO queue every group is received in order.
func TestNoMessageIsLostUnderParallelLoad(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"q", "q.fifo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const clients, each = 16, 40
			client := awssqs.NewFromConfig(localtest.Config(localaws.New(nil)))
			in := &awssqs.CreateQueueInput{QueueName: &name}
			if name == "q.fifo" {
				in.Attributes = fifoAttrs
			}
			out, err := client.CreateQueue(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			l := &load{
				T: t, client: client, queue: *out.QueueUrl,
				sent: map[string]bool{}, received: map[string]int{}, order: map[string][]string{},
			}
			var wg sync.WaitGroup
			for i := range clients {
				wg.Go(func() { l.send(fmt.Sprintf("g%02d", i), each) })
				wg.Go(func() { l.work(clients * each) })
			}
			wg.Wait()
			l.check(clients * each)
		})
	}
}

func (l *load) check(total int) {
	l.Helper()
	if len(l.sent) != total || len(l.received) != total || l.deleted.Load() != int64(total) {
		l.Errorf("sent %d, received %d, deleted %d, want %d of each",
			len(l.sent), len(l.received), l.deleted.Load(), total)
	}
	for id := range l.received {
		if !l.sent[id] {
			l.Errorf("%s was received and never sent", id)
		}
	}
	c := &client{T: l.T, Client: l.client}
	c.wantCounts(l.queue, "0/0/0")
	if !strings.HasSuffix(l.queue, ".fifo") {
		return
	}
	for group, bodies := range l.order {
		for i, body := range bodies {
			if want := fmt.Sprintf("%s-%04d", group, i); body != want {
				l.Fatalf("group %s: received %s as number %d, want %s", group, body, i, want)
			}
		}
	}
}
