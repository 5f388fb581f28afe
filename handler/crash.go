package handler

import (
	"fmt"

	"github.com/aws/aws-lambda-go/lambda/messages"
)

// acknowledge deletes what was finished before a crash, because the batch will
// have no response from which Lambda could tell.
func (b *batch) acknowledge() {
	if b.options.Queue == nil {
		return
	}
	var finished []*entry
	back := b.comingBack()
	for _, e := range b.entries {
		if e.acknowledged() && !back[e.record.MessageId] {
			finished = append(finished, e)
		}
	}
	b.delete(finished)
}

// exit is the value to panic with so that the Lambda runtime reports the
// original message and ends the process.
func exit(r *Result) messages.InvokeResponse_Error {
	out := messages.InvokeResponse_Error{Type: fmt.Sprintf("%T", r.Err), ShouldExit: true}
	if r.Err != nil {
		out.Message = cut(text(r.Err), failureTextBytes)
	}
	return out
}
