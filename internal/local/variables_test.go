package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVariables(t *testing.T) {
	t.Parallel()
	text := `{"Worker":{"URL":"http://mine","RETRIES":3},"Parameters":{"LEVEL":"debug","UNKNOWN":"x"}}`
	v, err := ReadVariables(write(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.check(testStack); err == nil || !strings.Contains(err.Error(), "Worker does not declare RETRIES") {
		t.Errorf("error %v, want one that names RETRIES", err)
	}
	delete(v["Worker"], "RETRIES")
	if err := v.check(testStack); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	endpoints := map[string]string{"AWS_ENDPOINT_URL": "http://here", "AWS_ENDPOINT_URL_SQS": "http://there"}
	want := map[string]string{
		"URL": "http://mine", "LEVEL": "debug", "AWS_LAMBDA_LOG_LEVEL": "DEBUG",
		"AWS_ENDPOINT_URL": "http://here", "AWS_ENDPOINT_URL_SQS": "http://there",
	}
	if diff := cmp.Diff(want, v.environment(testStack.Functions[0], endpoints)); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	own := Variables{"Worker": {"AWS_ENDPOINT_URL_DYNAMODB": "http://table"}}
	if err := own.check(testStack); err != nil {
		t.Errorf("an endpoint is refused: %v", err)
	}
	if got := own.environment(testStack.Functions[0], endpoints)["AWS_ENDPOINT_URL_DYNAMODB"]; got != "http://table" {
		t.Errorf("the endpoint of the file is %q", got)
	}
	if got := testStack.Functions[0].Environment["URL"]; got != "http://from-template" {
		t.Errorf("the template's own environment was changed to %s", got)
	}
}

func TestBadVariables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           `is empty; want {"FunctionLogicalId"`,
		`[]`:                         "a JSON array where an object belongs; want {",
		`{"Worker":"x"}`:             "a JSON string where an object belongs; want {",
		`{"Worker":{"URL":["a"]}}`:   "URL of Worker",
		`{"Worker":{"URL":null}}`:    "URL of Worker",
		`{"Other":{"URL":"x"}}`:      `function "Other" is not in the template`,
		`{"Worker":{"MISSING":"x"}}`: "does not declare MISSING",
	} {
		v, err := ReadVariables(write(t, text))
		if err == nil {
			err = v.check(testStack)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if _, err := ReadVariables("no-such-file.json"); err == nil || !strings.Contains(err.Error(), "no-such-file.json") {
		t.Errorf("error %v, want one that names the file", err)
	}
}
