package check

import (
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// sqsafeRules are about the settings of functions that use sqsafe.
func sqsafeRules() []Rule {
	const docs = "https://github.com/sqsafe/sqsafe/blob/main/docs/"
	return []Rule{
		{
			ID: "E06", Title: "SQSAFE_MAX_RECEIVES that differs from maxReceiveCount",
			Why: "The function does not know the last receive, so SQS moves the job without a record, or it is given up too " +
				"early.",
			Write: "SQSAFE_MAX_RECEIVES: 30", Source: docs + "settings.md", Sqsafe: true,
			find: receivesDiffer,
		},
		{
			ID: "E13", Title: "SQSAFE_DLQ_URL that is not the URL of the dead-letter queue",
			Why:   "Dead letters go back into the source and run again, are refused, or lie where nobody looks.",
			Write: "SQSAFE_DLQ_URL: !Ref DeadLetterQueue", Source: docs + "settings.md", Sqsafe: true,
			find: wrongDeadLetterURL,
		},
		{
			ID: "E19", Title: "a ledger with another key than id, or without TTL on expiration",
			Why:    "With another key each claim is refused and no job runs; without TTL the table grows for ever.",
			Write:  "TimeToLiveSpecification: {AttributeName: expiration, Enabled: true}",
			Source: docs + "ledger.md", Sqsafe: true,
			find: wrongLedger,
		},
		{
			ID: "W20", Title: "a log level above INFO, or the text format",
			Why: "Lambda drops the lines of metrics and of dead letters, so alarms on them never fire; in text format " +
				"Lambda's own lines (timeouts, kills) are no JSON, and queries by field miss them.",
			Write:  "LoggingConfig: {LogFormat: JSON, ApplicationLogLevel: INFO}",
			Source: lambdaGuide + "monitoring-cloudwatchlogs-log-level.html", Sqsafe: true,
			find: logLevel,
		},
		{
			ID: "E39", Title: "a variable that sqsafe does not know",
			Why: "The setting does not hold: if it is a required one, the function never starts, and SQS itself buries its " +
				"jobs after maxReceiveCount, unrun and without a record.",
			Write: "SQSAFE_MAX_RECEIVES: 30", Source: docs + "settings.md", Sqsafe: true,
			find: misspelt,
		},
	}
}

// settings are the variables that sqsafe.Start reads. A test compares them with its
// source.
var settings = []string{
	"SQSAFE_TABLE", "SQSAFE_DLQ_URL", "SQSAFE_MAX_RECEIVES", "SQSAFE_BACKOFF", "SQSAFE_JITTER", "SQSAFE_MAX_ATTEMPTS",
	"SQSAFE_UNCLASSIFIED_ATTEMPTS", "SQSAFE_CONCURRENCY", "SQSAFE_STRICT", "SQSAFE_HASH_FIELDS", "SQSAFE_KEEP_DAYS",
	"SQSAFE_LEASE_SECONDS", "SQSAFE_LOG_EXCERPT_BYTES", "SQSAFE_METRICS_NAMESPACE",
}

func misspelt(m *model) []finding {
	var list []finding
	for _, f := range m.served() {
		for _, e := range cfn.Entries(variables(f).node) {
			name := e.Key.Value
			if !strings.HasPrefix(name, "SQSAFE_") || slices.Contains(settings, name) {
				continue
			}
			meant := cfn.Nearest(name, settings, 2)
			if meant == "" || !variables(f).get(meant).absent() {
				continue // one of the user's own
			}
			x := found(f, e.Key, "%s of %s is no variable of sqsafe; %s is", name, f.id, meant)
			list = append(list, x.writing("%s: %s", meant, variables(f).get(name).shown()))
		}
	}
	return list
}

// budgetSpent reports whether E05 says that the receives are too few; one number
// mends both then.
func budgetSpent(c *consumer, receives number) bool {
	b := budgetOf(c.function)
	return b.known && receives.known && receives.n <= b.attempts
}

func receivesDiffer(m *model) []finding {
	var list []finding
	m.eachRedrive(func(c *consumer, _ value, _ *resource, receives number) {
		if !usesSqsafe(c.function) || budgetSpent(c, receives) {
			return
		}
		given := variables(c.function).get("SQSAFE_MAX_RECEIVES")
		said := given.number(0)
		if given.absent() || !said.known || !receives.known || said.n == receives.n {
			return
		}
		f := found(c.function, said.node, "SQSAFE_MAX_RECEIVES of %s is %d, maxReceiveCount of %s %d",
			c.function.id, said.n, c.queue.id, receives.n).writing("SQSAFE_MAX_RECEIVES: %d", receives.n)
		list = append(list, f.fixedBy(replace(given.node, digits(receives.n))))
	})
	return list
}

func wrongDeadLetterURL(m *model) []finding {
	var list []finding
	for _, c := range m.consumers {
		url := variables(c.functionOrNone()).get("SQSAFE_DLQ_URL")
		if c.queue == nil || !usesSqsafe(c.function) || url.kind != kindText {
			continue
		}
		_, target, _ := m.redrive(c.queue)
		q, known := m.queueOf(url)
		_, attribute, isRef := url.reference()
		var f finding
		switch {
		case q != nil && isRef && (attribute == "Arn" || attribute == "QueueName"),
			strings.HasPrefix(url.text, "arn:"), url.known() && !strings.HasPrefix(url.text, "http"):
			f = found(c.function, url.node, "SQSAFE_DLQ_URL of %s is %s, which is no URL", c.function.id, url.shown())
			if q != nil {
				f = f.writing("SQSAFE_DLQ_URL: !Ref %s", q.id)
			}
		case q == c.queue:
			f = found(c.function, url.node, "SQSAFE_DLQ_URL of %s is its source queue %s", c.function.id, q.id)
		case q != nil && target != nil && q != target, q == nil && known && target != nil && url.known():
			f = found(c.function, url.node, "SQSAFE_DLQ_URL of %s is %s, the redrive target of %s is %s",
				c.function.id, url.shown(), c.queue.id, target.id)
		default:
			continue
		}
		if target != nil {
			f = f.writing("SQSAFE_DLQ_URL: !Ref %s", target.id)
		}
		list = append(list, f)
	}
	return list
}

// functionOrNone is the function, or an empty one.
func (c *consumer) functionOrNone() *resource {
	if c.function == nil {
		return &resource{}
	}
	return c.function
}

func wrongLedger(m *model) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, f := range m.served() {
		table := m.ledgerOf(f)
		if table == nil || seen[table] || !usesSqsafe(f) {
			continue
		}
		seen[table] = true
		if table.kind == typeSimpleTable {
			key := table.props.get("PrimaryKey")
			if name := key.get("Name"); name.known() && name.text != "id" {
				list = append(list, found(table, name.node, "the key of %s, the ledger of %s, is %s", table.id, f.id, name.text).
					writing("PrimaryKey: {Name: id, Type: String}"))
			}
			list = append(list, found(table, table.key, "%s, the ledger of %s, is a SimpleTable, which cannot have TTL",
				table.id, f.id).writing("Type: AWS::DynamoDB::Table"))
			continue
		}
		list = append(list, wrongKey(table, f)...)
		ttl := table.props.get("TimeToLiveSpecification")
		name := ttl.get("AttributeName")
		switch {
		case ttl.absent() || ttl.kind == kindMapping && ttl.get("Enabled").flag(no) == no:
			x := found(table, table.at("TimeToLiveSpecification"), "TTL of %s, the ledger of %s, is off", table.id, f.id)
			if ttl.absent() {
				on := mapping("AttributeName", "expiration", "Enabled", "true")
				x = x.fixedBy(set(table.own(), "TimeToLiveSpecification", on))
			} else {
				x = x.fixedBy(set(ttl.node, "Enabled", "true"))
			}
			list = append(list, x)
		case name.known() && name.text != "expiration":
			x := found(table, name.node, "TTL of %s, the ledger of %s, is on %s", table.id, f.id, name.text)
			list = append(list, x.fixedBy(replace(name.node, "expiration")))
		}
	}
	return list
}

