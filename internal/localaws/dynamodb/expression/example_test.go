package expression_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

func Example() {
	scope, err := expression.NewScope(
		map[string]string{"#status": "status"},
		attribute.Item{":running": attribute.String("INPROGRESS")},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "attribute_not_exists(id) OR #status = :running"
	condition, err := scope.Condition("ConditionExpression", &text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(condition.Match(nil))
	fmt.Println(condition.Match(attribute.Item{
		"id": attribute.String("ch-1"), "status": attribute.String("COMPLETED"),
	}))
	// Output:
	// true
	// false
}
