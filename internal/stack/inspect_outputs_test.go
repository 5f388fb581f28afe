package stack

import (
	"slices"
	"strings"
)

// outputs checks that the outputs that operators need exist, and that all
// command lines in outputs are known ones.
func (i *inspection) outputs() {
	var values []string
	for _, e := range entries(member(i.root, "Outputs")) {
		text := i.output(e.key.Value)
		if member(e.value, "Description") == nil {
			i.report("output %s has no description", e.key.Value)
		}
		values = append(values, text)
	}
	var commands []string
	need := func(value string) {
		commands = append(commands, value)
		if !slices.Contains(values, value) {
			i.report("no output has %q", value)
		}
	}
	console := "https://" + i.t.options.Region + ".console.aws.amazon.com/cloudwatch/home?region=" + i.t.options.Region
	for _, d := range i.existing("AWS::CloudWatch::Dashboard") {
		need(console + "#dashboards/dashboard/" + d.id)
	}
	region := " --region " + i.t.options.Region
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		need(source.URL)
		need("aws sqs receive-message" + region + " --queue-url " + dead.URL +
			" --attribute-names All --message-attribute-names All --visibility-timeout 5 --max-number-of-messages 10")
		need("aws sqs start-message-move-task" + region + " --source-arn " + dead.ARN + " --destination-arn " + source.ARN +
			" --max-number-of-messages-per-second 10")
		need("aws lambda update-event-source-mapping" + region + " --uuid " + f.LogicalID + f.Events[0].Name +
			" --no-enabled")
		need("sqsafe ledger list --aws --table " + f.Environment["SQSAFE_TABLE"])
	}
	for _, value := range values {
		if strings.HasPrefix(value, "aws ") && !slices.Contains(commands, value) {
			i.report("an output has the command %q, which is none of the known", value)
		}
	}
}
