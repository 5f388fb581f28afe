package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/sqsafe/sqsafe/internal/redact"
)

// namesPath is where a local stack tells the names of its queues by their logical ids.
const namesPath = "/_sqsafe/queues"

// QueueNames asks the local stack at endpoint for the names of its queues by their
// logical ids. Another engine answers with an error.
func QueueNames(ctx context.Context, endpoint string) (map[string]string, error) {
	names := map[string]string{}
	return names, ask(ctx, endpoint, namesPath, &names)
}

// ask reads what a local stack tells beside the APIs of AWS.
func ask(ctx context.Context, endpoint, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is no local stack: HTTP %d", redact.URL(endpoint), response.StatusCode)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// serveNames answers what [QueueNames] asks.
func (s *Stack) serveNames(w http.ResponseWriter, _ *http.Request) {
	names := map[string]string{}
	for _, q := range s.template.Queues {
		names[q.LogicalID] = q.Name
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(names) // whoever asked has gone
}
