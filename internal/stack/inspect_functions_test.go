package stack

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// variables are what a function is told besides its queue, by parameter.
var variables = map[string]string{
	"SQSAFE_MAX_ATTEMPTS": "MaxAttempts", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "UnclassifiedAttempts",
	"SQSAFE_BACKOFF": "Backoff", "SQSAFE_JITTER": "Jitter", "SQSAFE_CONCURRENCY": "Concurrency",
	"SQSAFE_LOG_EXCERPT_BYTES": "LogExcerptBytes", "SQSAFE_METRICS_NAMESPACE": "MetricsNamespace",
}

func (i *inspection) functions() {
	for _, f := range i.s.Functions {
		p := i.properties(f.LogicalID)
		i.expect(f.Name+": Runtime", f.Runtime, "provided.al2023")
		i.expect(f.Name+": Handler", f.Handler, "bootstrap")
		i.expect(f.Name+": BuildMethod", f.BuildMethod, "go1.x")
		i.expect(f.Name+": Architectures", p["Architectures"], "["+i.parameter("Architecture")+"]")
		i.expect(f.Name+": Timeout", f.Timeout.Seconds(), i.parameter("FunctionTimeout"))
		for _, name := range []string{"DeadLetterQueue", "Policies"} { // neither does for a queue what it seems to do
			if p[name] != nil {
				i.report("%s has the property %s", f.Name, name)
			}
		}
		i.events(f, p)
		i.environment(f)
		i.logging(f, p)
		i.deployment(f, p)
	}
}

func (i *inspection) events(f Function, p map[string]any) {
	if len(f.Events) != 1 {
		i.report("%s has %d queues, want 1", f.Name, len(f.Events))
		return
	}
	e := f.Events[0]
	event := at(p, "Events", e.Name, "Properties")
	if !e.ReportBatchItemFailures {
		i.report("%s: the event lacks ReportBatchItemFailures", f.Name)
	}
	i.expect(f.Name+": MaximumConcurrency", e.MaximumConcurrency, i.parameter("MaximumConcurrency"))
	i.expect(f.Name+": metrics", at(event, "MetricsConfig", "Metrics"), "[EventCount]")
	for _, name := range []string{"FilterCriteria", "ProvisionedPollerConfig"} {
		if at(event, name) != nil { // the first deletes jobs unseen, the second excludes MaximumConcurrency
			i.report("%s: the event has %s", f.Name, name)
		}
	}
}

func (i *inspection) environment(f Function) {
	source, _ := i.s.Queue(f.Events[0].Queue)
	dead, _ := i.s.Queue(source.DeadLetterQueue)
	want := map[string]string{"SQSAFE_DLQ_URL": dead.URL, "SQSAFE_MAX_RECEIVES": strconv.Itoa(source.MaxReceiveCount)}
	for name, parameter := range variables {
		want[name] = i.parameter(parameter)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		i.expect(f.Name+": "+name, f.Environment[name], want[name])
	}
	endpoint, _ := intrinsic(i.raw(f.LogicalID, "Environment", "Variables", "AWS_ENDPOINT_URL"))
	i.expect(f.Name+": AWS_ENDPOINT_URL", endpoint, "Fn::If")
}

func (i *inspection) logging(f Function, p map[string]any) {
	log := at(p, "LoggingConfig")
	i.expect(f.Name+": LogFormat", at(log, "LogFormat"), "JSON")
	i.expect(f.Name+": ApplicationLogLevel", at(log, "ApplicationLogLevel"), i.parameter("LogLevel"))
	group, _ := at(log, "LogGroup").(string)
	if r := i.t.resource(group); r == nil || r.kind != "AWS::Logs::LogGroup" {
		i.report("%s: LogGroup is %q, want one of this template", f.Name, group)
		return
	}
	i.expect(group+": RetentionInDays", i.properties(group)["RetentionInDays"], i.parameter("LogRetentionDays"))
}

// deployment demands versions that follow every change, and go back on alarm.
func (i *inspection) deployment(f Function, p map[string]any) {
	i.expect(f.Name+": AutoPublishAlias", p["AutoPublishAlias"], "live")
	i.expect(f.Name+": AutoPublishAliasAllProperties", p["AutoPublishAliasAllProperties"], "true")
	i.expect(f.Name+": deployment", at(p, "DeploymentPreference", "Type"), i.parameter("DeploymentType"))
	prefix := strings.TrimSuffix(f.LogicalID, "Function")
	i.expect(f.Name+": rollback alarms", at(p, "DeploymentPreference", "Alarms"),
		"["+prefix+"DeadLetterFloodAlarm "+prefix+"FunctionErrorsAlarm]")
	description := i.raw(f.LogicalID, "VersionDescription")
	if text, _ := p["VersionDescription"].(string); len(text) > 256 { // Lambda's most
		i.report("%s: VersionDescription of %d bytes", f.Name, len(text))
	}
	said := map[string]bool{"Architecture": true, "EndpointUrl": true} // with new code, and never in the cloud
	note := func(_ *yaml.Node, name string) { said[name] = true }
	if description != nil {
		i.walk(description, note, func(string) {})
	}
	for _, part := range []string{"Environment", "LoggingConfig", "Timeout", "MemorySize"} {
		if n := i.raw(f.LogicalID, part); n != nil {
			i.walk(n, func(_ *yaml.Node, name string) {
				if i.t.parameters[name] != nil && !said[name] {
					i.report("%s: parameter %s is not in the VersionDescription: without it no version has its new value",
						f.Name, name)
				}
			}, func(string) {})
		}
	}
}

