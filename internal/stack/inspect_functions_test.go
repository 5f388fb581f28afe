package stack

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// variables are the environment variables of a function other than its queues,
// with their parameters.
var variables = map[string]string{
	"SQSAFE_MAX_ATTEMPTS": "MaxAttempts", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "UnclassifiedAttempts",
	"SQSAFE_BACKOFF": "Backoff", "SQSAFE_JITTER": "Jitter", "SQSAFE_CONCURRENCY": "Concurrency",
	"SQSAFE_LOG_EXCERPT_BYTES": "LogExcerptBytes", "SQSAFE_METRICS_NAMESPACE": "MetricsNamespace",
}

// functionProperties are the properties known to be safe.
// ReservedConcurrentExecutions of 0 makes SQS count receives without any run;
// DeadLetterQueue and Policies do not work as expected with an SQS event
// source.
var functionProperties = []string{
	"Architectures", "AutoPublishAlias", "AutoPublishAliasAllProperties", "CodeUri", "DeploymentPreference", "Description",
	"Environment", "Events", "Handler", "LoggingConfig", "MemorySize", "Role", "Runtime", "Timeout", "VersionDescription",
}

func (i *inspection) functions() {
	for _, f := range i.s.Functions {
		p := i.properties(f.LogicalID)
		i.expect(f.Name+": Runtime", f.Runtime, "provided.al2023")
		i.expect(f.Name+": Handler", f.Handler, "bootstrap")
		i.expect(f.Name+": BuildMethod", f.BuildMethod, "go1.x")
		i.expect(f.Name+": Architectures", p["Architectures"], "["+i.parameter("Architecture")+"]")
		i.expect(f.Name+": Timeout", f.Timeout.Seconds(), i.parameter("FunctionTimeout"))
		i.only(f.Name, p, functionProperties...)
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
		if at(event, name) != nil { // filters delete jobs; a poller excludes MaximumConcurrency
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
	i.expect(f.Name+": SystemLogLevel", at(log, "SystemLogLevel"), "INFO") // timeouts are logged at this level
	i.only(f.Name+": LoggingConfig", log, "ApplicationLogLevel", "LogFormat", "LogGroup", "SystemLogLevel")
	i.expect(f.Name+": ApplicationLogLevel", at(log, "ApplicationLogLevel"), i.parameter("LogLevel"))
	group, _ := at(log, "LogGroup").(string)
	if r := i.t.resource(group); r == nil || r.kind != "AWS::Logs::LogGroup" {
		i.report("%s: LogGroup is %q, want one of this template", f.Name, group)
		return
	}
	i.policies(group, "Delete", "Retain")
	i.expect(group+": RetentionInDays", i.properties(group)["RetentionInDays"], i.parameter("LogRetentionDays"))
}

// deployment checks that every change creates a version, and that alarms roll
// it back.
func (i *inspection) deployment(f Function, p map[string]any) {
	i.expect(f.Name+": AutoPublishAlias", p["AutoPublishAlias"], "live")
	i.expect(f.Name+": AutoPublishAliasAllProperties", p["AutoPublishAliasAllProperties"], "true")
	i.expect(f.Name+": deployment", at(p, "DeploymentPreference", "Type"), i.parameter("DeploymentType"))
	i.only(f.Name+": DeploymentPreference", p["DeploymentPreference"], "Alarms", "Type")
	prefix := strings.TrimSuffix(f.LogicalID, "Function")
	i.expect(f.Name+": rollback alarms", at(p, "DeploymentPreference", "Alarms"),
		"["+prefix+"NewVersionErrorsAlarm "+prefix+"NewVersionFloodAlarm]")
	// SAM passes a DeletionPolicy on to the versions, where it would replace its own,
	// which is Retain. Without an UpdateReplacePolicy a new value of a parameter deletes
	// the version before.
	i.policies(f.LogicalID, "", "Retain")
	description := i.raw(f.LogicalID, "VersionDescription")
	if text, _ := p["VersionDescription"].(string); len(text) > 256 { // Lambda's limit
		i.report("%s: VersionDescription of %d bytes", f.Name, len(text))
	}
	said := map[string]bool{"Architecture": true, "EndpointUrl": true} // they change with new code, or never in AWS
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
		if attempts == 0 { // the default of the backoff profile
			attempts = map[string]int{"exponential": 8, "stepped": 4}[f.Environment["SQSAFE_BACKOFF"]]
		}
		least := 3 * attempts
		if source.FIFO { // each failure of a group's first message is a receive for the messages behind it
			least = 10 * attempts
		}
		if source.MaxReceiveCount < least {
			i.report("%s: maxReceiveCount %d, want at least %d for %d attempts",
				source.LogicalID, source.MaxReceiveCount, least, attempts)
		}
		if len(dead.Name) > 80 || dead.FIFO && dead.Name != "dead-"+source.Name {
			i.report("%s: the name %s may not fit into 80 characters", dead.LogicalID, dead.Name)
		}
		for _, q := range []Queue{source, dead} {
			i.expect(q.LogicalID+": SqsManagedSseEnabled", q.Attributes["SqsManagedSseEnabled"], "true")
		}
		i.policies(dead.LogicalID, "RetainExceptOnCreate", "Retain") // dead letters are evidence
		i.policies(source.LogicalID, "Delete", "Retain")             // a replaced queue still has jobs
	}
}

// policies checks what happens to a resource when it is deleted, and when it is
// replaced.
func (i *inspection) policies(id, deletion, replacement string) {
	r := member(member(i.root, "Resources"), id)
	for policy, want := range map[string]string{"DeletionPolicy": deletion, "UpdateReplacePolicy": replacement} {
		got := ""
		if n := member(r, policy); n != nil {
			got = n.Value
		}
		i.expect(id+": "+policy, got, want)
	}
}

func (i *inspection) tables() {
	for _, table := range i.s.Tables {
		p := i.properties(table.LogicalID)
		i.expect(table.Name+": BillingMode", p["BillingMode"], "PAY_PER_REQUEST")
		i.expect(table.Name+": recovery",
			at(p, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"), "true")
		i.policies(table.LogicalID, "RetainExceptOnCreate", "Retain")
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

// oneOrMore returns the texts of a text or of a list of texts.
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
