package sqs

import (
	"encoding/base64"
	"encoding/json"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type startMoveInput struct {
	SourceARN      string `json:"SourceArn"`
	DestinationARN string `json:"DestinationArn"`
	Rate           *int   `json:"MaxNumberOfMessagesPerSecond"`
}

type startMoveOutput struct{ TaskHandle string }

func (s *Service) startMove(_ string, in startMoveInput) (*startMoveOutput, error) {
	q, err := s.checkMove(in)
	if err != nil {
		return nil, err
	}
	v := &move{
		id: NewID(), destination: in.DestinationARN, started: s.clock.Now(),
		total: q.counts[visible], status: moveRunning,
	}
	if in.Rate != nil {
		v.rate = *in.Rate
	}
	q.moves = append([]*move{v}, q.moves...)
	q.moves = q.moves[:min(len(q.moves), maxMoves)]
	s.proceed(q, v)
	return &startMoveOutput{q.moveHandle(v)}, nil
}

// checkMove returns the queue whose messages are to be moved, or an error if
// the task cannot be started.
func (s *Service) checkMove(in startMoveInput) (*queue, error) {
	q, err := s.resource("SourceArn", in.SourceARN)
	if err != nil {
		return nil, err
	}
	if !s.isDeadLetterQueue(q) {
		return nil, invalidParameter("Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationARN != "" {
		target, err := s.resource("DestinationArn", in.DestinationARN)
		switch {
		case err != nil:
			return nil, err
		case target == q:
			return nil, invalidParameter("Source queue arn and destination queue arn cannot be the same.")
		case target.fifo() != q.fifo():
			return nil, invalidParameter("Source queue and destination queue must be of the same type.")
		}
	}
	if n := in.Rate; n != nil && (*n < 1 || *n > maxMoveRate) {
		return nil, invalidValue(*n, "MaxNumberOfMessagesPerSecond", "Must be between 1 and 500, if provided.")
	}
	if len(q.moves) > 0 && q.moves[0].status == moveRunning {
		return nil, invalidParameter("There is already a task running. " +
			"Only one active task is allowed for a source queue arn at a given time.")
	}
	return q, nil
}

func (s *Service) isDeadLetterQueue(q *queue) bool {
	for _, source := range s.queues {
		if r := source.settings.redrive; r != nil && r.TargetARN == q.arn {
			return true
		}
	}
	return false
}

// resource returns the queue for a parameter that is an ARN, advanced to the
// current time.
func (s *Service) resource(parameter, arn string) (*queue, error) {
	if arn == "" {
		return nil, missing(parameter)
	}
	q := s.byARN(arn)
	if q == nil {
		return nil, notFound("The resource that you specified for the %s parameter doesn't exist.", parameter)
	}
	q.advance(s.clock.Now())
	return q, nil
}

func notFound(format string, args ...any) *protocol.Error {
	return refusal("ResourceNotFoundException", format, args...)
}

type listMovesInput struct {
	SourceARN  string `json:"SourceArn"`
	MaxResults *int
}

type listMovesOutput struct{ Results []listedMove }

// listedMove is a task as ListMessageMoveTasks returns it.
type listedMove struct {
	Moved         int        `json:"ApproximateNumberOfMessagesMoved"`
	ToMove        int        `json:"ApproximateNumberOfMessagesToMove"`
	Destination   string     `json:"DestinationArn,omitempty"`
	FailureReason string     `json:",omitempty"`
	Rate          int        `json:"MaxNumberOfMessagesPerSecond,omitempty"`
	Source        string     `json:"SourceArn"`
	Started       int64      `json:"StartedTimestamp"` // milliseconds
	Status        moveStatus `json:"Status"`
	TaskHandle    string     `json:",omitempty"` // only of a running task
}

func (s *Service) listMoves(_ string, in listMovesInput) (*listMovesOutput, error) {
	q, err := s.resource("SourceArn", in.SourceARN)
	if err != nil {
		return nil, err
	}
	n := 1
	if in.MaxResults != nil {
		if n = *in.MaxResults; n < 1 || n > maxMoves {
			return nil, invalidValue(n, "MaxResults", "Must be between 1 and 10, if provided.")
		}
	}
	out := &listMovesOutput{Results: []listedMove{}}
	for _, v := range q.moves[:min(n, len(q.moves))] {
		listed := listedMove{
			Moved: v.moved, ToMove: v.total, Destination: v.destination, FailureReason: v.failureReason,
			Rate: v.rate, Source: q.arn, Started: v.started.UnixMilli(), Status: v.status,
		}
		if v.status == moveRunning {
			listed.TaskHandle = q.moveHandle(v)
		}
		out.Results = append(out.Results, listed)
	}
	return out, nil
}

type cancelMoveInput struct{ TaskHandle string }

type cancelMoveOutput struct {
	Moved int `json:"ApproximateNumberOfMessagesMoved"`
}

func (s *Service) cancelMove(_ string, in cancelMoveInput) (*cancelMoveOutput, error) {
	if in.TaskHandle == "" {
		return nil, missing("TaskHandle")
	}
	var handle moveHandle
	text, err := base64.StdEncoding.DecodeString(in.TaskHandle)
	if err != nil || json.Unmarshal(text, &handle) != nil {
		return nil, invalidParameter("Value for parameter TaskHandle is invalid.")
	}
	q, err := s.resource("SourceArn", handle.Source)
	if err != nil {
		return nil, err
	}
	for _, v := range q.moves {
		if v.id != handle.Task {
			continue
		}
		if v.status != moveRunning {
			return nil, refusal("UnsupportedOperation",
				"Only a task that is RUNNING can be cancelled; this one is %s.", v.status)
		}
		v.status = moveCancelled
		return &cancelMoveOutput{v.moved}, nil
	}
	return nil, notFound("Task does not exist.")
}

// moveHandle is what a task handle holds: JSON in base64, as in SQS.
type moveHandle struct {
	Task   string `json:"taskId"`
	Source string `json:"sourceArn"`
}

func (q *queue) moveHandle(v *move) string {
	text, _ := json.Marshal(moveHandle{v.id, q.arn}) // strings can be encoded
	return base64.StdEncoding.EncodeToString(text)
}
