package jobfile_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/sqsafe/sqsafe/internal/jobfile"
)

func Example() {
	queue := func(name string) (jobfile.Queue, error) {
		return jobfile.Queue{Name: name, URL: "http://127.0.0.1:4570/123456789012/" + name}, nil
	}
	list, err := jobfile.Reader{File: "jobs.jsonl", Queue: queue}.Read(strings.NewReader(
		`{"queue":"orders","body":{"id":"o-1"}}
{"queue":"orders","body":"again","times":2}`))
	if err != nil {
		fmt.Println(err)
	}
	var api fakeSQS // in a program, an *sqs.Client
	err = jobfile.Send(context.Background(), &api, list, jobfile.Options{Observe: func(r jobfile.Result) {
		fmt.Println(r.Number, r.Job.Source, r.MessageID)
	}})
	fmt.Println(len(api.calls), "call,", err)
	// Output:
	// 1 jobs.jsonl:1 id of {"id":"o-1"}
	// 2 jobs.jsonl:2 id of again
	// 3 jobs.jsonl:2 id of again
	// 1 call, <nil>
}
