package local

import (
	"encoding/json"
	"net/http"
	"strings"
)

// mappingsPath is where Lambda's API has event source mappings.
const mappingsPath = "/2015-03-31/event-source-mappings"

// lambdaAPI answers the calls of Lambda's API that list event source mappings, and enable
// and disable them.
type lambdaAPI []*sourceMapping

func (a lambdaAPI) register(mux *http.ServeMux) {
	for _, list := range []string{mappingsPath, mappingsPath + "/{$}"} { // SDKs send either
		mux.HandleFunc("GET "+list, a.list)
	}
	mux.HandleFunc("GET "+mappingsPath+"/{id}", a.get)
	mux.HandleFunc("PUT "+mappingsPath+"/{id}", a.update)
	for _, other := range []string{mappingsPath, mappingsPath + "/"} {
		mux.HandleFunc(other, func(w http.ResponseWriter, _ *http.Request) {
			refuseLambda(w, http.StatusNotImplemented, "NotImplementedException",
				"the local stack has ListEventSourceMappings, GetEventSourceMapping and UpdateEventSourceMapping only")
		})
	}
}

// mappingConfiguration is what Lambda's reference calls EventSourceMappingConfiguration.
type mappingConfiguration struct {
	UUID                           string
	State, StateTransitionReason   string
	EventSourceArn, FunctionArn    string
	BatchSize                      int
	MaximumBatchingWindowInSeconds int
	FunctionResponseTypes          []string       `json:",omitempty"`
	ScalingConfig                  *scalingConfig `json:",omitempty"`
	LastModified                   float64        // seconds since 1970
}

type scalingConfig struct{ MaximumConcurrency int }

func newMappingConfiguration(m *sourceMapping) mappingConfiguration {
	state, modified := m.state()
	c := mappingConfiguration{
		UUID: m.id, State: state, StateTransitionReason: "USER_INITIATED", EventSourceArn: m.queue, FunctionArn: m.function,
		BatchSize: m.event.BatchSize, MaximumBatchingWindowInSeconds: int(m.event.Window.Seconds()),
		LastModified: float64(modified.UnixMilli()) / 1000,
	}
	if m.event.ReportBatchItemFailures {
		c.FunctionResponseTypes = []string{"ReportBatchItemFailures"}
	}
	if n := m.event.MaximumConcurrency; n > 0 {
		c.ScalingConfig = &scalingConfig{n}
	}
	return c
}

func (a lambdaAPI) list(w http.ResponseWriter, r *http.Request) {
	arn, name := r.URL.Query().Get("EventSourceArn"), r.URL.Query().Get("FunctionName")
	all := []mappingConfiguration{}
	for _, m := range a {
		if (arn == "" || arn == m.queue) && (name == "" || name == m.function || strings.HasSuffix(m.function, ":"+name)) {
			all = append(all, newMappingConfiguration(m))
		}
	}
	answerLambda(w, http.StatusOK, map[string]any{"EventSourceMappings": all})
}

func (a lambdaAPI) find(w http.ResponseWriter, r *http.Request) *sourceMapping {
	for _, m := range a {
		if m.id == r.PathValue("id") {
			return m
		}
	}
	refuseLambda(w, http.StatusNotFound, "ResourceNotFoundException", "The resource you requested does not exist.")
	return nil
}

func (a lambdaAPI) get(w http.ResponseWriter, r *http.Request) {
	if m := a.find(w, r); m != nil {
		answerLambda(w, http.StatusOK, newMappingConfiguration(m))
	}
}

func (a lambdaAPI) update(w http.ResponseWriter, r *http.Request) {
	m := a.find(w, r)
	if m == nil {
		return
	}
	var in struct{ Enabled *bool }
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		refuseLambda(w, http.StatusBadRequest, "InvalidParameterValueException",
			"the local stack changes Enabled only: "+err.Error())
		return
	}
	if in.Enabled != nil {
		m.set(*in.Enabled)
	}
	answerLambda(w, http.StatusAccepted, newMappingConfiguration(m))
}

func answerLambda(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked has gone
}

func refuseLambda(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	answerLambda(w, status, map[string]string{"Type": "User", "Message": message})
}
