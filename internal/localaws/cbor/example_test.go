package cbor_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/cbor"
)

func Example() {
	body, err := cbor.Marshal(struct{ AlarmNames []string }{[]string{"flood"}})
	fmt.Printf("%x %v\n", body, err)
	text, err := cbor.ToJSON(body)
	fmt.Println(string(text), err)
	// Output:
	// a16a416c61726d4e616d65738165666c6f6f64 <nil>
	// {"AlarmNames":["flood"]} <nil>
}
