package check

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// Metrics of SQS that rules know.
const (
	metricVisible = "ApproximateNumberOfMessagesVisible"
	metricSent    = "NumberOfMessagesSent"
)

// deadMetrics are the metrics that rise when SQS moves a message into a queue.
var deadMetrics = []string{
	metricVisible, "ApproximateNumberOfMessagesNotVisible", "ApproximateAgeOfOldestMessage",
	"ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfGroupsWithInflightMessages",
}

const deadAlarm = `DeadLettersAlarm:
  Type: AWS::CloudWatch::Alarm
  Properties:
    AlarmActions: [TOPIC ARN]
    Namespace: AWS/SQS
    MetricName: ApproximateNumberOfMessagesVisible
    Dimensions: [{Name: QueueName, Value: !GetAtt DEAD.QueueName}]
    Statistic: Maximum
    Period: 60
    EvaluationPeriods: 1
    ComparisonOperator: GreaterThanThreshold
    Threshold: 0
    TreatMissingData: ignore`

// alarmRules are about alarms.
func alarmRules() []Rule {
	return []Rule{
		{
			ID: "E07", Title: "a dead-letter queue whose alarm counts only messages that are sent",
			Why: "SQS does not count what it moves to a dead-letter queue in NumberOfMessagesSent, so the alarm never " +
				"fires for these jobs.",
			Write: "MetricName: ApproximateNumberOfMessagesVisible", Source: pageDeadAlarms,
			find: sentAlarm,
		},
		{
			ID: "W07", Title: "a dead-letter queue without an alarm",
			Why:   "Nobody hears of failed jobs, and SQS deletes them after MessageRetentionPeriod.",
			Write: deadAlarm, Source: pageDeadAlarms,
			find: unwatched,
		},
		{
			ID: "W08", Title: "an alarm that tells nobody, or that takes a queue without data for a fault",
			Why: "Without an action an alarm only changes its colour; with missing data as breaching it fires when a queue " +
				"has been empty for six hours or a function has nothing to do, and is soon ignored.",
			Write: "AlarmActions: [TOPIC ARN]", Source: cloudwatchGuide + "alarms-and-missing-data.html",
			find: silentAlarms,
		},
		{
			ID: "W30", Title: "a dead-letter queue with a consumer, watched by its depth",
			Why: "The consumer takes dead letters out between two samples of a minute, so the alarm on their number does " +
				"not see them.",
			Write:  "# an alarm on what the consumer counts, or on Invocations of the consumer: > 0",
			Source: pageMetrics,
			find:   drained,
		},
		{
			ID: "W34", Title: "an alarm on a metric of DynamoDB that relies on missing data",
			Why: "CloudWatch ignores missing data of AWS/DynamoDB whatever the alarm says: one that has fired stays in " +
				"ALARM until DynamoDB reports again, and cannot fire a second time.",
			Write:  "# an alarm on a metric that the function itself writes",
			Source: "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html",
			find:   dynamoAlarms,
		},
		{
			ID: "E36", Title: "an alarm that names a queue by its URL or ARN, or a function by its ARN",
			Why: "CloudWatch has no metric of that name: the alarm has no data and never fires, whatever happens to the " +
				"jobs.",
			Write:  "Dimensions: [{Name: QueueName, Value: !GetAtt QUEUE.QueueName}]",
			Source: pageMetrics,
			find:   misnamed,
		},
	}
}

// misnamed finds dimensions that are a URL or an ARN where AWS wants a name.
func misnamed(m *model) []finding {
	var list []finding
	for _, alarm := range m.of(typeAlarm) {
		all, _ := metrics(alarm)
		for _, one := range all {
			queue, _ := one.dimension("QueueName")
			if one.namespace == "AWS/SQS" && addressed(queue, "QueueName") {
				f := found(alarm, queue.node, "QueueName of %s is the URL or ARN of a queue", alarm.id)
				if q, _ := m.queueOf(queue); q != nil {
					f = f.writing("Dimensions: [{Name: QueueName, Value: !GetAtt %s.QueueName}]", q.id)
				}
				list = append(list, f)
			}
			name, _ := one.dimension("FunctionName")
			if one.namespace == "AWS/Lambda" && addressed(name, "Ref") {
				f := found(alarm, name.node, "FunctionName of %s is the ARN of a function", alarm.id)
				function, _ := m.functionOf(name)
				if function == nil {
					continue // what it refers to may have a name there
				}
				list = append(list, f.writing("Dimensions: [{Name: FunctionName, Value: !Ref %s}]", function.id))
			}
		}
	}
	return list
}

// addressed reports whether a value is a URL or an ARN for sure; attribute is
// what has the name.
func addressed(v value, attribute string) bool {
	if _, got, ok := v.reference(); ok {
		return got != attribute && (got == "Ref" || got == "Arn" || got == "QueueUrl")
	}
	return v.kind == kindText && (strings.HasPrefix(v.text, "arn:") || strings.HasPrefix(v.text, "https:"))
}

// watchedDead returns the dead-letter queues that an alarm should watch: those of
// queues with a consumer in the template, or with none of its own.
func (m *model) watchedDead() []*resource {
	return slices.DeleteFunc(m.deadLetterQueues(), func(q *resource) bool { return q.exists != yes })
}

