package filter_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

func Example() {
	criteria, err := filter.Parse(`{"body":{"amount":[{"numeric":[">",100]}]}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{`{"amount":250}`, `{"amount":20}`, `250`} {
		fmt.Printf("%s: %q\n", body, criteria.Match(body))
	}
	// Output:
	// {"amount":250}: ""
	// {"amount":20}: "no filter pattern matches the body"
	// 250: "the body is plain text where the filter pattern expects JSON"
}
