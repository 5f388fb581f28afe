package deadletters

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// foreign recognizes the letters of Lambda, EventBridge and SNS, by the attributes and the
// bodies that the guides of these services document.
func (l *Letter) foreign(m *Message) {
	text := func(name string) string {
		a := m.Attributes[name]
		return aws.ToString(a.StringValue)
	}
	l.Record.MessageID = m.ID
	switch {
	case text("RequestID") != "" && text("ErrorCode") != "":
		l.Kind = KindLambda
		l.Record.RequestID, l.Record.Message = text("RequestID"), text("ErrorMessage")
		l.Record.Reason = "asynchronous invocation"
		l.Record.Codes.HTTPStatus, _ = strconv.Atoi(text("ErrorCode"))
	case text("RULE_ARN") != "" && text("ERROR_CODE") != "":
		l.Kind = KindEventBridge
		l.Record.Reason, l.Record.Message = "undelivered event", text("ERROR_MESSAGE")
		l.Record.Rule, l.Record.Function = text("RULE_ARN"), text("TARGET_ARN")
		l.Record.Codes.AWS = text("ERROR_CODE")
		l.Record.Attempts, _ = strconv.Atoi(text("RETRY_ATTEMPTS"))
	default:
		l.foreignBody(m.Body)
	}
}

// foreignBody is what the bodies of other services have in common with each other: some of
// these members.
type foreignBody struct {
	// A record of a Lambda destination.
	RequestContext *struct {
		RequestID   string `json:"requestId"`
		FunctionARN string `json:"functionArn"`
		Condition   string `json:"condition"`
		Invocations int    `json:"approximateInvokeCount"`
	} `json:"requestContext"`
	ResponseContext *struct {
		Status        int    `json:"statusCode"`
		Version       string `json:"executedVersion"`
		FunctionError string `json:"functionError"`
	} `json:"responseContext"`
	ResponsePayload *struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	} `json:"responsePayload"`
	Timestamp string `json:"timestamp"`
	// A record of a custom event bus of EventBridge.
	BusARN         string            `json:"busArn"`
	SubscriberARN  string            `json:"subscriberArn"`
	TargetARN      string            `json:"targetArn"`
	ErrorCode      string            `json:"errorCode"`
	ErrorMessage   string            `json:"errorMessage"`
	RetryAttempts  int               `json:"retryAttempts"`
	FailedMessages []json.RawMessage `json:"failedMessages"`
	// A notification of SNS.
	Type      string `json:"Type"`
	TopicARN  string `json:"TopicArn"`
	MessageID string `json:"MessageId"`
}

func (l *Letter) foreignBody(body string) {
	var b foreignBody
	if json.Unmarshal([]byte(body), &b) != nil {
		return
	}
	switch r := &l.Record; {
	case b.RequestContext != nil && b.RequestContext.FunctionARN != "" && b.RequestContext.Condition != "":
		l.Kind, l.Report = KindLambda, true
		l.destination(&b)
	case b.BusARN != "" && b.ErrorCode != "":
		l.Kind, l.Report, l.Events = KindEventBridge, true, max(1, len(b.FailedMessages))
		r.Reason, r.Message, r.Attempts = "undelivered event", b.ErrorMessage, b.RetryAttempts
		r.Rule, r.Function = cmp.Or(b.SubscriberARN, b.BusARN), b.TargetARN
		r.Codes.AWS = b.ErrorCode
	case b.Type == "Notification" && b.TopicARN != "":
		l.Kind, r.Reason, r.Rule = KindSNS, "undelivered notification", b.TopicARN
	}
}

func (l *Letter) destination(b *foreignBody) {
	r := &l.Record
	r.RequestID, r.Function = b.RequestContext.RequestID, b.RequestContext.FunctionARN
	r.Attempts, r.Reason = b.RequestContext.Invocations, "asynchronous invocation"
	r.Rule = b.RequestContext.Condition
	if c := b.ResponseContext; c != nil {
		r.Codes.HTTPStatus, r.FunctionVersion = c.Status, c.Version
	}
	if p := b.ResponsePayload; p != nil {
		r.Message = p.Message
		if p.Type != "" {
			r.Types = []string{p.Type}
		}
	}
	_ = r.Last.UnmarshalJSON([]byte(strconv.Quote(b.Timestamp))) // without a time it stays zero
}
