package check

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// The resource types that rules look at.
const (
	typeServerless    = "AWS::Serverless::Function"
	typeFunction      = "AWS::Lambda::Function"
	typeMapping       = "AWS::Lambda::EventSourceMapping"
	typeAlias         = "AWS::Lambda::Alias"
	typeVersion       = "AWS::Lambda::Version"
	typeInvokeConfig  = "AWS::Lambda::EventInvokeConfig"
	typeQueue         = "AWS::SQS::Queue"
	typeQueuePolicy   = "AWS::SQS::QueuePolicy"
	typeTable         = "AWS::DynamoDB::Table"
	typeSimpleTable   = "AWS::Serverless::SimpleTable"
	typeAlarm         = "AWS::CloudWatch::Alarm"
	typeComposite     = "AWS::CloudWatch::CompositeAlarm"
	typeRole          = "AWS::IAM::Role"
	typePolicy        = "AWS::IAM::Policy"
	typeManagedPolicy = "AWS::IAM::ManagedPolicy"
	typeRolePolicy    = "AWS::IAM::RolePolicy"
	typeConnector     = "AWS::Serverless::Connector"
	typeLogGroup      = "AWS::Logs::LogGroup"
	typeStack         = "AWS::CloudFormation::Stack"
	typeApplication   = "AWS::Serverless::Application"
)

// resource is a member of the template's Resources.
type resource struct {
	id, kind string
	key      *yaml.Node // its line is that of the resource
	body     *yaml.Node
	// exists says whether its condition holds.
	exists truth
	// props are its properties; those of a SAM function are merged over the
	// Globals.
	props value
}

// own returns the node of the properties that the resource itself has, or nil.
func (r *resource) own() *yaml.Node { return cfn.Member(r.body, "Properties") }

// at returns the node that a finding about a property points to: its key, or that
// of the resource if the resource does not have it itself.
func (r *resource) at(property string) *yaml.Node {
	if n := keyOf(r.own(), property); n != nil {
		return n
	}
	return r.key
}

// keyOf returns the key of a mapping's member, or nil.
func keyOf(n *yaml.Node, name string) *yaml.Node {
	for _, e := range cfn.Entries(n) {
		if e.Key.Value == name {
			return e.Key
		}
	}
	return nil
}

// model is a template with its parts linked to each other.
type model struct {
	*resolver
	file      string
	root      *yaml.Node
	all       []*resource
	byID      map[string]*resource
	consumers []*consumer
	// open says that a loop makes resources that are not known here.
	open bool
	// fills are the sources of each dead-letter queue, once they were asked for:
	// with many queues it takes too long to look each time.
	fills map[*resource][]*resource
}

func newModel(file string, root *yaml.Node, given map[string]string) (*model, error) {
	r := declare(root, given)
	m := &model{resolver: r, file: file, root: root, byID: map[string]*resource{}}
	conditions, _, err := cfn.Unroll(file, cfn.Member(root, "Conditions"), r.items)
	if err != nil {
		return nil, err
	}
	for _, e := range cfn.Entries(conditions) {
		r.conditions[e.Key.Value] = e.Value
	}
	resources, open, err := cfn.Unroll(file, cfn.Member(root, "Resources"), r.items)
	if err != nil {
		return nil, err
	}
	m.open = len(open) > 0
	globals := cfn.Member(cfn.Member(root, "Globals"), "Function")
	for _, e := range cfn.Entries(resources) {
		m.add(e, globals)
	}
	for _, f := range m.all {
		m.addEvents(f)
		m.addMapping(f)
	}
	return m, nil
}

func (m *model) add(e cfn.Entry, globals *yaml.Node) {
	kind := cfn.Member(e.Value, "Type")
	if kind == nil {
		return
	}
	r := &resource{id: e.Key.Value, kind: kind.Value, key: e.Key, body: e.Value, exists: yes}
	if condition := cfn.Member(e.Value, "Condition"); condition != nil {
		r.exists = m.condition(condition.Value)
	}
	properties := r.own()
	if r.kind == typeServerless {
		properties = cfn.Merge(globals, properties)
	}
	r.props = m.resolve(properties)
	m.all = append(m.all, r)
	m.byID[r.id] = r
	m.resources[r.id] = true
}

// of returns the resources of these types, without those whose condition does
// not hold.
func (m *model) of(kinds ...string) []*resource {
	var list []*resource
	for _, r := range m.possible(kinds...) {
		if r.exists != no {
			list = append(list, r)
		}
	}
	return list
}

// possible returns the resources of these types, with those whose condition
// holds with other parameters.
func (m *model) possible(kinds ...string) []*resource {
	var list []*resource
	for _, r := range m.all {
		if r.is(kinds...) {
			list = append(list, r)
		}
	}
	return list
}

