package stack

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// first is the first step that an alarm's description must give: commands,
// outputs of the stack by the ends of their names, and other words.
type first struct{ commands, outputs, words []string }

// Commands in descriptions. They follow a colon and end with the sentence.
var (
	command = regexp.MustCompile(`: (aws .+?)\. [A-Z]`)
	output  = regexp.MustCompile(`\boutput ([A-Z][A-Za-z]+)`)
	mention = regexp.MustCompile(`\$\{([A-Za-z]+)(\.[A-Za-z]+)?\}`)
)

// readLog returns the command that shows the last 15 minutes of a function's
// log.
func (i *inspection) readLog(f Function, pattern string) string {
	return "aws logs filter-log-events --region " + i.t.options.Region + " --log-group-name " +
		textOf(at(i.properties(f.LogicalID), "LoggingConfig", "LogGroup")) +
		" --start-time $(($(date +%s)-900))000 --filter-pattern '" + pattern + "' --query 'events[].message' --output text"
}

// Filter patterns for the log. The last excludes ordinary lines. It shows
// everything else, whatever a function that cannot start has written.
const (
	deadLettered  = `{$.message = "dead-lettered"}`
	cameBack      = `{$.message = "outcome" && $.outcome != "done"}`
	extraordinary = `-INFO -DEBUG -success -"platform.start" -"platform.initStart"`
)

// firsts returns the first steps, by the kind of alarm.
func (i *inspection) firsts(f Function) map[string]first {
	source, _ := i.s.Queue(f.Events[0].Queue)
	dead, _ := i.s.Queue(source.DeadLetterQueue)
	region := " --region " + i.t.options.Region
	commands := func(all ...string) first { return first{commands: all} }
	look := "aws sqs receive-message" + region + " --queue-url " + dead.URL +
		" --message-attribute-names sqsafe --visibility-timeout 5 --max-number-of-messages 10"
	fed := "aws lambda list-event-source-mappings" + region + " --event-source-arn " + source.ARN
	waiting := "aws sqs get-queue-attributes" + region + " --queue-url " + source.URL + " --attribute-names All"
	failures := i.readLog(f, cameBack)
	slow := i.readLog(f, `{$.message = "batch" && $.TimeLeft < `+i.parameter("FunctionTimeout")+`00}`)
	return map[string]first{
		"not empty":        {commands: []string{look}, outputs: []string{"RedriveCommand"}},
		"arrivals":         commands(i.readLog(f, deadLettered)),
		"flood":            {[]string{i.readLog(f, deadLettered)}, []string{"PauseCommand"}, []string{"up to 4 days"}},
		"dead letter age":  commands(look),
		"queue age":        commands(waiting),
		"expiry":           {commands: []string{fed}, words: []string{"Half of the 4 days", "to 1209600 now"}},
		"stalled":          commands(fed, failures),
		"in flight":        {[]string{failures}, []string{"PauseCommand"}, []string{"96,000 messages"}},
		"partial failures": commands(failures),
		"function errors":  commands(i.readLog(f, extraordinary)),
		"throttles": {
			commands: []string{"aws lambda get-account-settings" + region},
			words:    []string{"At " + strconv.Itoa(source.MaxReceiveCount) + " SQS dead-letters them"},
		},
		"near timeout":    commands(slow),
		"producer silent": commands("aws sqs get-queue-url" + region + " --queue-name " + source.Name),
	}
}

// words checks that a description is about its function and no other.
func (i *inspection) words(id, text string, f Function, want first) {
	i.lengthOf(id, text)
	prefix := strings.TrimSuffix(f.LogicalID, "Function")
	for _, words := range append([]string{"the " + prefix + " function", " First "}, want.words...) {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(words)) {
			i.report("%s: the description lacks %q: %s", id, words, text)
		}
	}
	if !strings.HasSuffix(text, " Runbook: "+i.parameter("RunbookUrl")) {
		i.report("%s: the description does not lead to the runbook: %s", id, text)
	}
	var commands, outputs []string
	for _, found := range command.FindAllStringSubmatch(text, -1) {
		commands = append(commands, found[1])
	}
	if !slices.Equal(commands, want.commands) {
		i.report("%s: the description has the commands %q, want %q", id, commands, want.commands)
	}
	rest := command.ReplaceAllString(text, "")
	if strings.Contains(rest, "aws ") {
		i.report("%s: the description has a command that does not stand alone: %s", id, rest)
	}
	for _, named := range output.FindAllStringSubmatch(rest, -1) {
		outputs = append(outputs, strings.TrimPrefix(named[1], prefix))
		if member(member(i.root, "Outputs"), named[1]) == nil {
			i.report("%s: the description names the output %s, but there is none", id, named[1])
		}
	}
	if !slices.Equal(outputs, want.outputs) {
		i.report("%s: the description names the outputs %q of its function, want %q", id, outputs, want.outputs)
	}
}

// In AWS, names and URLs can be longer than in this test, by so many bytes.
const (
	longerName   = 60 // "STACK-" before and "-7A8B9C0D1E2F" after
	longerRegion = len("ap-northeast-1") - len("us-east-1")
	longestURL   = 208 // of the runbook
)

// lengthOf checks that a description is not too long with the names that it has
// in AWS.
func (i *inspection) lengthOf(id, text string) {
	n := len(text) - len(i.parameter("RunbookUrl")) + longestURL
	_, raw := intrinsic(i.raw(id, "AlarmDescription"))
	if raw == nil {
		i.report("%s: the description names nothing of the stack", id)
		return
	}
	for _, named := range mention.FindAllStringSubmatch(raw.Value, -1) {
		if i.t.resource(named[1]) != nil {
			n += longerName
		}
	}
	n += longerRegion * strings.Count(raw.Value, "${AWS::Region}")
	if len(text) < 100 || n > 1024 { // CloudWatch's limit
		i.report("%s: a description of up to %d bytes, want 1024 at most", id, n)
	}
}
