package sqsafe

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/redact"
)

// complete is the environment that the template sets.
func complete() map[string]string {
	return map[string]string{
		"SQSAFE_TABLE":          "ledger",
		"SQSAFE_DLQ_URL":        "http://localhost/1/dead",
		"SQSAFE_MAX_RECEIVES":   "30",
		"AWS_REGION":            "eu-west-1",
		"AWS_ACCESS_KEY_ID":     "id",
		"AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN":     "token",
	}
}

func lookupIn(env map[string]string) lookupFunc {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// nothing is a job that succeeds.
func nothing(context.Context, job) error { return nil }

// read gives the options that an environment makes.
func read(t *testing.T, env map[string]string) Options {
	t.Helper()
	var o Options
	if err := readEnvironment(lookupIn(env), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAllVariablesThatAreMissingOrWrongAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	env := map[string]string{jitterVariable: "2", backoffVariable: "linear"}
	_, _, err := newLambdaProcessor(lookupIn(env), nothing, nil)
	for _, name := range []string{
		"AWS_REGION", tableVariable, deadLetterVariable, maxReceivesVariable, jitterVariable, backoffVariable,
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want it to name %s", err, name)
		}
	}
}

func TestMissingAndWrongVariablesAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, variable, value, want string
	}{
		{"no table", "SQSAFE_TABLE", "",
			"environment variable SQSAFE_TABLE is not set; set it to the name of the ledger table"},
		{"no dead-letter queue", "SQSAFE_DLQ_URL", "",
			"environment variable SQSAFE_DLQ_URL is not set; set it to the URL of the dead-letter queue"},
		{"a password in a wrong URL", "SQSAFE_DLQ_URL", "ftp://me:secret@localhost/1/dead",
			`environment variable SQSAFE_DLQ_URL is "ftp://xxxxx@localhost/1/dead"; ` +
				"set it to the URL of the dead-letter queue, as the queue has it, and not its name or ARN"},
		{"the name of a queue", "SQSAFE_DLQ_URL", "charge-dlq",
			`environment variable SQSAFE_DLQ_URL is "charge-dlq"; ` +
				"set it to the URL of the dead-letter queue, as the queue has it, and not its name or ARN"},
		{"no maximum", "SQSAFE_MAX_RECEIVES", "",
			"environment variable SQSAFE_MAX_RECEIVES is not set; set it to the queue's maxReceiveCount, from 1 to 1000"},
		{"more than SQS takes", "SQSAFE_MAX_RECEIVES", "1001",
			`environment variable SQSAFE_MAX_RECEIVES is "1001"; set it to the queue's maxReceiveCount, from 1 to 1000`},
		{"far too many", "SQSAFE_CONCURRENCY", "1000000",
			`environment variable SQSAFE_CONCURRENCY is "1000000"; set it to how many jobs run at a time, from 1 to 10000`},
		{"no number", "SQSAFE_MAX_RECEIVES", "many",
			`environment variable SQSAFE_MAX_RECEIVES is "many"; set it to the queue's maxReceiveCount, from 1 to 1000`},
		{"negative attempts", "SQSAFE_MAX_ATTEMPTS", "-1",
			`environment variable SQSAFE_MAX_ATTEMPTS is "-1"; ` +
				"set it to a number of attempts up to 1000, or 0 for the profile's own"},
		{"too many attempts", "SQSAFE_MAX_ATTEMPTS", "1001", `environment variable SQSAFE_MAX_ATTEMPTS is "1001"; ` +
			"set it to a number of attempts up to 1000, or 0 for the profile's own"},
		{"too long an excerpt", "SQSAFE_LOG_EXCERPT_BYTES", "1025",
			`environment variable SQSAFE_LOG_EXCERPT_BYTES is "1025"; ` +
				"set it to a number of bytes up to 1024, or 0 for nothing"},
		{"negative", "SQSAFE_UNCLASSIFIED_ATTEMPTS", "-1",
			`environment variable SQSAFE_UNCLASSIFIED_ATTEMPTS is "-1"; set it to a number of attempts, from 1 to 1000`},
		{"unknown backoff", "SQSAFE_BACKOFF", "linear",
			`environment variable SQSAFE_BACKOFF is "linear"; set it to exponential or stepped`},
		{"too much jitter", "SQSAFE_JITTER", "1.5",
			`environment variable SQSAFE_JITTER is "1.5"; ` +
				"set it to a share of the delay, at most 1, or 0 for the profile's own"},
		{"too large a number", "SQSAFE_CONCURRENCY", "99999999",
			`environment variable SQSAFE_CONCURRENCY is "99999999"; set it to how many jobs run at a time, from 1 to 10000`},
		{"strict or not", "SQSAFE_STRICT", "yes", `environment variable SQSAFE_STRICT is "yes"; set it to true or false`},
		{"no member", "SQSAFE_HASH_FIELDS", "id,,amount", `environment variable SQSAFE_HASH_FIELDS is "id,,amount"; ` +
			`set it to members of the payload, such as "id,order.total", or "none"`},
		{"no days", "SQSAFE_KEEP_DAYS", "0",
			`environment variable SQSAFE_KEEP_DAYS is "0"; set it to a number of days, from 1 to 1000000`},
		{"no seconds", "SQSAFE_LEASE_SECONDS", "-1",
			`environment variable SQSAFE_LEASE_SECONDS is "-1"; set it to a number of seconds, from 1 to 1000000`},
		{"no concurrency", "SQSAFE_CONCURRENCY", "0",
			`environment variable SQSAFE_CONCURRENCY is "0"; set it to how many jobs run at a time, from 1 to 10000`},
		{"a namespace of AWS", "SQSAFE_METRICS_NAMESPACE", "AWS/Lambda",
			`environment variable SQSAFE_METRICS_NAMESPACE is "AWS/Lambda"; ` +
				`set it to a namespace that does not begin with "AWS/", or "off"`},
		{"no region", "AWS_REGION", "",
			"environment variable AWS_REGION is not set; set it to the region; Lambda sets it by itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := complete()
			env[tt.variable] = tt.value
			_, _, err := newLambdaProcessor(lookupIn(env), nothing, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			missing, isMissing := errors.AsType[*MissingError](err)
			invalid, isInvalid := errors.AsType[*InvalidError](err)
			if tt.value == "" && (!isMissing || missing.Name != tt.variable) {
				t.Errorf("%T, want a MissingError for %s", err, tt.variable)
			}
			if tt.value != "" && (!isInvalid || invalid.Value != redact.URL(tt.value)) {
				t.Errorf("%T, want an InvalidError with %s", err, tt.value)
			}
		})
	}
}

func TestDefaultsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set  map[string]string
		want [3]int
	}{
		{nil, [3]int{30, 8, 0}},
		{map[string]string{"SQSAFE_MAX_ATTEMPTS": "5", "SQSAFE_UNCLASSIFIED_ATTEMPTS": "2"}, [3]int{30, 5, 2}},
	} {
		env := complete()
		maps.Copy(env, tt.set)
		got := read(t, env)
		if diff := cmp.Diff(tt.want, [3]int{got.MaxReceives, got.Backoff.Attempts(), got.UnclassifiedAttempts}); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.set, diff)
		}
	}
}

func TestExcerptOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": -1, "0": -1, "200": 200} {
		env := complete()
		env["SQSAFE_LOG_EXCERPT_BYTES"] = value
		if got := read(t, env); got.ExcerptBytes != want {
			t.Errorf("%q gives %d; want %d", value, got.ExcerptBytes, want)
		}
	}
}

func TestBackoffOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set  map[string]string
		want backoff.Profile
	}{
		{nil, backoff.Exponential{}},
		{map[string]string{"SQSAFE_BACKOFF": "stepped", "SQSAFE_JITTER": "0.5"}, backoff.Stepped{Jitter: 0.5}},
		{map[string]string{"SQSAFE_MAX_ATTEMPTS": "5"}, backoff.Exponential{MaxAttempts: 5}},
		{
			map[string]string{"SQSAFE_BACKOFF": "stepped", "SQSAFE_JITTER": "0", "SQSAFE_MAX_ATTEMPTS": "0"},
			backoff.Stepped{},
		},
	} {
		env := complete()
		maps.Copy(env, tt.set)
		if diff := cmp.Diff(handler.Backoff(tt.want), read(t, env).Backoff); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.set, diff)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	env := complete()
	read := func(service string) string {
		cfg := lookupIn(env).near(aws.Config{}, service)
		if (cfg.BaseEndpoint == nil) != (cfg.HTTPClient == nil) {
			t.Error("the client for a near endpoint comes with the endpoint")
		}
		return aws.ToString(cfg.BaseEndpoint)
	}
	if got := read("SQS"); got != "" {
		t.Errorf("endpoint %q, want that of AWS", got)
	}
	env["AWS_ENDPOINT_URL"] = "http://all"
	env["AWS_ENDPOINT_URL_DYNAMODB"] = "http://table"
	if sqs, table := read("SQS"), read("DYNAMODB"); sqs != "http://all" || table != "http://table" {
		t.Errorf("endpoints %q and %q", sqs, table)
	}
}

func TestCredentialsAreReadAtEachUse(t *testing.T) {
	t.Parallel()
	env := complete()
	cfg, err := lambdaConfig(lookupIn(env))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"token", "renewed"} {
		env["AWS_SESSION_TOKEN"] = token
		c, err := cfg.Credentials.Retrieve(context.Background())
		if err != nil || c.AccessKeyID != "id" || c.SecretAccessKey != "secret" || c.SessionToken != token {
			t.Errorf("got %+v, %v, want the token %s", c, err, token)
		}
	}
	delete(env, "AWS_SECRET_ACCESS_KEY")
	if _, err := cfg.Credentials.Retrieve(context.Background()); err == nil {
		t.Error("want an error without a secret key")
	}
}

func TestLambdaConfigReadsTheEnvironment(t *testing.T) {
	for name, value := range complete() {
		t.Setenv(name, value)
	}
	cfg, err := LambdaConfig()
	if err != nil || cfg.Region != "eu-west-1" {
		t.Fatalf("region %q, %v; want eu-west-1", cfg.Region, err)
	}
	if c, err := cfg.Credentials.Retrieve(t.Context()); err != nil || c.AccessKeyID != "id" {
		t.Errorf("access key %q, %v; want that of the environment", c.AccessKeyID, err)
	}
	t.Setenv("AWS_REGION", "")
	_, err = LambdaConfig()
	if missing, ok := errors.AsType[*MissingError](err); !ok || missing.Name != "AWS_REGION" {
		t.Errorf("error %v, want one that names AWS_REGION", err)
	}
}

func TestAWrongOptionIsNotBlamedOnItsVariable(t *testing.T) {
	t.Parallel()
	own := func(o *Options) { o.DeadLetterURL = "charge-dlq" }
	_, _, err := newLambdaProcessor(lookupIn(complete()), nothing, []Option{own})
	if err == nil || strings.Contains(err.Error(), deadLetterVariable) ||
		!strings.Contains(err.Error(), "DeadLetterURL") || !strings.Contains(err.Error(), `"charge-dlq"`) {
		t.Errorf("error %v, want it to name the option and its value", err)
	}
}
