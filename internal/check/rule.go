package check

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Level says how bad a finding is.
type Level string

// The levels. An error loses or doubles jobs, or is refused by AWS; a warning
// does so when something else happens as well, or hides that it does.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
)

// Rule is one thing that a stack must not have.
type Rule struct {
	// ID is a letter, E for an error and W for a warning, and two digits. Rules
	// with the same digits are about the same thing.
	ID string
	// Title is what is wrong, as a noun phrase without a full stop.
	Title string
	// Why says what happens in production, in one sentence.
	Why string
	// Write are the lines to write, with values as examples. A finding may have
	// others.
	Write string
	// Source is the page of AWS, or else of sqsafe, that says so.
	Source string
	// Sqsafe says that the rule is only for functions with variables of sqsafe.
	Sqsafe bool

	find func(m *model) []finding
	// live is for deployed stacks; it sees what AWS answers, and the template.
	live func(l *Live, m *model) []liveFinding
}

// Level is that of the rule's findings.
func (r *Rule) Level() Level {
	if r.ID[0] == 'E' {
		return LevelError
	}
	return LevelWarning
}

// finding is what a rule has found in a model.
type finding struct {
	resource string
	node     *yaml.Node // where
	detail   string     // what is wrong here
	write    string     // lines to write, in place of the rule's
	edits    []edit
}

// found makes a finding at a node of a resource.
func found(r *resource, at *yaml.Node, format string, args ...any) finding {
	return finding{resource: r.id, node: at, detail: fmt.Sprintf(format, args...)}
}

// writing adds lines to write.
func (f finding) writing(format string, args ...any) finding {
	f.write = fmt.Sprintf(format, args...)
	return f
}

// fixedBy adds edits that mend it.
func (f finding) fixedBy(edits ...edit) finding {
	for _, e := range edits {
		if !e.empty() {
			f.edits = append(f.edits, e)
		}
	}
	return f
}

// Rules returns all rules, by their digits.
func Rules() []Rule {
	all := slices.Concat(
		mappingRules(), queueRules(), deadLetterRules(), alarmRules(), rightsRules(), sqsafeRules(), functionRules(),
		nameRules(), ignoreRules(), liveRules())
	slices.SortStableFunc(all, func(a, b Rule) int {
		if a.ID[1:] == b.ID[1:] {
			return int(a.ID[0]) - int(b.ID[0])
		}
		if a.ID[1:] < b.ID[1:] {
			return -1
		}
		return 1
	})
	return all
}

// Pages that rules cite.
const (
	lambdaGuide     = "https://docs.aws.amazon.com/lambda/latest/dg/"
	sqsGuide        = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/"
	cloudwatchGuide = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/"
	formationGuide  = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
	samGuide        = "https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/"

	pageErrors     = lambdaGuide + "services-sqs-errorhandling.html"
	pageConfigure  = lambdaGuide + "services-sqs-configure.html"
	pageParameters = lambdaGuide + "services-sqs-parameters.html"
	pageScaling    = lambdaGuide + "services-sqs-scaling.html"
	pageFilters    = lambdaGuide + "with-sqs-filtering.html"
	pageDead       = sqsGuide + "sqs-dead-letter-queues.html"
	pageRetention  = sqsGuide + "setting-up-dead-letter-queue-retention.html"
	pageMetrics    = sqsGuide + "sqs-available-cloudwatch-metrics.html"
	pageDeadAlarms = sqsGuide + "dead-letter-queues-alarms-cloudwatch.html"
)

func minutes(seconds int) string {
	switch {
	case seconds >= 86400 && seconds%86400 == 0:
		return fmt.Sprintf("%d days", seconds/86400)
	case seconds >= 7200:
		return fmt.Sprintf("%d s (%.1f hours)", seconds, float64(seconds)/3600)
	}
	return fmt.Sprintf("%d s", seconds)
}
