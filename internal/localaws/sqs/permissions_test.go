package sqs_test

import (
	"testing"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

func (c *client) allow(url, label string, accounts, actions []string) error {
	_, err := c.AddPermission(c.Context(), &awssqs.AddPermissionInput{
		QueueUrl: &url, Label: &label, AWSAccountIds: accounts, Actions: actions,
	})
	return err
}

func (c *client) disallow(url, label string) error {
	_, err := c.RemovePermission(c.Context(), &awssqs.RemovePermissionInput{QueueUrl: &url, Label: &label})
	return err
}

func TestPermissionsAreStatementsOfThePolicy(t *testing.T) {
	bubble(t, func(c *client) {
		const one, two = "111111111111", "222222222222"
		q := c.create("q", nil)
		c.must(c.allow(q, "both", []string{one, two}, []string{"SendMessage", "ReceiveMessage"}))
		c.must(c.allow(q, "single", []string{two}, []string{"*"}))
		c.must(c.disallow(q, "both"))
		want := `{"Version":"2008-10-17","Id":"` + arnPrefix + `q/SQSDefaultPolicy","Statement":[{"Sid":"single",` +
			`"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::222222222222:root"},"Action":"SQS:*",` +
			`"Resource":"` + arnPrefix + `q"}]}`
		if diff := cmp.Diff(want, c.attributes(q)["Policy"]); diff != "" {
			c.Error(diff)
		}
		c.must(c.disallow(q, "single"))
		if policy, ok := c.attributes(q)["Policy"]; ok {
			c.Errorf("a policy without statements: %s", policy)
		}
	})
}

// A permission is added to the statements of a policy that the owner wrote.
func TestPermissionIsAddedToAPolicy(t *testing.T) {
	bubble(t, func(c *client) {
		own := `{"Version":"2012-10-17","Statement":{"Sid":"own","Effect":"Deny","Principal":"*","Action":"sqs:*"}}`
		q := c.create("q", attrs{"Policy": own})
		c.must(c.allow(q, "other", []string{"111111111111"}, []string{"SendMessage"}))
		c.wantCode(c.allow(q, "own", []string{"111111111111"}, []string{"SendMessage"}),
			"InvalidParameterValue", "Already exists")
		c.must(c.disallow(q, "other"))
		want := `{"Version":"2012-10-17","Statement":[{"Sid":"own","Effect":"Deny","Principal":"*","Action":"sqs:*"}]}`
		if diff := cmp.Diff(want, c.attributes(q)["Policy"]); diff != "" {
			c.Error(diff)
		}
	})
}

func TestPermissionsThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		known, eight := []string{"111111111111"}, make([]string, 8)
		send := []string{"SendMessage"}
		for _, tt := range []struct {
			label             string
			accounts, actions []string
			code, text        string
		}{
			{"", known, send, "MissingParameter", "Label"},
			{"a b", known, send, "InvalidParameterValue", "Label"},
			{"l", known, []string{}, "MissingParameter", "Actions"},
			{"l", known, eight, "OverLimit", "8 Actions were found, maximum allowed is 7."},
			{"l", known, []string{"DeleteQueue"}, "InvalidParameterValue", "Value SQS:DeleteQueue for parameter ActionName"},
			{"l", []string{}, send, "InvalidParameterValue", "PrincipalId"},
			{"l", []string{"1"}, send, "InvalidParameterValue", "PrincipalId"},
		} {
			c.wantCode(c.allow(q, tt.label, tt.accounts, tt.actions), tt.code, tt.text)
		}
		c.wantCode(c.disallow(q, ""), "MissingParameter", "Label")
		c.wantCode(c.disallow(q, "none"), "InvalidParameterValue", "can't find label")
		if policy, ok := c.attributes(q)["Policy"]; ok {
			c.Errorf("a refused request left %s", policy)
		}
	})
}
