package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// taskHandle is what a task handle holds, as JSON in base64.
type taskHandle struct {
	Task   string `json:"taskId"`
	Source string `json:"sourceArn"`
}

func (h taskHandle) encode() *string {
	text, _ := json.Marshal(h) // strings can be encoded
	return aws.String(base64.StdEncoding.EncodeToString(text))
}

func (e *sqsEnv) cancelMove(t T, handle *string) error {
	_, err := e.c.CancelMessageMoveTask(t.Context(), &sqs.CancelMessageMoveTaskInput{TaskHandle: handle})
	return err
}

func (e *sqsEnv) startMove(t T, in sqs.StartMessageMoveTaskInput) (handle string, err error) {
	out, err := e.c.StartMessageMoveTask(t.Context(), &in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.TaskHandle), nil
}

var sqsRecordedMoveChecks = []check[*sqsEnv]{
	{
		id:    "sqs/redrive/task-handle",
		doc:   "A task handle is JSON in base64 with the id of the task and the ARN of its source.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.fill(t, src, dlq, 2)
			arn := e.arn(t, dlq)
			handle, err := e.startMove(t, sqs.StartMessageMoveTaskInput{
				SourceArn: &arn, MaxNumberOfMessagesPerSecond: aws.Int32(1),
			})
			must(t, "StartMessageMoveTask", err)
			text, err := base64.StdEncoding.DecodeString(handle)
			must(t, "the handle", err)
			var got taskHandle
			must(t, "the handle", json.Unmarshal(text, &got))
			equal(t, "source", got.Source, arn)
			equal(t, "has an id", got.Task != "", true)
		},
	},
	{
		id:    "sqs/redrive/cancel-unknown-task",
		doc:   "CancelMessageMoveTask of an unknown task or of an unknown source fails with ResourceNotFoundException (404).",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			arn := e.arn(t, e.queue(t, nil))
			const task = "10f6f8ae-a2fd-4f8d-8f1f-3c1d5c2e1f0b"
			wantAnswer(t, e.cancelMove(t, taskHandle{task, arn}.encode()), 404, "ResourceNotFoundException",
				"Task does not exist.")
			wantAnswer(t, e.cancelMove(t, taskHandle{task, arn + "x"}.encode()), 404, "ResourceNotFoundException",
				"The resource that you specified for the SourceArn parameter doesn't exist.")
			wantAnswer(t, e.cancelMove(t, aws.String("foobar")), 400, "InvalidParameterValue",
				"Value for parameter TaskHandle is invalid.")
		},
	},
	{
		id:    "sqs/redrive/move-to-missing-queue",
		doc:   "StartMessageMoveTask to a queue that does not exist fails with ResourceNotFoundException (404).",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			_, dlq := e.pair(t, "1", false)
			arn := e.arn(t, dlq)
			_, err := e.startMove(t, sqs.StartMessageMoveTaskInput{SourceArn: &arn, DestinationArn: aws.String(arn + "x")})
			wantAnswer(t, err, 404, "ResourceNotFoundException",
				"The resource that you specified for the DestinationArn parameter doesn't exist.")
		},
	},
	{
		id:    "sqs/redrive/one-move-at-a-time",
		doc:   "StartMessageMoveTask fails while another task of the same source runs.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			src, dlq := e.pair(t, "1", false)
			e.fill(t, src, dlq, 3)
			in := sqs.StartMessageMoveTaskInput{
				SourceArn: aws.String(e.arn(t, dlq)), MaxNumberOfMessagesPerSecond: aws.Int32(1),
			}
			_, err := e.startMove(t, in)
			must(t, "StartMessageMoveTask", err)
			_, err = e.startMove(t, in)
			wantAnswer(t, err, 400, "InvalidParameterValue", "There is already a task running.")
		},
	},
}

func (e *sqsEnv) allow(t T, url, label string, accounts ...string) error {
	_, err := e.c.AddPermission(t.Context(), &sqs.AddPermissionInput{
		QueueUrl: &url, Label: &label, AWSAccountIds: accounts, Actions: []string{"ReceiveMessage"},
	})
	return err
}

func (e *sqsEnv) disallow(t T, url, label string) error {
	_, err := e.c.RemovePermission(t.Context(), &sqs.RemovePermissionInput{QueueUrl: &url, Label: &label})
	return err
}

var sqsPermissionChecks = []check[*sqsEnv]{
	{
		id:    "sqs/permissions/statement-of-policy",
		doc:   "AddPermission adds a statement to the attribute Policy; with the last RemovePermission the attribute goes.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			arn := e.arn(t, q)
			account := strings.Split(arn, ":")[4]
			must(t, "AddPermission", e.allow(t, q, "one", account))
			equal(t, "policy", e.attributes(t, q, "Policy")["Policy"], `{"Version":"2008-10-17","Id":"`+arn+
				`/SQSDefaultPolicy","Statement":[{"Sid":"one","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::`+account+
				`:root"},"Action":"SQS:ReceiveMessage","Resource":"`+arn+`"}]}`)
			must(t, "AddPermission", e.allow(t, q, "two", account))
			must(t, "RemovePermission", e.disallow(t, q, "one"))
			must(t, "RemovePermission", e.disallow(t, q, "two"))
			equal(t, "policy", e.attributes(t, q, "Policy")["Policy"], "")
		},
	},
	{
		id:    "sqs/permissions/label-used-once",
		doc:   "AddPermission refuses a label that the policy has, RemovePermission one that it has not.",
		basis: recorded,
		run: func(t T, e *sqsEnv) {
			q := e.queue(t, nil)
			account := strings.Split(e.arn(t, q), ":")[4]
			must(t, "AddPermission", e.allow(t, q, "one", account))
			wantAnswer(t, e.allow(t, q, "one", account), 400, "InvalidParameterValue",
				"Value one for parameter Label is invalid. Reason: Already exists.")
			wantAnswer(t, e.disallow(t, q, "two"), 400, "InvalidParameterValue",
				"Value two for parameter Label is invalid. Reason: can't find label.")
		},
	},
}
