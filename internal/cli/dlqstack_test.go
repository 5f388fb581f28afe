package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
)

// With --stack the outputs of a stack name queue and table, by function, output or logical
// id. AWS is an emulator here, by the variables of the SDK.
func TestDLQFindsTheQueueOfAStack(t *testing.T) {
	s, url := served(t, "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	formation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const open = `<%[1]sResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><%[1]sResult>`
		const refusal = `<ErrorResponse><Error><Code>ValidationError</Code><Message>%s</Message></Error></ErrorResponse>`
		const end = `</%[1]sResult></%[1]sResponse>`
		switch action := r.FormValue("Action"); {
		case r.FormValue("StackName") != "shop":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, refusal, "does not exist")
		case action == "DescribeStacks":
			fmt.Fprintf(w, open+`<Stacks><member><StackName>shop</StackName><StackStatus>CREATE_COMPLETE</StackStatus>`+
				`<CreationTime>2026-11-30T00:00:00Z</CreationTime><Outputs><member><OutputKey>ChargeDeadLetterQueueUrl</OutputKey>`+
				`<OutputValue>%[2]s/000000000000/%[3]s</OutputValue></member><member><OutputKey>LedgerTableName</OutputKey>`+
				`<OutputValue>%[4]s</OutputValue></member></Outputs></member></Stacks>`+end, action, url, s.Dead, letterstest.Table)
		case r.FormValue("LogicalResourceId") == "ChargeDeadLetterQueue":
			fmt.Fprintf(w, open+`<StackResourceDetail><PhysicalResourceId>%[2]s/000000000000/%[3]s</PhysicalResourceId>`+
				`</StackResourceDetail>`+end, action, url, s.Dead)
		default:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, refusal, "no resource")
		}
	}))
	t.Cleanup(formation.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_CLOUDFORMATION": formation.URL, "AWS_ENDPOINT_URL_SQS": url, "AWS_ENDPOINT_URL_DYNAMODB": url,
		"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": t.TempDir() + "/none", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none",
	} {
		t.Setenv(name, value)
	}
	for _, queue := range []string{"Charge", "ChargeDeadLetterQueueUrl", "ChargeDeadLetterQueue"} {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		streams := cli.Streams{Out: out, Err: errs}
		code := cli.Run(t.Context(), []string{"dlq", "list", queue, "--aws", "--stack", "shop"}, streams)
		if code != cli.ExitOK || !strings.Contains(out.String(), "│ 0 of 1 │") || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, %s%s", queue, code, out, errs)
		}
	}
	if out := mustRun(t, "ledger", "list", "--aws", "--stack", "shop"); !strings.Contains(out, "charges#c-1") {
		t.Errorf("jobs: %s", out)
	}
	for args, want := range map[string]string{
		"Refund --stack shop": "stack shop has no queue Refund; its outputs name those of Charge: ",
		"Charge --stack none": "CloudFormation at AWS: ValidationError: does not exist",
	} {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		streams := cli.Streams{Out: out, Err: errs}
		code := cli.Run(t.Context(), append([]string{"dlq", "list", "--aws"}, strings.Fields(args)...), streams)
		if code != cli.ExitFailed || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %s", args, code, errs)
		}
	}
}
