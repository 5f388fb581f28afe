package check

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// statement allows actions on resources.
type statement struct {
	actions []string // patterns, in lower case
	on      []value
	// vague says that it may allow less or more than it seems: it has a condition,
	// NotAction or NotResource, or values that are not known.
	vague bool
	// deny says that it takes them away.
	deny bool
	// everywhere says that it is for all resources.
	everywhere bool
}

// rights are what a function's role allows.
type rights struct {
	statements []statement
	// whole is false if the role may have more statements.
	whole bool
	// bySAM says that SAM makes the role.
	bySAM bool
	role  *resource // nil if SAM makes it
	at    *yaml.Node
}

// managedActions are what AWS's managed policies allow of what rules ask for.
// A policy that is not here may allow anything.
var managedActions = map[string][]string{
	"AWSLambdaSQSQueueExecutionRole": {
		"sqs:receivemessage", "sqs:deletemessage", "sqs:getqueueattributes",
	},
	"AmazonSQSFullAccess":                             {"sqs:*"},
	"AmazonSQSReadOnlyAccess":                         {"sqs:getqueueattributes"},
	"AmazonDynamoDBFullAccess":                        {"dynamodb:*"},
	"AmazonDynamoDBFullAccess_v2":                     {"dynamodb:*"},
	"AdministratorAccess":                             {"*"},
	"PowerUserAccess":                                 {"*"},
	"AWSLambdaBasicExecutionRole":                     {},
	"AWSLambdaVPCAccessExecutionRole":                 {},
	"AWSLambdaRole":                                   {},
	"AWSXRayDaemonWriteAccess":                        {},
	"AWSXrayWriteOnlyAccess":                          {},
	"CloudWatchLambdaInsightsExecutionRolePolicy":     {},
	"CloudWatchLambdaApplicationSignalsExecutionRole": {},
	"AmazonS3ReadOnlyAccess":                          {},
	"AmazonS3FullAccess":                              {},
	"AmazonSNSFullAccess":                             {},
	"AmazonSSMReadOnlyAccess":                         {},
	"CloudWatchLogsFullAccess":                        {},
}

// samActions are what SAM's policy templates allow, and the parameter that names
// the resource. A template that is not here allows nothing of what rules ask for,
// unless it is one for a service that they ask about.
var samActions = map[string]struct {
	resource string
	actions  []string
}{
	"SQSPollerPolicy": {"QueueName", []string{
		"sqs:changemessagevisibility", "sqs:deletemessage", "sqs:getqueueattributes", "sqs:receivemessage",
	}},
	"SQSSendMessagePolicy": {"QueueName", []string{"sqs:sendmessage"}},
	"DynamoDBCrudPolicy": {"TableName", []string{
		"dynamodb:getitem", "dynamodb:deleteitem", "dynamodb:putitem", "dynamodb:updateitem", "dynamodb:query",
	}},
	"DynamoDBWritePolicy": {"TableName", []string{"dynamodb:putitem", "dynamodb:updateitem"}},
	"DynamoDBReadPolicy":  {"TableName", []string{"dynamodb:getitem", "dynamodb:query"}},
	"KMSDecryptPolicy":    {"KeyId", []string{"kms:decrypt"}},
	"KMSEncryptPolicy":    {"KeyId", []string{"kms:encrypt", "kms:generatedatakey"}},
}

// rightsOf reads the role of a function.
func (m *model) rightsOf(f *resource) rights {
	given := f.props.get("Role")
	if given.absent() {
		if f.kind != typeServerless {
			return rights{}
		}
		return m.rightsBySAM(f)
	}
	id, _, _ := given.reference()
	role := m.byID[id]
	if role == nil || role.kind != typeRole {
		return rights{}
	}
	r := rights{whole: true, role: role, at: role.key}
	r.inline(role.props.get("Policies"))
	r.managed(m, role.props.get("ManagedPolicyArns"))
	r.attached(m, role.id)
	r.connected(m, f)
	return r
}

func (m *model) rightsBySAM(f *resource) rights {
	r := rights{whole: true, bySAM: true, at: f.at("Policies")}
	r.add("AWSLambdaSQSQueueExecutionRole")
	items, whole := f.props.get("Policies").items()
	r.whole = whole
	for _, item := range items {
		switch {
		case item.kind == kindText:
			r.policy(m, item)
		case !item.get("Statement").absent():
			r.document(item)
		case item.kind == kindMapping:
			r.template(item)
		default:
			r.whole = false
		}
	}
	r.attached(m, f.id+"Role")
	r.connected(m, f)
	return r
}

// template adds a policy template of SAM.
func (r *rights) template(item value) {
	for _, e := range cfn.Entries(item.node) {
		known, ok := samActions[e.Key.Value]
		if ok {
			on := item.get(e.Key.Value).get(known.resource)
			r.statements = append(r.statements, statement{actions: known.actions, on: []value{on}})
			continue
		}
		for _, service := range []string{"SQS", "DynamoDB", "KMS", "Fn::"} {
			if strings.HasPrefix(e.Key.Value, service) {
				r.whole = false
			}
		}
	}
}

