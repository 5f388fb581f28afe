package local

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// agesPath is where a local stack tells what SQS itself has in CloudWatch only.
const agesPath = "/_sqsafe/ages"

// Oldest asks the local stack at endpoint when the oldest message came into each queue, by
// name. Queues without messages are missing. Another engine answers with an error.
func Oldest(ctx context.Context, endpoint string) (map[string]time.Time, error) {
	ages := map[string]time.Time{}
	return ages, ask(ctx, endpoint, agesPath, &ages)
}

// serveAges answers what [Oldest] asks.
func (s *Stack) serveAges(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.server.SQS().Oldest()) // an error means that whoever asked has gone
}
