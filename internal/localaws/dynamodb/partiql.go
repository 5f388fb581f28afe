package dynamodb

import (
	"encoding/json"
	"reflect"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/shape"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// statement is what is checked of a PartiQL statement.
type statement struct {
	Parameters []json.RawMessage `rule:"len=1.."`
}

// refuseStatement runs no statement. What is wrong with the request is said first, as AWS
// was recorded to say it.
func refuseStatement(_ *Service, r *protocol.Request) (any, error) {
	members, err := shape.Object(r.Body)
	if err != nil {
		return nil, err
	}
	if err := shape.Rules(members, reflect.TypeFor[statement]()); err != nil {
		return nil, err
	}
	return nil, unknownOperation(r.Operation)
}
