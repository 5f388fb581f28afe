package runbook_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// awsOnly serves all of AWS at one address: the emulators, the outputs of the
// stack, and an error for everything else.
type awsOnly struct {
	local   http.Handler
	outputs func() map[string]string
	lambda  *mappings
	// sent is called after messages were sent to a queue; nil means no call.
	sent func()

	mu sync.Mutex
	// refused are the calls that nothing here can answer.
	refused []string
}

// anID is used as the physical id of a resource and as the id of a query.
const anID = "5f0c7a3e-9d41-4b86-8e2f-0a6b3c9d1e75"

// take returns the calls that were refused since its last call.
func (a *awsOnly) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	refused := a.refused
	a.refused = nil
	return refused
}

func (a *awsOnly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		a.query(w, r)
		return
	}
	service, call, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service == "AmazonSQS" || service == "DynamoDB_20120810" {
		a.local.ServeHTTP(w, r)
		if a.sent != nil && strings.HasPrefix(call, "SendMessage") {
			a.sent()
		}
		return
	}
	if a.lambda.serve(w, r) || serveAge(w, r) {
		return
	}
	if !ok {
		path := strings.NewReplacer(anID, "ID", "ChargeFunction", "FUNCTION").Replace(strings.TrimSuffix(r.URL.Path, "/"))
		call = r.Method + " " + path
	}
	a.mu.Lock()
	a.refused = append(a.refused, call)
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if call == "StartQuery" {
		_, _ = io.WriteString(w, `{"queryId":"`+anID+`"}`) // the next command names this id
		return
	}
	w.Header().Set("X-Amzn-Errortype", "OnlyInAWS")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"OnlyInAWS","message":"not here"}`)
}

type output struct{ OutputKey, OutputValue string }

type describeStacks struct {
	XMLName xml.Name `xml:"DescribeStacksResponse"`
	Outputs []output `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
}

type describeResource struct {
	XMLName  xml.Name `xml:"DescribeStackResourceResponse"`
	Physical string   `xml:"DescribeStackResourceResult>StackResourceDetail>PhysicalResourceId"`
}

// query answers calls to CloudFormation, whose protocol uses forms and XML.
func (a *awsOnly) query(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	w.Header().Set("Content-Type", "text/xml")
	switch form.Get("Action") {
	case "DescribeStacks":
		answer := describeStacks{}
		for key, value := range a.outputs() {
			answer.Outputs = append(answer.Outputs, output{key, value})
		}
		_ = xml.NewEncoder(w).Encode(answer)
	case "DescribeStackResource":
		id := form.Get("LogicalResourceId")
		if id == "ChargeFunctionCharge" { // a mapping has no name, only an id
			id = anID
		}
		if id == "LedgerTable" {
			id = table
		}
		_ = xml.NewEncoder(w).Encode(describeResource{Physical: id})
	default:
		http.Error(w, "not here: "+form.Get("Action"), http.StatusBadRequest)
	}
}