// resourceOf returns the resource that a value refers to: by Ref or Fn::GetAtt,
// or by a name that the resource has in its property. known is false if the
// value may mean any resource.
func (m *model) resourceOf(v value, property string, kinds ...string) (r *resource, known bool) {
	if id, _, ok := v.reference(); ok {
		if r := m.byID[id]; r != nil && r.is(kinds...) {
			return r, true
		}
		return nil, m.byID[id] != nil
	}
	if v.kind != kindText {
		return nil, false
	}
	name := lastPart(v.text)
	if name == "" {
		return nil, true
	}
	for _, r := range m.of(kinds...) {
		given := r.props.get(property)
		if given.kind == kindText && given.text == name {
			return r, true
		}
		// An ARN that is put together may end in the reference to its resource.
		if id, _, ok := (value{kind: kindText, text: name}).reference(); ok && id == r.id {
			return r, true
		}
	}
	return nil, !strings.Contains(v.text, mark) || !strings.Contains(name, mark)
}

func (r *resource) is(kinds ...string) bool {
	return slices.Contains(kinds, r.kind)
}

// lastPart returns what follows the last colon or slash outside of tokens: the
// name in an ARN or a URL.
func lastPart(text string) string {
	inside, start := false, 0
	for i := range len(text) {
		switch {
		case text[i] == 0:
			inside = !inside
		case !inside && (text[i] == ':' || text[i] == '/'):
			start = i + 1
		}
	}
	return text[start:]
}

// queueOf returns the queue that a URL, an ARN or a name means.
func (m *model) queueOf(v value) (q *resource, known bool) {
	return m.resourceOf(v, "QueueName", typeQueue)
}

// functionOf returns the function that a name or an ARN means, and whether it
// names a version or an alias.
func (m *model) functionOf(v value) (f *resource, qualified truth) {
	if id, _, ok := v.reference(); ok {
		id, _, alias := strings.Cut(id, ".") // SAM's Function.Alias and Function.Version
		r := m.byID[id]
		if r != nil && r.is(typeAlias, typeVersion) {
			f, _ = m.functionOf(r.props.get("FunctionName"))
			return f, yes
		}
		if r != nil && r.is(typeFunction, typeServerless) {
			return r, truthOf(alias)
		}
		return nil, maybe
	}
	for _, f := range m.of(typeFunction, typeServerless) {
		for _, form := range []string{token(f.id + ".Ref"), token(f.id + ".Arn")} {
			if strings.HasPrefix(v.text, form+":") {
				return f, yes
			}
		}
		if f, ok := m.resourceOf(v, "FunctionName", typeFunction, typeServerless); ok && f != nil {
			return f, no
		}
	}
	return nil, maybe
}

// redrive returns what a queue's redrive policy says. target is nil if the
// dead-letter queue is not in the template.
func (m *model) redrive(q *resource) (policy value, target *resource, receives number) {
	policy = q.props.get("RedrivePolicy")
	if policy.kind == kindMapping {
		target, _ = m.queueOf(policy.get("deadLetterTargetArn"))
	}
	receives = policy.get("maxReceiveCount").number(0)
	if receives.node == nil {
		receives.known = false
	}
	return policy, target, receives
}

// sources returns the queues of the template whose dead-letter queue this is.
func (m *model) sources(dead *resource) []*resource {
	if m.fills == nil {
		m.fills = map[*resource][]*resource{}
		for _, q := range m.of(typeQueue) {
			if _, target, _ := m.redrive(q); target != nil {
				m.fills[target] = append(m.fills[target], q)
			}
		}
	}
	return m.fills[dead]
}

// deadLetterQueues returns the queues to which a queue with a consumer of the
// template, or any queue, sends what it gives up.
func (m *model) deadLetterQueues() []*resource {
	var list []*resource
	for _, q := range m.of(typeQueue) {
		if len(m.sources(q)) > 0 {
			list = append(list, q)
		}
	}
	return list
}

func fifo(q *resource) truth { return q.props.get("FifoQueue").flag(no) }

// Defaults of SQS and Lambda, in seconds where they are times.
const (
	defaultVisibility = 30
	defaultRetention  = 4 * 24 * 60 * 60
	mostRetention     = 14 * 24 * 60 * 60
	defaultTimeout    = 3
	defaultBatch      = 10
)

func visibility(q *resource) number {
	return q.props.get("VisibilityTimeout").number(defaultVisibility)
}

func retention(q *resource) number {
	return q.props.get("MessageRetentionPeriod").number(defaultRetention)
}

func timeout(f *resource) number { return f.props.get("Timeout").number(defaultTimeout) }

func variables(f *resource) value { return f.props.get("Environment").get("Variables") }

// usesSqsafe reports whether a function has variables of sqsafe.
func usesSqsafe(f *resource) bool {
	if f == nil {
		return false
	}
	for _, e := range cfn.Entries(variables(f).node) {
		if strings.HasPrefix(e.Key.Value, "SQSAFE_") {
			return true
		}
	}
	return false
}
