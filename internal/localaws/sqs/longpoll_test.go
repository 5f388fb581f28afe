package sqs_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// polled is the result of a long poll.
type polled struct {
	bodies string
	took   time.Duration
	err    error
}

// poll starts a long poll of 20 seconds and returns a channel for its result.
func (c *client) poll(ctx context.Context, url string) <-chan polled {
	done := make(chan polled, 1)
	start := time.Now()
	go func() {
		out, err := c.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
			QueueUrl: &url, WaitTimeSeconds: 20, VisibilityTimeout: 60,
		})
		var ms []types.Message
		if err == nil {
			ms = out.Messages
		}
		done <- polled{bodies(ms), time.Since(start), err}
	}()
	synctest.Wait()
	return done
}

func (c *client) wantPolled(done <-chan polled, want string, took time.Duration) {
	c.Helper()
	p := <-done
	if p.err != nil || p.bodies != want || p.took != took {
		c.Errorf("got %q after %s (%v), want %q after %s", p.bodies, p.took, p.err, want, took)
	}
}

func TestLongPollEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before func(c *client, q string)
		during func(c *client, q string) // called after 3 s
		want   string
		took   time.Duration
	}{
		"after its wait time": {want: "", took: 20 * time.Second},
		"after a send": {
			during: func(c *client, q string) { c.send(q, "x") },
			want:   "x", took: 3 * time.Second,
		},
		"at the end of a delay": {
			before: func(c *client, q string) {
				c.sendInput(&awssqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), DelaySeconds: 7})
			},
			want: "x", took: 7 * time.Second,
		},
		"at the end of a visibility timeout": {
			before: func(c *client, q string) {
				c.send(q, "x")
				c.one(q, 9)
			},
			want: "x", took: 9 * time.Second,
		},
		"at the end of a shortened visibility timeout": {
			before: func(c *client, q string) {
				c.send(q, "x")
				m := c.one(q, 60)
				c.must(c.change(q, m, 4))
			},
			want: "x", took: 4 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				q := c.create("q", nil)
				if tt.before != nil {
					tt.before(c, q)
				}
				done := c.poll(c.Context(), q)
				if tt.during != nil {
					wait(3 * time.Second)
					tt.during(c, q)
				}
				c.wantPolled(done, tt.want, tt.took)
			})
		})
	}
}

func TestLongPollsReceiveInOrderOfArrival(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		first, second := c.poll(c.Context(), q), c.poll(c.Context(), q)
		c.send(q, "a")
		c.wantPolled(first, "a", 0)
		wait(time.Second)
		c.send(q, "b")
		c.wantPolled(second, "b", time.Second)
	})
}

func TestEveryLongPollGetsAMessageOfABatch(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		var polls []<-chan polled
		for range 3 {
			polls = append(polls, c.poll(c.Context(), q))
		}
		_, err := c.SendMessageBatch(c.Context(), &awssqs.SendMessageBatchInput{QueueUrl: &q, Entries: entries(3)})
		c.must(err)
		for _, p := range polls {
			if got := <-p; got.bodies == "" || got.took != 0 {
				c.Errorf("got %q after %s", got.bodies, got.took)
			}
		}
	})
}

func TestCancelledLongPollReceivesNothing(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		ctx, cancel := context.WithCancel(c.Context())
		gone, waiting := c.poll(ctx, q), c.poll(c.Context(), q)
		wait(time.Second)
		cancel()
		if p := <-gone; !errors.Is(p.err, context.Canceled) || p.took != time.Second {
			c.Errorf("cancelled poll: %v after %s", p.err, p.took)
		}
		c.send(q, "x")
		c.wantPolled(waiting, "x", time.Second)
	})
}

func TestDeletedQueueEndsLongPolls(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		done := c.poll(c.Context(), q)
		_, err := c.DeleteQueue(c.Context(), &awssqs.DeleteQueueInput{QueueUrl: &q})
		c.must(err)
		if p := <-done; !modelled[*types.QueueDoesNotExist](p.err) {
			c.Errorf("got %v", p.err)
		}
	})
}

// Waiting long polls are served in the order of their arrival, whatever makes
// the messages visible, and also if an earlier poll was cancelled.
func TestLongPollsWakeInOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		queue   string
		before  func(c *client, q string) []types.Message
		release func(c *client, q string, held []types.Message, i int)
	}{
		"sends": {
			"q", func(*client, string) []types.Message { return nil },
			func(c *client, q string, _ []types.Message, i int) { c.send(q, strconv.Itoa(i)) },
		},
		"visibility timeouts that are set to 0": {
			"q", func(c *client, q string) []types.Message {
				for i := range 5 {
					c.send(q, strconv.Itoa(i))
				}
				return c.wantReceive(q, 600, "0,1,2,3,4")
			},
			func(c *client, q string, held []types.Message, i int) { c.must(c.change(q, held[i], 0)) },
		},
		"deletes that free a group": {
			"q.fifo", func(c *client, q string) []types.Message {
				var held []types.Message
				for i := range 5 {
					group := strconv.Itoa(i)
					c.sendGroup(q, group, "head "+group)
					held = append(held, c.one(q, 600))
					c.sendGroup(q, group, group)
				}
				return held
			},
			func(c *client, q string, held []types.Message, i int) { c.must(c.delete(q, held[i])) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *client) {
				var attributes attrs
				if tt.queue == "q.fifo" {
					attributes = fifoAttrs
				}
				q := c.create(tt.queue, attributes)
				held := tt.before(c, q)
				ctx, cancel := context.WithCancel(c.Context())
				polls := []<-chan polled{c.poll(c.Context(), q), c.poll(c.Context(), q)}
				gone := c.poll(ctx, q)
				polls = append(polls, c.poll(c.Context(), q), c.poll(c.Context(), q))
				cancel()
				if p := <-gone; !errors.Is(p.err, context.Canceled) {
					c.Errorf("cancelled poll: %v", p.err)
				}
				for i, done := range polls {
					wait(time.Second)
					tt.release(c, q, held, i)
					c.wantPolled(done, strconv.Itoa(i), time.Duration(i+1)*time.Second)
				}
			})
		})
	}
}

// If a long poll was woken for a message that another call has received, it
// keeps waiting, in its place of the order.
func TestLongPollKeepsWaitingWhenAnotherTookTheMessage(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		c.send(q, "x")
		m := c.one(q, 5)
		first, second := c.poll(c.Context(), q), c.poll(c.Context(), q)
		wait(4 * time.Second)
		c.must(c.delete(q, m))
		wait(4 * time.Second)
		c.send(q, "a")
		c.wantPolled(first, "a", 8*time.Second)
		c.wantPolled(second, "", 20*time.Second)
	})
}
