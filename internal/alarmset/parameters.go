package alarmset

import "slices"

// Parameter is a parameter of the template that definitions use.
type Parameter struct {
	Name string
	// Default is its number; 0 for one that is a text.
	Default float64
	// Text has its properties, as a flow mapping without the braces.
	Text string
}

// Parameters are those of all sets, in the order in which a template has them.
func Parameters() []Parameter {
	return slices.Clone(parameters)
}

func value(name string, values map[string]float64) float64 {
	if v, ok := values[name]; ok {
		return v
	}
	i := slices.IndexFunc(parameters, func(p Parameter) bool { return p.Name == name })
	return parameters[i].Default
}

var parameters = []Parameter{
	{"FloodThreshold", 10, `Type: Number, Default: 10, MinValue: 1, MaxValue: 1000000, ` +
		`Description: Dead letters in one minute that count as a flood.`},
	{"DeadLetterAgeThreshold", 14400, `Type: Number, Default: 14400, MinValue: 60, MaxValue: 432000, Description: ` +
		`"Seconds that a dead letter may wait to be looked at. Above six hours it may never be seen: SQS reports no age ` +
		`of a queue that nobody has touched for so long."`},
	{"QueueAgeThreshold", 900, `Type: Number, Default: 900, MinValue: 60, MaxValue: 172800, Description: "Seconds that ` +
		`a job may wait; about one and a half times what is expected."`},
	{"StalledMinutes", 5, `Type: Number, Default: 5, MinValue: 5, MaxValue: 120, Description: "Minutes in which jobs ` +
		`wait and none is finished before the consumer counts as stalled; at least the function's timeout in minutes ` +
		`and two more, or the alarm comes and goes with every run."`},
	{"PartialFailurePercent", 5, `Type: Number, Default: 5, MinValue: 1, MaxValue: 99, Description: "Share of jobs that ` +
		`may come back to the queue, where there are at least ten a minute."`},
	{"RunbookUrl", 0, `Type: String, Default: "https://github.com/sqsafe/sqsafe/blob/main/docs/RUNBOOK.md", ` +
		`AllowedPattern: "^https?://[^ ]{1,200}$", ConstraintDescription: must be an http or https URL of at most 200 ` +
		`characters, Description: Where alarms and dashboard send people.`},
	{"AlarmTopicArn", 0, `Type: String, Default: "", AllowedPattern: "^(arn:[^:]+:sns:[^:]+:[0-9]{12}:.+)?$", ` +
		`ConstraintDescription: "must be the ARN of an SNS topic, or empty", Description: "Topic of the alarms that wake ` +
		`somebody; empty for a topic of this stack."`},
	{"NoticeTopicArn", 0, `Type: String, Default: "", AllowedPattern: "^(arn:[^:]+:sns:[^:]+:[0-9]{12}:.+)?$", ` +
		`ConstraintDescription: "must be the ARN of an SNS topic, or empty", Description: "Topic of the alarms that can ` +
		`be read in the morning; the same ARN for one topic, empty for that of this stack."`},
	{"AlarmEmail", 0, `Type: String, Default: "", AllowedPattern: "^([^@ ]+@[^@ ]+)?$", ConstraintDescription: "must be ` +
		`an e-mail address, or empty", Description: "Address to subscribe to this stack's own topic, by a link in a ` +
		`mail; empty for none, and no alarm reaches anybody."`},
	{"DeploymentType", 0, `Type: String, Default: Linear10PercentEvery1Minute, AllowedValues: [AllAtOnce, ` +
		`Canary10Percent5Minutes, Canary10Percent10Minutes, Canary10Percent15Minutes, Canary10Percent30Minutes, ` +
		`Linear10PercentEvery1Minute, Linear10PercentEvery2Minutes], Description: "How a new version takes over. Errors ` +
		`or a flood of its dead letters in that time bring the old one back; a tenth of little traffic may show neither."`},
}
