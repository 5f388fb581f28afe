package runtimeapi_test

import (
	"context"
	"fmt"
	"os"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

func Example() {
	function, err := runtimeapi.New(runtimeapi.Options{
		Name:        "charge",
		Binary:      os.Args[0],
		Environment: map[string]string{programVariable: "lambda"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	answer, err := function.Invoke(ctx, []byte(`{"do":"write","size":3}`))
	fmt.Printf("%s %v\n", answer, err)
	_, err = function.Invoke(ctx, []byte(`{"do":"fail","text":"card declined"}`))
	fmt.Println(err)
	fmt.Println(function.Close(ctx))
	// Output:
	// "xxx" <nil>
	// errorString: card declined
	// <nil>
}
