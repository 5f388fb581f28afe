package attribute_test

import (
	"encoding/json"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

func Example() {
	var item attribute.Item
	body := `{"id":{"S":"ch-1"},"amount":{"N":"12.50"}}`
	if err := json.Unmarshal([]byte(body), &item); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item["amount"], item.Size())
	// Output: 12.5 15
}
