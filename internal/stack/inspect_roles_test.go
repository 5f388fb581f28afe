package stack

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// item matches the permissions on items that a function may have for a table of
// its own.
var item = regexp.MustCompile(`^dynamodb:(Get|Put|Update|Delete|ConditionCheck)Item$`)

// roles checks that each function has its own role, with exactly the
// permissions that it uses.
func (i *inspection) roles() {
	for _, f := range i.s.Functions {
		p := i.properties(f.LogicalID)
		role, ok := strings.CutSuffix(strings.TrimSpace(textOf(p["Role"])), ".Arn")
		if r := i.t.resource(role); !ok || r == nil || r.kind != "AWS::IAM::Role" {
			i.report("%s: Role is %q, want one of this template", f.Name, p["Role"])
			continue
		}
		i.trust(role)
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

// trusted is the trust policy of a function's role.
const trusted = `{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow",` +
	`"Principal":{"Service":"lambda.amazonaws.com"}}],"Version":"2012-10-17"}`

// trust checks that only Lambda can assume the role, and that it has no other
// policies.
func (i *inspection) trust(role string) {
	p := i.properties(role)
	i.only(role, p, "AssumeRolePolicyDocument", "Description", "Policies")
	i.expect(role+": AssumeRolePolicyDocument", canonical(p["AssumeRolePolicyDocument"]), trusted)
}

// only checks that a mapping has no other members than the named ones.
func (i *inspection) only(what string, members any, names ...string) {
	m, _ := members.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, name) {
			i.report("%s has the property %s, which is not among %v", what, name, names)
		}
	}
}

// rights returns the actions that a role allows, by resource. It reports
// statements with other members: Deny, a condition, NotAction or NotResource
// change what the actions and resources mean.
func (i *inspection) rights(role string) map[string][]string {
	all := map[string][]string{}
	for _, policy := range list(i.properties(role)["Policies"]) {
		i.expect(role+": version of a policy", at(policy, "PolicyDocument", "Version"), "2012-10-17")
		for _, statement := range list(at(policy, "PolicyDocument", "Statement")) {
			i.only(role+": a statement", statement, "Sid", "Effect", "Action", "Resource")
			i.expect(role+": Effect", at(statement, "Effect"), "Allow")
			for _, resource := range oneOrMore(at(statement, "Resource")) {
				all[resource] = append(all[resource], oneOrMore(at(statement, "Action"))...)
				slices.Sort(all[resource])
			}
		}
	}
	return all
}