func sentAlarm(m *model) []finding {
	var list []finding
	for _, dead := range m.watchedDead() {
		watches, whole := m.watches(dead)
		if !whole || slices.ContainsFunc(watches, func(w watch) bool { return slices.Contains(deadMetrics, w.metric.name) }) {
			continue
		}
		for _, w := range watches {
			if w.metric.name != metricSent || w.alarm.exists == no {
				continue
			}
			f := found(w.alarm, w.metric.at, "%s is on %s of %s, and no alarm is on its depth", w.alarm.id, metricSent, dead.id)
			if name := w.alarm.props.get("MetricName"); name.known() {
				f = f.fixedBy(replace(name.node, metricVisible))
			}
			list = append(list, f)
		}
	}
	return list
}

func unwatched(m *model) []finding {
	var list []finding
	for _, dead := range m.watchedDead() {
		watches, whole := m.watches(dead)
		known := append([]string{metricSent}, deadMetrics...)
		if !whole || slices.ContainsFunc(watches, func(w watch) bool { return slices.Contains(known, w.metric.name) }) {
			continue
		}
		if len(m.consumersOf(dead)) > 0 {
			continue // what it takes out is its own affair
		}
		f := found(dead, dead.key, "no alarm of the template is on %s", dead.id)
		f.write = strings.ReplaceAll(deadAlarm, "DEAD", dead.id)
		list = append(list, f)
	}
	return list
}

func silentAlarms(m *model) []finding {
	var list []finding
	for _, alarm := range m.of(typeAlarm) {
		if !m.concerns(alarm) {
			continue
		}
		actions := alarm.props.get("AlarmActions")
		items, whole := actions.items()
		written := cfn.Member(alarm.props.node, "AlarmActions")
		chosen, _ := cfn.Intrinsic(written)
		switch {
		case alarm.props.get("ActionsEnabled").flag(yes) == no:
			f := found(alarm, alarm.at("ActionsEnabled"), "the actions of %s are disabled", alarm.id).
				writing("ActionsEnabled: true")
			list = append(list, f.fixedBy(replace(alarm.props.get("ActionsEnabled").node, "true")))
		case whole && len(items) == 0 && chosen == "" && !hasChoice(written) && !m.usedElsewhere(alarm):
			list = append(list, found(alarm, alarm.at("AlarmActions"), "%s has no AlarmActions", alarm.id))
		}
		missing := alarm.props.get("TreatMissingData")
		operator := alarm.props.get("ComparisonOperator").text
		if missing.text == "breaching" && strings.HasPrefix(operator, "GreaterThan") && sleeps(alarm) {
			f := found(alarm, missing.node, "%s takes missing data as breaching", alarm.id).
				writing("TreatMissingData: notBreaching")
			list = append(list, f.fixedBy(replace(missing.node, "notBreaching")))
		}
	}
	return list
}

// hasChoice reports whether a list has an item that depends on a condition.
func hasChoice(n *yaml.Node) bool { return n != nil && under(n, "Fn::If") != nil }

// sleeps reports whether an alarm is on metrics that AWS does not report while
// there is nothing to do.
func sleeps(alarm *resource) bool {
	all, _ := metrics(alarm)
	for _, one := range all {
		if one.namespace == "AWS/SQS" || one.namespace == "AWS/Lambda" {
			return true
		}
	}
	return false
}

// usedElsewhere reports whether another resource acts on an alarm: a deployment,
// a composite alarm, a scaling policy.
func (m *model) usedElsewhere(alarm *resource) bool {
	if mentions(cfn.Member(m.root, "Globals"), alarm.id) {
		return true
	}
	for _, r := range m.all {
		if r != alarm && mentions(r.body, alarm.id) {
			return true
		}
		if r.kind == typeComposite && strings.Contains(r.props.get("AlarmRule").text, alarm.id) {
			return true
		}
	}
	return false
}

func drained(m *model) []finding {
	var list []finding
	for _, dead := range m.deadLetterQueues() {
		for _, c := range m.consumersOf(dead) {
			if c.enabled() != yes || c.exists != yes {
				continue
			}
			watches, whole := m.watches(dead)
			sees := func(w watch) bool { return w.metric.name != metricVisible }
			if !whole || len(watches) == 0 || slices.ContainsFunc(watches, sees) {
				continue
			}
			list = append(list, found(watches[0].alarm, watches[0].metric.at, "%s is on the depth of %s, which %s empties",
				watches[0].alarm.id, dead.id, c.name()))
			break
		}
	}
	return list
}

func dynamoAlarms(m *model) []finding {
	var list []finding
	if len(m.consumers) == 0 {
		return nil
	}
	for _, alarm := range m.of(typeAlarm) {
		missing := alarm.props.get("TreatMissingData")
		if missing.kind == kindUnknown || missing.text == "ignore" {
			continue
		}
		all, _ := metrics(alarm)
		for _, one := range all {
			if one.namespace == "AWS/DynamoDB" {
				said := missing.text
				if said == "" {
					said = "missing, the default"
				}
				list = append(list, found(alarm, one.at, "%s is on %s of DynamoDB, with missing data as %s",
					alarm.id, one.name, said))
				break
			}
		}
	}
	return list
}
