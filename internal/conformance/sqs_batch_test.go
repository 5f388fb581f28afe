package conformance_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// entryID is the id of the entry i, or the same for all.
func entryID(i int, same bool) *string {
	if same {
		i = 0
	}
	return aws.String("e" + strconv.Itoa(i))
}

func (e *sqsEnv) sendBatch(
	t T, q string, es []types.SendMessageBatchRequestEntry,
) (*sqs.SendMessageBatchOutput, error) {
	return e.c.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
}

func (e *sqsEnv) deleteBatch(t T, n int, sameID bool) error {
	q := e.queue(t, nil)
	es := make([]types.DeleteMessageBatchRequestEntry, n)
	for i := range es {
		es[i] = types.DeleteMessageBatchRequestEntry{Id: entryID(i, sameID), ReceiptHandle: aws.String("garbage")}
	}
	_, err := e.c.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: es})
	return err
}

func (e *sqsEnv) visibilityBatch(t T, n int, sameID bool) error {
	q := e.queue(t, nil)
	es := make([]types.ChangeMessageVisibilityBatchRequestEntry, n)
	for i := range es {
		es[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id:                entryID(i, sameID),
			ReceiptHandle:     aws.String("garbage"),
			VisibilityTimeout: 5,
		}
	}
	_, err := e.c.ChangeMessageVisibilityBatch(
		t.Context(), &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q, Entries: es},
	)
	return err
}

// failedEntry tells id, code and blame of the only failed entry.
func failedEntry(t T, ok int, failed []types.BatchResultErrorEntry) string {
	t.Helper()
	if ok != 1 || len(failed) != 1 {
		t.Fatalf("%d entries succeeded and %d failed, want 1 and 1", ok, len(failed))
	}
	f := failed[0]
	return fmt.Sprintf("%s %s senderFault=%v", aws.ToString(f.Id), aws.ToString(f.Code), f.SenderFault)
}

