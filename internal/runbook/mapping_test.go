package runbook_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// mappings is Lambda with the event source mapping of the queue of charges.
type mappings struct {
	mu    sync.Mutex
	state string
}

const mappingsPath = "/2015-03-31/event-source-mappings"

// serve answers calls on mappings, and reports whether it did.
func (m *mappings) serve(w http.ResponseWriter, r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, mappingsPath)
	if !ok {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method == http.MethodPut {
		var in struct{ Enabled bool }
		_ = json.NewDecoder(r.Body).Decode(&in)
		m.state = "Disabled"
		if in.Enabled {
			m.state = "Enabled"
		}
	}
	one := fmt.Sprintf(`{"UUID":%q,"State":%q,"StateTransitionReason":"USER_INITIATED","LastProcessingResult":"OK",`+
		`"EventSourceArn":%q,"FunctionArn":"arn:aws:lambda:%s:%s:function:%s:live"}`,
		anID, m.state, arn(charges), region, account, function)
	w.Header().Set("Content-Type", "application/json")
	if strings.Trim(rest, "/") == "" {
		if asked := r.URL.Query().Get("EventSourceArn"); asked != arn(charges) {
			one = ""
		}
		one = `{"EventSourceMappings":[` + one + `]}`
	}
	_, _ = fmt.Fprint(w, one)
	return true
}

// oldest is the age of the oldest job in CloudWatch.
const oldest = 50 * time.Hour

// serveAge answers the question for that age, and reports whether it did.
func serveAge(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/operation/GetMetricStatistics") {
		return false
	}
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	w.Header().Set("Content-Type", "application/cbor")
	point := cbor.Map{
		"Timestamp": &cbor.Tag{ID: 1, Value: cbor.Float64(time.Now().Unix())},
		"Maximum":   cbor.Float64(oldest.Seconds()),
	}
	_, _ = w.Write(cbor.Encode(cbor.Map{"Datapoints": cbor.List{point}}))
	return true
}
