package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Live is what AWS answers about a deployed stack. Times and ages are those of
// the answers.
type Live struct {
	// Name is that of the stack.
	Name       string
	Queues     []LiveQueue
	Mappings   []LiveMapping
	Functions  []LiveFunction
	Alarms     []LiveAlarm
	Topics     []LiveTopic
	Tables     []LiveTable
	Executions int // the account's limit of concurrent executions; 0 if it is not known
}

// LiveQueue is a deployed queue.
type LiveQueue struct {
	// ID is the logical id, as in the others.
	ID         string
	ARN        string
	Attributes map[string]string
	// Oldest is the age of the oldest message of a dead-letter queue, by the metric
	// of the last minutes; 0 without one.
	Oldest time.Duration
	// Strangers are the functions outside of the stack that the queue invokes.
	Strangers []string
}

// LiveMapping is a deployed event source mapping on a queue.
type LiveMapping struct {
	ID, Queue, Function string
	// State is Lambda's, such as Enabled, and Result the last processing result,
	// such as OK or one that begins with PROBLEM.
	State, Result  string
	Reports        bool
	Filters        int
	MaxConcurrency int // 0 means no limit
}

// LiveFunction is a deployed function that a queue invokes.
type LiveFunction struct {
	ID string
	// Alias is the one that its mapping invokes; empty for none.
	Alias string
	// Variables are those of $LATEST, Running those of the version that the mapping
	// invokes.
	Variables, Running map[string]string
}

// LiveAlarm is a deployed alarm.
type LiveAlarm struct {
	ID, State string
	Enabled   bool
	Actions   int
}

// LiveTopic is an SNS topic of the stack, or one that its alarms notify.
type LiveTopic struct {
	ARN string
	// Confirmed and Pending are numbers of subscriptions.
	Confirmed, Pending int
}

// LiveTable is a deployed table that a function of sqsafe uses as its ledger.
type LiveTable struct {
	ID, TTL string // TTL is the attribute; empty if TTL is off
}

// liveFinding is what is wrong in a deployed stack.
type liveFinding struct{ resource, detail string }

// liveRules are about deployed stacks only.
func liveRules() []Rule {
	const (
		lambdaAPI = "https://docs.aws.amazon.com/lambda/latest/api/"
		sqsAPI    = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/"
	)
	return []Rule{
		{
			ID: "E50", Title: "a mapping that does not poll, or whose last poll failed",
			Why:    "Jobs wait until the queue deletes them, without a dead letter.",
			Write:  "aws lambda update-event-source-mapping --uuid UUID --enabled",
			Source: lambdaAPI + "API_GetEventSourceMapping.html",
			live:   mappingsDown,
		},
		{
			ID: "E51", Title: "a deployed queue that differs from the template of its stack",
			Why:   "Somebody changed it by hand; the next deployment may or may not change it back.",
			Write: "# deploy the template again, or take the value into it", Source: sqsAPI + "API_GetQueueAttributes.html",
			live: queuesDiffer,
		},
		{
			ID: "E52", Title: "a mapping that differs from the template of its stack",
			Why:    "Failed messages, or those that match no filter, are deleted though the template says otherwise.",
			Write:  "# deploy the template again, or take the value into it",
			Source: lambdaAPI + "API_GetEventSourceMapping.html",
			live:   mappingsDiffer,
		},
		{
			ID: "E53", Title: "a function outside of the stack on a queue of it",
			Why:    "Each message goes to only one of the functions, by chance.",
			Write:  "aws lambda delete-event-source-mapping --uuid UUID",
			Source: lambdaAPI + "API_ListEventSourceMappings.html",
			live:   strangers,
		},
		{
			ID: "W54", Title: "an alias whose version has other variables of sqsafe than the function",
			Why:    "The last deployment did not reach the alias, so jobs run with the old settings.",
			Write:  "# publish a version: change the code or VersionDescription, and deploy",
			Source: samGuide + "automating-updates-to-serverless-apps.html",
			live:   oldVariables,
		},
		{
			ID: "W55", Title: "queues that may use more concurrency than the account has",
			Why: "Lambda throttles batches that were received already, and their receive counts rise without a run; " +
				"new accounts have 10.",
			Write:  "ScalingConfig: {MaximumConcurrency: 2} # or ask for a higher limit",
			Source: lambdaGuide + "lambda-concurrency.html",
			live:   accountTooSmall,
		},
		{
			ID: "W56", Title: "an alarm that rings, or that cannot tell anybody",
			Why:    "Something is wrong now, or nobody hears when it is.",
			Write:  "# see the runbook; switch the actions of the alarm on",
			Source: cloudwatchGuide + "AlarmThatSendsEmail.html",
			live:   alarmsNow,
		},
		{
			ID: "W57", Title: "a topic of alarms without a subscription that was confirmed",
			Why: "No alarm reaches anybody.", Write: "# follow the link in the mail of SNS, or subscribe an address",
			Source: "https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.confirm.html",
			live:   nobodyListens,
		},
		{
			ID: "E58", Title: "a deployed ledger without TTL on expiration",
			Why: "The table grows for ever, and a job that is sent again after months is taken for done.",
			Write: "aws dynamodb update-time-to-live --table-name NAME --time-to-live-specification " +
				"Enabled=true,AttributeName=expiration",
			Source: "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html",
			live:   ledgersDiffer,
		},
		{
			ID: "W59", Title: "dead letters that SQS deletes soon",
			Why:    "SQS deletes a dead letter at the end of MessageRetentionPeriod, without a trace.",
			Write:  "sqsafe dlq list QUEUE --aws",
			Source: pageRetention,
			live:   lettersExpire,
		},
	}
}

