package handler

import (
	"encoding/json"
	"slices"
	"strings"
)

// envelopeForm is how a JSON object shows that it is around a payload, or none.
type envelopeForm struct {
	name string
	// always are members that it has, spelt exactly so, the most telling first.
	always []string
	// own are members of which a payload type has one if it is meant for it.
	own []string
	// others are its other members, which a payload may have by chance.
	others []string
	// remedy is what to do.
	remedy string
}

// envelopeForms are those that come to queues of AWS, the more special ones first.
var envelopeForms = []envelopeForm{
	{
		name:   "an SNS confirmation of a subscription",
		always: []string{"SubscribeURL", "Type", "TopicArn", "Token"},
		own:    []string{"Token", "SubscribeURL"},
		remedy: "open its SubscribeURL; nothing does so by itself",
	},
	{
		name:   "an SNS notification",
		always: []string{"TopicArn", "Type", "MessageId", "Message"},
		own:    []string{"TopicArn", "Message"},
		others: []string{
			"Subject", "Timestamp", "SequenceNumber", "MessageAttributes",
			"SignatureVersion", "Signature", "SigningCertURL", "UnsubscribeURL",
		},
		remedy: "let Options.Envelope take the message out by envelope.SNS, or turn on raw message delivery",
	},
	{
		name:   "an EventBridge event",
		always: []string{"detail-type", "id", "source", "detail"},
		own:    []string{"detail-type", "detail"},
		others: []string{"version", "account", "time", "region", "resources", "replay-name"},
		remedy: "let Options.Envelope take the detail out by envelope.EventBridge",
	},
	{
		name:   "the test event of S3",
		always: []string{"HostId", "Service", "Event", "Bucket"},
		own:    []string{"Service", "Event"},
		others: []string{"Time", "RequestId"},
		remedy: "S3 sends one when notifications are set up; with envelope.S3 as Options.Envelope it is acknowledged",
	},
	{
		name:   "a record of a Lambda destination",
		always: []string{"requestContext", "version", "timestamp"},
		own:    []string{"requestContext", "requestPayload", "responseContext", "responsePayload"},
		others: []string{"KinesisBatchInfo", "DDBStreamBatchInfo"},
		remedy: "give the payload's type a member requestPayload for what the function was called with",
	},
	{
		name:   "a CloudEvent",
		always: []string{"specversion", "id", "source", "type"},
		own:    []string{"specversion", "data", "data_base64"},
		others: []string{"time", "subject", "dataschema", "datacontenttype"},
		remedy: "give the payload's type a member data for what it holds",
	},
}

// eventSources are events of records, as Lambda gets them, by the source of the
// first record.
var eventSources = map[string]envelopeForm{
	"aws:s3": {
		name:   "a notification of S3",
		remedy: "let the payload's type have its Records, as events.S3Event does",
	},
	"aws:sqs": {name: "a whole SQS event", remedy: "send the bodies of its Records, each as a message"},
	"aws:sns": {
		name:   "the event that SNS sends to a Lambda function",
		remedy: "subscribe the queue itself to the topic",
	},
	"aws:dynamodb": {
		name:   "an event of a DynamoDB stream",
		remedy: "let the payload's type have its Records, as events.DynamoDBEvent does",
	},
	"aws:kinesis": {
		name:   "an event of a Kinesis stream",
		remedy: "let the payload's type have its Records, as events.KinesisEvent does",
	},
}

// has reports whether the envelope may have a member of that name.
func (f *envelopeForm) has(name string) bool {
	same := func(member string) bool { return strings.EqualFold(member, name) }
	return slices.ContainsFunc(f.always, same) || slices.ContainsFunc(f.own, same) || slices.ContainsFunc(f.others, same)
}

// meantFor reports whether a type with these members is for the envelope itself: it
// has a member that is the envelope's own, or none that the envelope has not. An
// id alone is anybody's.
func (f *envelopeForm) meantFor(members []string) bool {
	foreign := func(member string) bool { return !f.has(member) }
	return slices.ContainsFunc(f.own, func(name string) bool { return containsFold(members, name) }) ||
		!slices.ContainsFunc(members, foreign) && !slices.Equal(members, []string{"id"})
}

// around reports whether an object with members of these names is the envelope.
func (f *envelopeForm) around(names []string) bool {
	missing := func(name string) bool { return !slices.Contains(names, name) }
	return !slices.ContainsFunc(f.always, missing)
}

// resembles reports whether it has one of these members.
func (f *envelopeForm) resembles(members []string) bool { return slices.ContainsFunc(members, f.has) }

// containsFold is slices.Contains for names that may differ by case.
func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
}

// eventOf is the event of AWS that has these records; nil if it is none.
func eventOf(records string) *envelopeForm {
	var all []struct{ EventSource string }
	if records == "" || json.Unmarshal([]byte(records), &all) != nil || len(all) == 0 {
		return nil
	}
	if f, ok := eventSources[all[0].EventSource]; ok {
		return &f
	}
	return nil
}
