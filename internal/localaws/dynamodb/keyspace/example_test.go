package keyspace_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

func ExampleTree_Ascend() {
	tree, partition := keyspace.NewTree(), attribute.String("p")
	for _, sortKey := range []attribute.String{"c", "a", "b"} {
		item := attribute.Item{"sk": sortKey}
		tree.Set(keyspace.NewPlace(partition, sortKey, string(sortKey)), item)
	}
	for item := range tree.Ascend(keyspace.Partition(partition, attribute.String("b"), nil)) {
		fmt.Println(item["sk"])
	}
	// Output:
	// b
	// c
}
