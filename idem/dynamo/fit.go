package dynamo

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
)

// DynamoDB keeps items of up to 400 KB, names and values together.
const (
	verdictBytes = 256 << 10
	historyBytes = 64 << 10
)

// encodeHistory leaves out attempts of the middle until the rest fits.
func encodeHistory(h handler.History) (types.AttributeValue, error) {
	for {
		document, err := json.Marshal(h)
		if err != nil {
			return nil, err
		}
		if len(document) <= historyBytes || len(h.Attempts) == 0 {
			return text(string(document)), nil
		}
		middle := len(h.Attempts) / 2
		attempts := append([]handler.Attempt{}, h.Attempts[:middle]...)
		h = handler.History{Attempts: append(attempts, h.Attempts[middle+1:]...), Dropped: h.Dropped + 1}
	}
}

// encodeVerdict cuts the failure until it fits: the stack first, then the
// history, which the item has beside it, then the texts.
func encodeVerdict(f handler.Failure) (types.AttributeValue, error) {
	cuts := []func(){
		func() { f.Stack = cut(f.Stack, verdictBytes/4) },
		func() { f.Stack = "" },
		func() { f.History = handler.History{Dropped: f.Runs()} },
		func() { f.Message = cut(f.Message, verdictBytes/8) },
		func() { f.Types, f.Key = nil, "" },
	}
	for {
		document, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		if len(document) <= verdictBytes || len(cuts) == 0 {
			return text(string(document)), nil
		}
		cuts[0]()
		cuts = cuts[1:]
	}
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
