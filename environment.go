package sqsafe

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
)

type lookupFunc func(name string) (value string, ok bool)

// MissingError says that an environment variable is not set.
type MissingError struct {
	Name string
	// Wants is what the variable is to hold.
	Wants string
}

// Error names the variable and the remedy.
func (e *MissingError) Error() string {
	return fmt.Sprintf("environment variable %s is not set; set it to %s in the function's Environment", e.Name, e.Wants)
}

// InvalidError says that an environment variable holds something else than it is to.
type InvalidError struct {
	Name, Value, Wants string
}

// Error names the variable, its value and the remedy.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("environment variable %s is %q; set it to %s", e.Name, e.Value, e.Wants)
}

// environment is what the template hands over.
type environment struct {
	lookup               lookupFunc
	table                string
	deadLetterURL        string
	maxReceives          int
	maxAttempts          int
	unclassifiedAttempts int
}

func readEnvironment(lookup lookupFunc) (*environment, error) {
	r := reader{lookup: lookup}
	env := &environment{
		lookup:               lookup,
		table:                r.text("SQSAFE_TABLE", "the name of the ledger table"),
		deadLetterURL:        r.text("SQSAFE_DLQ_URL", "the URL of the dead-letter queue"),
		maxReceives:          r.count("SQSAFE_MAX_RECEIVES", "the queue's maxReceiveCount, at least 1", 0),
		maxAttempts:          r.count("SQSAFE_MAX_ATTEMPTS", "a number of attempts, at least 1", 8),
		unclassifiedAttempts: r.count("SQSAFE_UNCLASSIFIED_ATTEMPTS", "a number of attempts, at least 1", 3),
	}
	r.text("AWS_REGION", "the region, as Lambda does")
	return env, r.err
}

// reader remembers the first variable that cannot be used.
type reader struct {
	lookup lookupFunc
	err    error
}

func (r *reader) text(name, wants string) string {
	value, _ := r.lookup(name)
	if value == "" && r.err == nil {
		r.err = &MissingError{Name: name, Wants: wants}
	}
	return value
}

// count reads a number; fallback 0 makes it required.
func (r *reader) count(name, wants string, fallback int) int {
	value, _ := r.lookup(name)
	if value == "" {
		if fallback == 0 && r.err == nil {
			r.err = &MissingError{Name: name, Wants: wants}
		}
		return fallback
	}
	n, err := strconv.Atoi(value)
	if (err != nil || n < 1) && r.err == nil {
		r.err = &InvalidError{Name: name, Value: value, Wants: wants}
	}
	return n
}

// endpoint is the endpoint of one service, or of all; empty for AWS itself.
func (env *environment) endpoint(service string) string {
	for _, name := range []string{"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"} {
		if value, _ := env.lookup(name); value != "" {
			return value
		}
	}
	return ""
}

// config is the SDK's configuration for one service, from the variables that
// Lambda sets. The SDK's own config package would be most of the binary.
func (env *environment) config(service string) aws.Config {
	region, _ := env.lookup("AWS_REGION")
	cfg := aws.Config{
		Region:                      region,
		Credentials:                 aws.CredentialsProviderFunc(env.credentials),
		RequestMinCompressSizeBytes: 10240,
	}
	if endpoint := env.endpoint(service); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
		cfg.HTTPClient = wholeBodyClient()
	}
	return cfg
}

func (env *environment) credentials(context.Context) (aws.Credentials, error) {
	var c aws.Credentials
	c.AccessKeyID, _ = env.lookup("AWS_ACCESS_KEY_ID")
	c.SecretAccessKey, _ = env.lookup("AWS_SECRET_ACCESS_KEY")
	c.SessionToken, _ = env.lookup("AWS_SESSION_TOKEN")
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return c, &MissingError{Name: "AWS_ACCESS_KEY_ID", Wants: "an access key, as Lambda does"}
	}
	c.Source = "environment"
	return c, nil
}