func (r *rights) inline(policies value) {
	items, whole := policies.items()
	r.whole = r.whole && whole
	for _, p := range items {
		r.document(p.get("PolicyDocument"))
	}
}

func (r *rights) managed(m *model, list value) {
	items, whole := list.items()
	r.whole = r.whole && whole
	for _, item := range items {
		r.policy(m, item)
	}
}

// policy adds a managed policy by its ARN or its name.
func (r *rights) policy(m *model, v value) {
	if id, _, ok := v.reference(); ok && m.byID[id] != nil && m.byID[id].kind == typeManagedPolicy {
		r.document(m.byID[id].props.get("PolicyDocument"))
		return
	}
	r.add(lastPart(v.text))
}

func (r *rights) add(name string) {
	actions, ok := managedActions[name]
	if !ok {
		r.whole = false
		return
	}
	r.statements = append(r.statements, statement{actions: actions, everywhere: true})
}

// attached adds the policies that name the role by themselves.
func (r *rights) attached(m *model, role string) {
	for _, p := range m.of(typePolicy, typeManagedPolicy, typeRolePolicy) {
		if mentions(cfn.Member(p.props.node, "Roles"), role) || mentions(cfn.Member(p.props.node, "RoleName"), role) {
			r.document(p.props.get("PolicyDocument"))
		}
	}
}

// connected notes that a connector of SAM adds rights.
func (r *rights) connected(m *model, f *resource) {
	if cfn.Member(f.body, "Connectors") != nil {
		r.whole = false
	}
	for _, c := range m.of(typeConnector) {
		if mentions(c.body, f.id) {
			r.whole = false
		}
	}
}

func (r *rights) document(d value) {
	items, whole := d.get("Statement").items()
	r.whole = r.whole && whole && d.kind == kindMapping
	for _, s := range items {
		if s.kind != kindMapping {
			r.whole = false
			continue
		}
		st := readStatement(s)
		st.deny = s.get("Effect").text == "Deny"
		r.statements = append(r.statements, st)
	}
}

func readStatement(s value) statement {
	var st statement
	actions, whole := s.get("Action").items()
	on, all := s.get("Resource").items()
	st.vague = !whole || !all
	for _, member := range []string{"Condition", "NotAction", "NotResource"} {
		st.vague = st.vague || !s.get(member).absent()
	}
	for _, a := range actions {
		st.actions = append(st.actions, strings.ToLower(a.text))
		st.vague = st.vague || !a.known()
	}
	st.on = on
	return st
}

// allows says whether the role allows an action on a resource of the template.
func (r *rights) allows(m *model, action string, on *resource, property string) truth {
	best := no
	for _, s := range r.statements {
		granted := s.allows(m, action, on, property)
		if s.deny {
			if granted == yes {
				return no // what is denied, nothing else allows
			}
			continue // a condition may keep it from holding
		}
		switch {
		case granted == yes:
			best = yes
		case granted == maybe && best == no:
			best = maybe
		}
	}
	if best != yes && !r.whole {
		return maybe
	}
	return best
}

func (s *statement) allows(m *model, action string, on *resource, property string) truth {
	if !s.names(action) {
		if s.vague && len(s.actions) == 0 {
			return maybe
		}
		return no
	}
	if s.everywhere {
		return yes
	}
	best := no
	for _, v := range s.on {
		switch s.covers(m, v, on, property) {
		case yes:
			best = yes
		case maybe:
			if best == no {
				best = maybe
			}
		}
	}
	if s.vague {
		return maybe
	}
	return best
}

func (s *statement) names(action string) bool {
	for _, pattern := range s.actions {
		if strings.Contains(pattern, mark) {
			return true
		}
		if ok, err := path.Match(pattern, strings.ToLower(action)); ok || err != nil || pattern == "*" {
			return true
		}
	}
	return false
}

// covers says whether a statement's resource is, or has, one of the template.
func (s *statement) covers(m *model, v value, on *resource, property string) truth {
	if v.text == "*" {
		return yes
	}
	target, known := m.resourceOf(v, property, on.kind)
	name := lastPart(v.text)
	switch {
	case target == on:
		return yes
	case strings.ContainsAny(name, "*?"):
		return maybe
	case target != nil || known:
		return no
	}
	return maybe
}

// mayHavePolicy reports whether a policy of the queue itself may allow more.
func (m *model) mayHavePolicy(q *resource) bool {
	for _, p := range m.possible(typeQueuePolicy) {
		statements, whole := p.props.get("PolicyDocument").get("Statement").items()
		if !mentions(p.body, q.id) {
			continue
		}
		for _, s := range statements {
			principal := s.get("Principal")
			onlyService := principal.kind == kindMapping && len(cfn.Entries(principal.node)) == 1 &&
				!principal.get("Service").absent()
			whole = whole && (onlyService || s.get("Effect").text == "Deny")
		}
		if !whole {
			return true
		}
	}
	return false
}