func (i *inspection) queues() {
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, ok := i.s.Queue(source.DeadLetterQueue)
		if !ok {
			i.report("%s has no dead-letter queue", source.LogicalID)
			continue
		}
		i.expect(source.LogicalID+": retention", source.Attributes["MessageRetentionPeriod"], "345600")
		i.expect(dead.LogicalID+": retention", dead.Attributes["MessageRetentionPeriod"], "1209600")
		i.expect(dead.LogicalID+": RedriveAllowPolicy", dead.Attributes["RedriveAllowPolicy"],
			`{"redrivePermission":"byQueue","sourceQueueArns":["`+source.ARN+`"]}`)
		visibility, _ := strconv.Atoi(source.Attributes["VisibilityTimeout"])
		if least := 6*int(f.Timeout.Seconds()) + int(f.Events[0].Window.Seconds()); visibility < least {
			i.report("%s: visibility timeout %d s, want at least %d", source.LogicalID, visibility, least)
		}
		attempts, _ := strconv.Atoi(f.Environment["SQSAFE_MAX_ATTEMPTS"])
		if attempts == 0 { // that of the profile
			attempts = map[string]int{"exponential": 8, "stepped": 4}[f.Environment["SQSAFE_BACKOFF"]]
		}
		least := 3 * attempts
		if source.FIFO { // each failure of the head is a receive for those behind it
			least = 10 * attempts
		}
		if source.MaxReceiveCount < least {
			i.report("%s: maxReceiveCount %d, want at least %d for %d attempts",
				source.LogicalID, source.MaxReceiveCount, least, attempts)
		}
		for _, q := range []Queue{source, dead} {
			i.expect(q.LogicalID+": SqsManagedSseEnabled", q.Attributes["SqsManagedSseEnabled"], "true")
		}
		i.retained(dead.LogicalID)
	}
}

// retained demands that evidence outlives the stack.
func (i *inspection) retained(id string) {
	for _, policy := range []string{"DeletionPolicy", "UpdateReplacePolicy"} {
		got := ""
		if n := member(member(member(i.root, "Resources"), id), policy); n != nil {
			got = n.Value
		}
		i.expect(id+": "+policy, got, "Retain")
	}
}

func (i *inspection) tables() {
	for _, table := range i.s.Tables {
		p := i.properties(table.LogicalID)
		i.expect(table.Name+": BillingMode", p["BillingMode"], "PAY_PER_REQUEST")
		i.expect(table.Name+": recovery",
			at(p, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"), "true")
		i.retained(table.LogicalID)
	}
	for _, f := range i.s.Functions {
		index := slices.IndexFunc(i.s.Tables, func(t Table) bool { return t.Name == f.Environment["SQSAFE_TABLE"] })
		if index < 0 {
			i.report("%s: SQSAFE_TABLE %q is no table", f.Name, f.Environment["SQSAFE_TABLE"])
			continue
		}
		ledger := i.s.Tables[index]
		i.expect(ledger.Name+": keys", ledger.Keys, "[{id HASH}]")
		i.expect(ledger.Name+": TTL attribute", ledger.TTLAttribute, "expiration")
	}
}

// item finds the rights to items that a function of its own table may have.
var item = regexp.MustCompile(`^dynamodb:(Get|Put|Update|Delete|ConditionCheck)Item$`)

// roles demands a role of its own for each function, with what it does and no
// more.
func (i *inspection) roles() {
	for _, f := range i.s.Functions {
		p := i.properties(f.LogicalID)
		role, ok := strings.CutSuffix(strings.TrimSpace(textOf(p["Role"])), ".Arn")
		if r := i.t.resource(role); !ok || r == nil || r.kind != "AWS::IAM::Role" {
			i.report("%s: Role is %q, want one of this template", f.Name, p["Role"])
			continue
		}
		if i.properties(role)["ManagedPolicyArns"] != nil {
			i.report("%s has managed policies", role)
		}
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		want := map[string]string{
			source.ARN: "[sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage]",
			dead.ARN:   "[sqs:SendMessage]",
			textOf(at(p, "LoggingConfig", "LogGroup")) + ".Arn": "[logs:CreateLogStream logs:PutLogEvents]",
		}
		own := map[string]bool{}
		for _, t := range i.s.Tables {
			for name, value := range f.Environment {
				if value == t.Name && name == "SQSAFE_TABLE" {
					want[t.ARN] = "[dynamodb:UpdateItem]"
				} else if value == t.Name {
					own[t.ARN] = true
				}
			}
		}
		i.compareRights(role, i.rights(role), want, own)
	}
}

func (i *inspection) compareRights(role string, got map[string][]string, want map[string]string, own map[string]bool) {
	for resource, actions := range got {
		switch {
		case own[resource]:
			if slices.ContainsFunc(actions, func(a string) bool { return !item.MatchString(a) }) {
				i.report("%s may %v on %s, want rights to items only", role, actions, resource)
			}
		case want[resource] == "":
			i.report("%s may %v on %s, want nothing on that", role, actions, resource)
		default:
			i.expect(role+": rights on "+resource, actions, want[resource])
		}
	}
	for resource := range want {
		if got[resource] == nil {
			i.report("%s has no right on %s", role, resource)
		}
	}
}

// rights gives the actions that a role allows, by resource.
func (i *inspection) rights(role string) map[string][]string {
	all := map[string][]string{}
	for _, policy := range list(i.properties(role)["Policies"]) {
		for _, statement := range list(at(policy, "PolicyDocument", "Statement")) {
			for _, resource := range oneOrMore(at(statement, "Resource")) {
				all[resource] = append(all[resource], oneOrMore(at(statement, "Action"))...)
				slices.Sort(all[resource])
			}
		}
	}
	return all
}

// oneOrMore reads a text, or a list of texts.
func oneOrMore(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	var all []string
	for _, item := range list(v) {
		all = append(all, textOf(item))
	}
	return all
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}
