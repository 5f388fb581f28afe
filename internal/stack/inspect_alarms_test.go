package stack

import (
	"encoding/json"
	"slices"
	"strings"
)

// watch is what an alarm measures and when it fires: the alarm's properties
// without its descriptions and actions.
type watch map[string]any

// figure is one metric as an alarm specifies it.
type figure struct{ namespace, name, dimension, value, period, statistic string }

func (f figure) metric() map[string]any {
	return map[string]any{
		"Namespace": f.namespace, "MetricName": f.name,
		"Dimensions": []any{map[string]any{"Name": f.dimension, "Value": f.value}},
	}
}

// single returns the watch of one metric, computed that of an expression.
func single(f figure, operator, threshold, of, periods, missing string) watch {
	w := watch(f.metric())
	w["Period"], w["Statistic"] = f.period, f.statistic
	return w.fires(operator, threshold, of, periods, missing)
}

func computed(id, expression string, of map[string]figure, operator, threshold, m, n, missing string) watch {
	metrics := []any{map[string]any{"Id": id, "Expression": expression}}
	ids := make([]string, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Index(expression, a) - strings.Index(expression, b) })
	for _, id := range ids {
		metrics = append(metrics, map[string]any{"Id": id, "ReturnData": "false", "MetricStat": map[string]any{
			"Metric": of[id].metric(), "Period": of[id].period, "Stat": of[id].statistic,
		}})
	}
	return watch{"Metrics": metrics}.fires(operator, threshold, m, n, missing)
}

// fires adds the rule that m of the last n periods are at the threshold.
func (w watch) fires(operator, threshold, m, n, missing string) watch {
	w["ComparisonOperator"], w["Threshold"] = operator, threshold
	w["DatapointsToAlarm"], w["EvaluationPeriods"], w["TreatMissingData"] = m, n, missing
	return w
}

const (
	above   = "GreaterThanThreshold"
	atLeast = "GreaterThanOrEqualToThreshold"
	downTo  = "LessThanOrEqualToThreshold"
	visible = "ApproximateNumberOfMessagesVisible"
	flying  = "ApproximateNumberOfMessagesNotVisible"
	oldest  = "ApproximateAgeOfOldestMessage"
	quiet   = "notBreaching"
)

// watches returns the alarms that a function needs, by kind.
func (i *inspection) watches(f Function) map[string]watch {
	queue, _ := i.s.Queue(f.Events[0].Queue)
	deadQueue, _ := i.s.Queue(queue.DeadLetterQueue)
	sqs := func(queue Queue, name, period, statistic string) figure {
		return figure{"AWS/SQS", name, "QueueName", queue.Name, period, statistic}
	}
	function := func(name, statistic string) figure {
		return figure{"AWS/Lambda", name, "FunctionName", f.Name, "60", statistic}
	}
	mapping := func(name string) figure {
		return figure{"AWS/Lambda", name, "EventSourceMappingUUID", f.LogicalID + f.Events[0].Name, "60", "Sum"}
	}
	depth := map[string]figure{"v": sqs(deadQueue, visible, "60", "Maximum"), "n": sqs(deadQueue, flying, "60", "Maximum")}
	growth := "DIFF(v + FILL(n,0))"
	stalled := i.parameter("StalledMinutes")
	all := map[string]watch{
		"not empty": computed("messages", "v + FILL(n,0)", depth, above, "0", "1", "1", "ignore"),
		"arrivals":  computed("arrivals", growth, depth, above, "0", "1", "1", quiet),
		"flood":     computed("arrivals", growth, depth, atLeast, i.parameter("FloodThreshold"), "1", "1", quiet),
		"queue age": single(sqs(queue, oldest, "60", "Maximum"), atLeast, i.parameter("QueueAgeThreshold"), "5", "5", quiet),
		"expiry":    single(sqs(queue, oldest, "300", "Maximum"), atLeast, "172800", "1", "1", quiet),
		"stalled": computed("stalled", "IF(v > 0 AND FILL(d,0) == 0, 1, 0)", map[string]figure{
			"v": sqs(queue, visible, "60", "Minimum"), "d": sqs(queue, "NumberOfMessagesDeleted", "60", "Sum"),
		}, atLeast, "1", stalled, stalled, quiet),
		"in flight": single(sqs(queue, flying, "60", "Maximum"), atLeast, "96000", "5", "5", quiet),
		"partial failures": computed("failures", "IF(i >= 10, 100*FILL(f,0)/i, 0)", map[string]figure{
			"i": mapping("InvokedEventCount"), "f": mapping("FailedInvokeEventCount"),
		}, above, i.parameter("PartialFailurePercent"), "3", "5", quiet),
		"function errors": single(function("Errors", "Sum"), above, "0", "3", "5", quiet),
	}
	if i.parameter("AlarmSet") == "full" {
		all["dead letter age"] = single(sqs(deadQueue, oldest, "300", "Maximum"), atLeast,
			i.parameter("DeadLetterAgeThreshold"), "1", "1", quiet)
		all["throttles"] = single(function("Throttles", "Sum"), atLeast, "1", "5", "5", quiet)
		all["near timeout"] = computed("used", "100*d/(1000*"+i.parameter("FunctionTimeout")+")",
			map[string]figure{"d": function("Duration", "Maximum")}, atLeast, "90", "3", "5", quiet)
	}
	if i.parameter("ExpectTraffic") == "true" {
		all["producer silent"] = single(sqs(queue, "NumberOfMessagesSent", "60", "Sum"), downTo, "0", "15", "15", "breaching")
	}
	return all
}

// alarms checks that each function has all its alarms and no others, and that
// their descriptions say what to do.
func (i *inspection) alarms() {
	found, words := map[string]string{}, map[string]string{} // alarm ids by their watch, and descriptions by id
	for _, r := range i.existing(kindAlarm) {
		p := i.properties(r.id)
		words[r.id] = textOf(p["AlarmDescription"])
		topic := "AlarmTopic"
		if arn := i.parameter("AlarmTopicArn"); arn != "" {
			topic = arn
		}
		i.expect(r.id+": AlarmActions", p["AlarmActions"], "["+topic+"]")
		delete(p, "AlarmDescription")
		delete(p, "AlarmActions")
		for _, m := range list(p["Metrics"]) {
			delete(m.(map[string]any), "Label")
		}
		key := canonical(p)
		if other := found[key]; other != "" {
			i.report("alarms %s and %s are the same", other, r.id)
		}
		found[key] = r.id
	}
	for _, f := range i.s.Functions {
		firsts := i.firsts(f)
		for kind, w := range i.watches(f) {
			key := canonical(w)
			if found[key] == "" {
				i.report("%s has no alarm for %s, which is %s", f.Name, kind, key)
				continue
			}
			i.words(found[key], words[found[key]], f, firsts[kind])
			delete(found, key)
		}
	}
	for key, id := range found {
		i.report("alarm %s is none that a function needs: %s", id, key)
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
