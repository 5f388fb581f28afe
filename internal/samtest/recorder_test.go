package samtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// recorder passes calls on and records the permissions that they need.
type recorder struct {
	next http.Handler

	mu    sync.Mutex
	calls map[string]bool // "service:Action Resource"
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	for _, right := range rightsOf(request.Header.Get("X-Amz-Target"), body) {
		r.calls[right] = true
	}
	r.mu.Unlock()
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.next.ServeHTTP(w, request)
}

// rights returns the permissions that the calls so far needed.
func (r *recorder) rights() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.calls))
}

// rightsOf returns the permissions that a call needs, by AWS's service
// authorization reference: each entry of a batch and each action of a
// transaction needs the permission of the single call.
func rightsOf(target string, body []byte) []string {
	var call struct {
		QueueURL      string `json:"QueueUrl"`
		TableName     string
		TransactItems []map[string]struct{ TableName string }
	}
	service, operation, _ := strings.Cut(target, ".")
	if err := json.Unmarshal(body, &call); err != nil {
		return []string{target + " " + err.Error()}
	}
	switch {
	case service == "AmazonSQS":
		return []string{"sqs:" + strings.TrimSuffix(operation, "Batch") + " " + path.Base(call.QueueURL)}
	case operation == "TransactWriteItems":
		var rights []string
		for _, item := range call.TransactItems {
			for action, on := range item {
				rights = append(rights, "dynamodb:"+strings.TrimSuffix(action, "Item")+"Item "+on.TableName)
			}
		}
		return rights
	case strings.HasPrefix(service, "DynamoDB"):
		return []string{"dynamodb:" + operation + " " + call.TableName}
	}
	return []string{target}
}