// CheckLive asks the rules for deployed stacks, and those for templates about the
// template that the stack was made of, with the values of its parameters.
func CheckLive(live *Live, template []byte, parameters map[string]string) (*Report, error) {
	file := "stack " + live.Name
	root, report, m, err := examine(file, template, parameters)
	if err != nil {
		return nil, err
	}
	for _, rule := range Rules() {
		if rule.live == nil {
			continue
		}
		for _, f := range rule.live(live, m) {
			report.Findings = append(report.Findings, m.finished(&rule, finding{resource: f.resource, detail: f.detail}))
		}
	}
	m.ignore(report, readIgnores(template), root)
	report.sort()
	return report, nil
}

func mappingsDown(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, x := range l.Mappings {
		switch {
		case strings.HasPrefix(x.Result, "PROBLEM"):
			list = append(list, liveFinding{x.ID, fmt.Sprintf("the last poll of %s says %q", x.ID, x.Result)})
		case x.State == "Disabled" || x.State == "Disabling":
			list = append(list, liveFinding{x.ID, fmt.Sprintf("%s is %s", x.ID, strings.ToLower(x.State))})
		}
	}
	return list
}

// compared are the attributes of a queue that are compared with the template.
var compared = []string{"VisibilityTimeout", "MessageRetentionPeriod", "DelaySeconds"}

func queuesDiffer(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, q := range l.Queues {
		r := m.byID[q.ID]
		if r == nil {
			continue
		}
		for _, name := range compared {
			want, got := r.props.get(name), q.Attributes[name]
			if want.known() && got != "" && want.text != got {
				list = append(list, liveFinding{q.ID, fmt.Sprintf("%s of %s is %s, the template says %s", name, q.ID, got,
					want.text)})
			}
		}
		policy, _, receives := m.redrive(r)
		got := q.Attributes["RedrivePolicy"]
		switch {
		case policy.absent() == (got == "") && policy.absent():
		case got == "":
			list = append(list, liveFinding{q.ID, q.ID + " has no redrive policy, the template has one"})
		case receives.known && maxReceives(got) != digits(receives.n):
			list = append(list, liveFinding{q.ID,
				fmt.Sprintf("the redrive policy of %s is %s, the template says maxReceiveCount %d",
					q.ID, got, receives.n)})
		}
	}
	return list
}

