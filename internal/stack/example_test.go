package stack_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/stack"
)

func ExampleRead() {
	s, err := stack.Read("testdata/short.yaml", &stack.Options{
		Parameters: map[string]string{"Retries": "9"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range s.Functions {
		source, _ := s.Queue(f.Events[0].Queue)
		fmt.Println(f.Name, "reads", source.Name, "and has", f.Timeout)
		fmt.Println("after", source.MaxReceiveCount, "receives:", source.DeadLetterQueue)
	}
	// Output:
	// Worker reads Work and has 10s
	// after 9 receives: Dead
}

func ExampleError() {
	_, err := stack.Read("testdata/short.yaml", &stack.Options{
		Parameters: map[string]string{"Stage": "live"},
	})
	fmt.Println(err)
	// Output:
	// testdata/short.yaml:5: parameter Stage: "live" is not among its AllowedValues: test, prod
}
