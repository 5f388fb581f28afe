package stack

import (
	"encoding/json"
	"slices"
	"strings"
)

// kinds checks that the template has no resource types that this inspection
// does not check.
func (i *inspection) kinds() {
	known := []string{
		kindAlarm, "AWS::CloudWatch::Dashboard", "AWS::DynamoDB::Table", "AWS::IAM::Role", "AWS::Logs::LogGroup",
		"AWS::SNS::Subscription", "AWS::SNS::Topic", "AWS::SQS::Queue", kindFunction,
	}
	for _, r := range i.t.resources {
		if !slices.Contains(known, r.kind) {
			i.report("%s is an %s, which is not among %v", r.id, r.kind, known)
		}
	}
}

// topic checks that alarms are sent to the addresses in the parameters.
func (i *inspection) topic() {
	own, address := i.parameter("AlarmTopicArn") == "", i.parameter("AlarmEmail")
	topics, subscriptions := i.existing("AWS::SNS::Topic"), i.existing("AWS::SNS::Subscription")
	subscribers := "the subscribers of the topic in AlarmTopicArn"
	switch {
	case own && address == "":
		subscribers = "NOBODY, since the topic has no subscription yet; deploy with AlarmEmail or AlarmTopicArn"
	case own:
		subscribers = "the address in AlarmEmail, once somebody has followed the link in the mail from SNS"
		want := `{"Endpoint":"` + address + `","Protocol":"email","TopicArn":"AlarmTopic"}`
		for _, s := range subscriptions {
			i.expect(s.id, canonical(i.properties(s.id)), want)
		}
	}
	wanted := map[bool]int{true: 1}
	if len(topics) != wanted[own] || len(subscriptions) != wanted[own && address != ""] {
		i.report("%d topics and %d subscriptions with AlarmTopicArn %q and AlarmEmail %q",
			len(topics), len(subscriptions), i.parameter("AlarmTopicArn"), address)
	}
	for _, t := range topics { // with the AWS managed key of SNS, alarms are not allowed to publish
		i.only(t.id, i.properties(t.id))
	}
	i.expect("output AlarmSubscribers", i.output("AlarmSubscribers"), subscribers)
}

func (i *inspection) output(name string) string {
	value := member(member(member(i.root, "Outputs"), name), "Value")
	if value == nil {
		i.report("there is no output %s", name)
		return ""
	}
	return i.t.text(value, "output "+name)
}

// presets are the defaults that matter to somebody who sets no parameters.
var presets = map[string]string{
	"DeploymentType": "Linear10PercentEvery1Minute", "LogLevel": "INFO",
	"LogExcerptBytes": "0", "LogRetentionDays": "30",
	"FloodThreshold": "10", "QueueAgeThreshold": "900", "StalledMinutes": "5",
	"PartialFailurePercent": "5", "MetricsNamespace": "sqsafe",
	"AlarmTopicArn": "", "NoticeTopicArn": "", "AlarmEmail": "", "EndpointUrl": "",
	"FunctionTimeout": "30", "VisibilityTimeout": "180",
	"MaximumConcurrency": "5", "Concurrency": "1", "MaxReceiveCount": "30", "FifoMaxReceiveCount": "200",
	"MaxAttempts": "0", "UnclassifiedAttempts": "3",
}

// trials are values of parameters, and whether the template accepts them.
var trials = []struct{ parameter, taken, refused string }{
	{"AlarmTopicArn", "arn:aws-cn:sns:cn-north-1:123456789012:pager", "arn:aws:sqs:us-east-1:123456789012:pager x pager"},
	{"AlarmEmail", "a@b.example", "pager @"},
	{"LogLevel", "DEBUG INFO", "WARN ERROR TRACE FATAL"},
	{"LogRetentionDays", "7 365", "0 2 3653"},
	{"StalledMinutes", "5 120", "4 121"},
	{"FunctionTimeout", "1 900 5400", "0 5401"},
	{"VisibilityTimeout", "1 43200", "0 43201"},
	{"MaximumConcurrency", "2 1000", "1 1001"},
	{"MaxReceiveCount", "5 1000", "1 1001"},
	{"FifoMaxReceiveCount", "5 1000", "1 1001"},
	{"MaxAttempts", "0 50", "-1 51"},
	{"UnclassifiedAttempts", "1 50", "0 51"},
	{"Concurrency", "1 100", "0 101"},
	{"LogExcerptBytes", "0 1024", "-1 1025"},
	{"QueueAgeThreshold", "60 172800", "59 172801"},
	{"PartialFailurePercent", "1 99", "0 100"},
	{"PaymentUrl", "http://p.example", "p.example https://" + strings.Repeat("x", 93)},
	{"NotifyUrl", "http://n.example", "n.example https://" + strings.Repeat("x", 93)},
	{"EndpointUrl", "http://127.0.0.1:4570", "127.0.0.1:4570"},
	{"FloodThreshold", "1 1000000", "0 1000001"},
	{"DeploymentType", "AllAtOnce Canary10Percent5Minutes Canary10Percent10Minutes Canary10Percent15Minutes " +
		"Canary10Percent30Minutes Linear10PercentEvery1Minute Linear10PercentEvery2Minutes",
		"Linear10PercentEvery3Minutes None"},
	{"MetricsNamespace", "shop/jobs Acme/A jobs " + strings.Repeat("x", 40), "off AWS/SQS AWS " + strings.Repeat("x", 41)},
	{"Jitter", "0 0.5 0.3333 1 1.0", "1.1 0.33333 .5 1e-9 2"},
	{"QueueName", "a " + strings.Repeat("x", 80), "a.fifo " + strings.Repeat("x", 81)},
	{"NotifyQueueName", "a " + strings.Repeat("x", 80), "a.fifo " + strings.Repeat("x", 81)},
	{"StockQueueName", "a.fifo " + strings.Repeat("x", 70) + ".fifo", "a " + strings.Repeat("x", 71) + ".fifo"},
	{"ExampleQueueName", "a " + strings.Repeat("x", 80), "a.fifo " + strings.Repeat("x", 81)},
	{"RunbookUrl", "https://wiki.example.com/r", "wiki.example.com https://" + strings.Repeat("x", 201)},
}

// ranges checks parameters with values inside and outside of their ranges.
func (i *inspection) ranges() {
	for _, e := range entries(member(i.root, "Parameters")) {
		preset := member(e.value, "Default")
		if want, ok := presets[e.key.Value]; ok && preset != nil {
			i.expect("default of "+e.key.Value, preset.Value, want)
		}
	}
	for _, tt := range trials {
		p := i.t.parameters[tt.parameter]
		if p == nil {
			continue
		}
		takes := func(value string) bool {
			tried := &parameter{name: p.name, kind: p.kind, rules: p.rules, node: p.node, value: &value}
			return tried.problem() == "" && i.t.patternProblem(tried) == ""
		}
		for value := range strings.FieldsSeq(tt.taken) {
			if !takes(value) {
				i.report("parameter %s does not take %q", p.name, value)
			}
		}
		for value := range strings.FieldsSeq(tt.refused) {
			if takes(value) {
				i.report("parameter %s takes %q", p.name, value)
			}
		}
	}
}

// canonical returns a text that is equal for equal values.
func canonical(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