// maxReceives returns the maxReceiveCount of a redrive policy, which some callers
// set as a text.
func maxReceives(policy string) string {
	var p struct {
		Max any `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return ""
	}
	return fmt.Sprint(p.Max)
}

func mappingsDiffer(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, x := range l.Mappings {
		for _, c := range m.consumers {
			if c.owner.id != x.ID {
				continue
			}
			if c.reports() == yes && !x.Reports {
				list = append(list, liveFinding{x.ID, x.ID + " has no ReportBatchItemFailures, the template has it"})
			}
			if filters, whole := c.props.get("FilterCriteria").get("Filters").items(); whole && len(filters) != x.Filters {
				list = append(list, liveFinding{x.ID, fmt.Sprintf("%s has %d filters, the template %d", x.ID, x.Filters,
					len(filters))})
			}
		}
	}
	return list
}

func strangers(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, q := range l.Queues {
		for _, function := range q.Strangers {
			list = append(list, liveFinding{q.ID, fmt.Sprintf("%s invokes %s as well, which is not of this stack", q.ID,
				function)})
		}
	}
	return list
}

func oldVariables(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, f := range l.Functions {
		if f.Alias == "" || f.Running == nil {
			continue
		}
		for name, value := range f.Variables {
			if strings.HasPrefix(name, "SQSAFE_") && f.Running[name] != value {
				list = append(list, liveFinding{f.ID, fmt.Sprintf("%s of %s is %q, and %q in the version of its alias %s",
					name, f.ID, value, f.Running[name], f.Alias)})
			}
		}
	}
	return list
}

func accountTooSmall(l *Live, m *model) []liveFinding {
	sum := 0
	for _, x := range l.Mappings {
		sum += x.MaxConcurrency
	}
	if l.Executions == 0 || sum <= l.Executions {
		return nil
	}
	return []liveFinding{{"",
		fmt.Sprintf("the queues of the stack may run %d batches at a time, the account %d of all functions",
			sum, l.Executions)}}
}

func alarmsNow(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, a := range l.Alarms {
		r := m.byID[a.ID]
		switch {
		case r != nil && !m.concerns(r):
		case a.State == "ALARM":
			list = append(list, liveFinding{a.ID, a.ID + " is in ALARM"})
		case !a.Enabled:
			list = append(list, liveFinding{a.ID, "the actions of " + a.ID + " are switched off"})
		}
	}
	return list
}

func nobodyListens(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, t := range l.Topics {
		switch {
		case t.Confirmed == 0 && t.Pending == 0:
			list = append(list, liveFinding{"", "the topic " + t.ARN + " has no subscription"})
		case t.Confirmed == 0:
			list = append(list, liveFinding{"",
				fmt.Sprintf("%d subscriptions of %s wait for their confirmation, and none is confirmed",
					t.Pending, t.ARN)})
		}
	}
	return list
}

func ledgersDiffer(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, t := range l.Tables {
		switch {
		case t.TTL == "":
			list = append(list, liveFinding{t.ID, "TTL of " + t.ID + " is off"})
		case t.TTL != "expiration":
			list = append(list, liveFinding{t.ID, "TTL of " + t.ID + " is on " + t.TTL})
		}
	}
	return list
}

// soon is for how long before their end dead letters are told of.
const soon = 3 * 24 * time.Hour

func lettersExpire(l *Live, m *model) []liveFinding {
	var list []liveFinding
	for _, q := range l.Queues {
		var keep int
		if _, err := fmt.Sscan(q.Attributes["MessageRetentionPeriod"], &keep); err != nil || q.Oldest == 0 {
			continue
		}
		left := time.Duration(keep)*time.Second - q.Oldest
		if left <= soon {
			list = append(list, liveFinding{q.ID,
				fmt.Sprintf("the oldest message of %s is %d hours old, and SQS keeps it for %d",
					q.ID, int(q.Oldest.Hours()), keep/3600)})
		}
	}
	return list
}