var sqsBatchChecks = []check[*sqsEnv]{
	{
		id:  "sqs/batch/send-ten",
		doc: "SendMessageBatch takes 10 messages and reports each of them.",
		run: func(t T, e *sqsEnv) {
			out, err := e.sendBatch(t, e.queue(t, nil), sendEntries(10))
			must(t, "SendMessageBatch", err)
			equal(t, "succeeded/failed", fmt.Sprint(len(out.Successful), "/", len(out.Failed)), "10/0")
		},
	},
	{
		id:  "sqs/batch/send-duplicate-ids",
		doc: "SendMessageBatch fails with BatchEntryIdsNotDistinct when two entries have the same id.",
		run: func(t T, e *sqsEnv) {
			es := sendEntries(2)
			es[1].Id = es[0].Id
			_, err := e.sendBatch(t, e.queue(t, nil), es)
			wantError[*types.BatchEntryIdsNotDistinct](t, err)
		},
	},
	{
		id:  "sqs/batch/send-eleven",
		doc: "SendMessageBatch of more than 10 entries fails with TooManyEntriesInBatchRequest.",
		run: func(t T, e *sqsEnv) {
			_, err := e.sendBatch(t, e.queue(t, nil), sendEntries(11))
			wantError[*types.TooManyEntriesInBatchRequest](t, err)
		},
	},
	{
		id:  "sqs/batch/send-empty",
		doc: "SendMessageBatch without entries fails with EmptyBatchRequest.",
		run: func(t T, e *sqsEnv) {
			_, err := e.sendBatch(t, e.queue(t, nil), []types.SendMessageBatchRequestEntry{})
			wantError[*types.EmptyBatchRequest](t, err)
		},
	},
	{
		id: "sqs/batch/send-invalid-entry-id",
		doc: "SendMessageBatch fails with InvalidBatchEntryId: an entry id has alphanumeric characters, hyphens and " +
			"underscores only.",
		run: func(t T, e *sqsEnv) {
			es := sendEntries(1)
			es[0].Id = aws.String("a b!")
			_, err := e.sendBatch(t, e.queue(t, nil), es)
			wantError[*types.InvalidBatchEntryId](t, err)
		},
	},
	{
		id:  "sqs/batch/send-too-long",
		doc: "SendMessageBatch of more than 1 MiB in all fails with BatchRequestTooLong.",
		run: func(t T, e *sqsEnv) {
			es := sendEntries(6)
			for i := range es {
				es[i].MessageBody = aws.String(strings.Repeat("x", 200<<10))
			}
			_, err := e.sendBatch(t, e.queue(t, nil), es)
			wantError[*types.BatchRequestTooLong](t, err)
		},
	},
	{
		id: "sqs/batch/send-partial-failure",
		doc: "SendMessageBatch reports the result of each message: one with a character outside the allowed set " +
			"fails, the other is sent.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			es := sendEntries(2)
			es[1].MessageBody = aws.String("a\x01b")
			out, err := e.sendBatch(t, q, es)
			must(t, "SendMessageBatch", err)
			failed := failedEntry(t, len(out.Successful), out.Failed)
			if !strings.HasPrefix(failed, "e1 ") || !strings.HasSuffix(failed, " senderFault=true") {
				t.Fatalf("failed: got %s, want e1 by the sender's fault", failed)
			}
			t.Logf("failed: %s", failed)
			equal(t, "sent", bodies(e.receiveSome(t, q, rcv{max: 10, vis: 30}, 0)), "b0")
		},
	},
	{
		id:  "sqs/batch/send-fifo-entry-without-group",
		doc: "SendMessageBatch to a FIFO queue fails as a whole when an entry has no MessageGroupId.",
		debatable: "the documentation says that each message needs a group id, not whether its lack fails the entry " +
			"or the request; recordings of the real service show the request",
		run: func(t T, e *sqsEnv) {
			es := sendEntries(2)
			es[0].MessageGroupId = aws.String("g")
			out, err := e.sendBatch(t, e.queue(t, fifoAttrs), es)
			if err == nil {
				t.Fatalf("the request succeeded: %d entries succeeded and %d failed", len(out.Successful), len(out.Failed))
			}
			wantRejected(t, err)
		},
	},
	{
		id: "sqs/batch/delete-partial-failure",
		doc: "DeleteMessageBatch reports the result of each entry: one with an invalid receipt handle fails, the " +
			"other is deleted.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 30)
			out, err := e.c.DeleteMessageBatch(
				t.Context(),
				&sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: []types.DeleteMessageBatchRequestEntry{
					{
						Id:            aws.String("good"),
						ReceiptHandle: m.ReceiptHandle,
					},
					{Id: aws.String("bad"), ReceiptHandle: aws.String("garbage")},
				}},
			)
			must(t, "DeleteMessageBatch", err)
			equal(t, "failed", failedEntry(t, len(out.Successful), out.Failed), "bad ReceiptHandleIsInvalid senderFault=true")
			e.wantCounts(t, q, "0/0/0", 0)
		},
	},
	{
		id:  "sqs/batch/delete-duplicate-ids",
		doc: "DeleteMessageBatch fails with BatchEntryIdsNotDistinct when two entries have the same id.",
		run: func(t T, e *sqsEnv) { wantError[*types.BatchEntryIdsNotDistinct](t, e.deleteBatch(t, 2, true)) },
	},
	{
		id:  "sqs/batch/delete-eleven",
		doc: "DeleteMessageBatch of more than 10 entries fails with TooManyEntriesInBatchRequest.",
		run: func(t T, e *sqsEnv) { wantError[*types.TooManyEntriesInBatchRequest](t, e.deleteBatch(t, 11, false)) },
	},
	{
		id:  "sqs/batch/delete-empty",
		doc: "DeleteMessageBatch without entries fails with EmptyBatchRequest.",
		run: func(t T, e *sqsEnv) { wantError[*types.EmptyBatchRequest](t, e.deleteBatch(t, 0, false)) },
	},
	{
		id:  "sqs/batch/visibility-duplicate-ids",
		doc: "ChangeMessageVisibilityBatch fails with BatchEntryIdsNotDistinct when two entries have the same id.",
		run: func(t T, e *sqsEnv) { wantError[*types.BatchEntryIdsNotDistinct](t, e.visibilityBatch(t, 2, true)) },
	},
	{
		id:  "sqs/batch/visibility-eleven",
		doc: "ChangeMessageVisibilityBatch of more than 10 entries fails with TooManyEntriesInBatchRequest.",
		run: func(t T, e *sqsEnv) {
			wantError[*types.TooManyEntriesInBatchRequest](t, e.visibilityBatch(t, 11, false))
		},
	},
	{
		id:  "sqs/batch/visibility-empty",
		doc: "ChangeMessageVisibilityBatch without entries fails with EmptyBatchRequest.",
		run: func(t T, e *sqsEnv) { wantError[*types.EmptyBatchRequest](t, e.visibilityBatch(t, 0, false)) },
	},
	{
		id: "sqs/batch/visibility-partial-failure",
		doc: "ChangeMessageVisibilityBatch reports the result of each entry: one with an invalid receipt handle " +
			"fails, the other is visible at once with a timeout of 0.",
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			e.send(t, q, "x")
			m := e.receiveOne(t, q, 60)
			out, err := e.c.ChangeMessageVisibilityBatch(
				t.Context(),
				&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
					{
						Id:            aws.String("good"),
						ReceiptHandle: m.ReceiptHandle,
					},
					{Id: aws.String("bad"), ReceiptHandle: aws.String("garbage")},
				}},
			)
			must(t, "ChangeMessageVisibilityBatch", err)
			equal(t, "failed", failedEntry(t, len(out.Successful), out.Failed), "bad ReceiptHandleIsInvalid senderFault=true")
			e.receiveOne(t, q, 30)
		},
	},
}