// wrongKey checks that the key of a ledger is id, a string, and nothing else.
func wrongKey(table, f *resource) []finding {
	const lines = "KeySchema: [{AttributeName: id, KeyType: HASH}] # with AttributeDefinitions: " +
		"[{AttributeName: id, AttributeType: S}]"
	keys, whole := table.props.get("KeySchema").items()
	if !whole || len(keys) == 0 {
		return nil
	}
	name := keys[0].get("AttributeName")
	if len(keys) > 1 || name.known() && name.text != "id" {
		x := found(table, table.at("KeySchema"), "the key of %s, the ledger of %s, is not id alone", table.id, f.id)
		return []finding{x.writing(lines)}
	}
	definitions, _ := table.props.get("AttributeDefinitions").items()
	for _, d := range definitions {
		if kind := d.get("AttributeType"); d.get("AttributeName").text == "id" && kind.known() && kind.text != "S" {
			x := found(table, kind.node, "the key id of %s, the ledger of %s, is of type %s", table.id, f.id, kind.text)
			return []finding{x.writing(lines).fixedBy(replace(kind.node, "S"))}
		}
	}
	return nil
}

func logLevel(m *model) []finding {
	var list []finding
	for _, f := range m.served() {
		if !usesSqsafe(f) {
			continue
		}
		logging := f.props.get("LoggingConfig")
		level, format := logging.get("ApplicationLogLevel"), logging.get("LogFormat")
		switch {
		case level.text == "WARN" || level.text == "ERROR" || level.text == "FATAL":
			x := found(f, level.node, "the ApplicationLogLevel of %s is %s", f.id, level.text)
			list = append(list, x.fixedBy(replace(level.node, "INFO")))
		case format.text == "Text":
			x := found(f, format.node, "the LogFormat of %s is Text", f.id)
			list = append(list, x.fixedBy(replace(format.node, "JSON")))
		case logging.absent() || logging.kind == kindMapping && format.absent():
			x := found(f, f.at("LoggingConfig"), "%s has no LogFormat, which means Text", f.id)
			if logging.absent() {
				x = x.fixedBy(set(f.own(), "LoggingConfig", mapping("LogFormat", "JSON", "ApplicationLogLevel", "INFO")))
			} else {
				x = x.fixedBy(set(logging.node, "LogFormat", "JSON"))
			}
			list = append(list, x)
		}
	}
	return list
}
