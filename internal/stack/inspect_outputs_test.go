package stack

import "slices"

// outputs checks that the outputs that the runbook needs exist.
func (i *inspection) outputs() {
	var values []string
	for _, e := range entries(member(i.root, "Outputs")) {
		text := i.output(e.key.Value)
		if member(e.value, "Description") == nil {
			i.report("output %s has no description", e.key.Value)
		}
		values = append(values, text)
	}
	need := func(value string) {
		if !slices.Contains(values, value) {
			i.report("no output has %q", value)
		}
	}
	for _, d := range i.existing("AWS::CloudWatch::Dashboard") {
		need("https://console.aws.amazon.com/cloudwatch/home?region=" + i.t.options.Region + "#dashboards/dashboard/" + d.id)
	}
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		need(source.URL)
		need(source.ARN)
		need(dead.URL)
		need(f.Environment["SQSAFE_TABLE"])
	}
}
