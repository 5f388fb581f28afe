package sqsafe

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/backoff"
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
	return fmt.Sprintf("environment variable %s is not set; set it to %s", e.Name, e.Wants)
}

// InvalidError says that an environment variable holds something else than it is to.
type InvalidError struct {
	Name, Value, Wants string
}

// Error names the variable, its value and the remedy.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("environment variable %s is %q; set it to %s", e.Name, e.Value, e.Wants)
}

// environment is what the template hands over about the jobs.
type environment struct {
	table                string
	deadLetterURL        string
	maxReceives          int
	unclassifiedAttempts int
	concurrency          int
	excerpt              int // as handler.Options has it
	backoff              backoff.Profile
}

func readEnvironment(lookup lookupFunc) (*environment, error) {
	r := reader{lookup: lookup}
	env := &environment{
		table:                r.text("SQSAFE_TABLE", "the name of the ledger table"),
		deadLetterURL:        r.text("SQSAFE_DLQ_URL", "the URL of the dead-letter queue"),
		maxReceives:          r.count("SQSAFE_MAX_RECEIVES", "the queue's maxReceiveCount, at least 1", 0),
		unclassifiedAttempts: r.count("SQSAFE_UNCLASSIFIED_ATTEMPTS", "a number of attempts, at least 1", 3),
		concurrency:          r.count("SQSAFE_CONCURRENCY", "how many jobs run at a time, at least 1", 1),
		excerpt:              r.excerpt(),
		backoff:              r.backoff(),
	}
	return env, r.err
}

// reader remembers the first variable that cannot be used.
type reader struct {
	lookup lookupFunc
	err    error
}

func (r *reader) text(name, wants string) string {
	value, _ := r.lookup(name)
	if value == "" {
		r.fail(&MissingError{Name: name, Wants: wants})
	}
	return value
}

// count reads a number; fallback 0 makes it required.
func (r *reader) count(name, wants string, fallback int) int {
	value, _ := r.lookup(name)
	if value == "" && fallback == 0 {
		r.fail(&MissingError{Name: name, Wants: wants})
	}
	if value == "" {
		return fallback
	}
	return r.number(name, wants, 1)
}

// number reads a number that is not below least; 0 where it is not set.
func (r *reader) number(name, wants string, least int) int {
	value, _ := r.lookup(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		r.fail(&InvalidError{Name: name, Value: value, Wants: wants})
		return 0
	}
	return n
}

// backoff reads the profile of waiting; what is not set is the profile's default.
func (r *reader) backoff() backoff.Profile {
	name, _ := r.lookup("SQSAFE_BACKOFF")
	share, _ := r.lookup("SQSAFE_JITTER")
	attempts := r.number("SQSAFE_MAX_ATTEMPTS", "a number of attempts, or 0 for the profile's own", 0)
	jitter, err := strconv.ParseFloat(cmp.Or(share, "0"), 64)
	if err != nil || !(jitter >= 0 && jitter <= 1) {
		r.fail(&InvalidError{
			Name: "SQSAFE_JITTER", Value: share, Wants: "a share of the delay, at most 1, or 0 for the profile's own",
		})
		return nil
	}
	profile, err := backoff.Named(cmp.Or(name, "exponential"), jitter, attempts)
	if err != nil {
		r.fail(&InvalidError{Name: "SQSAFE_BACKOFF", Value: name, Wants: "exponential or stepped"})
	}
	return profile
}

// excerpt reads how much of a payload is logged; here 0 says nothing of it.
func (r *reader) excerpt() int {
	const name = "SQSAFE_LOG_EXCERPT_BYTES"
	value, _ := r.lookup(name)
	n := r.number(name, "a number of bytes up to 1024, or 0 for nothing", 0)
	switch {
	case value == "":
		return 0
	case n == 0:
		return -1
	}
	return n
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// endpoint is the endpoint of one service, or of all; empty for AWS itself.
func (lookup lookupFunc) endpoint(service string) string {
	for _, name := range []string{"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"} {
		if value, _ := lookup(name); value != "" {
			return value
		}
	}
	return ""
}

// LambdaConfig gives the SDK's configuration from the variables that Lambda
// sets, for [NewHost] and for clients of the function's own. The SDK's config
// package finds more, at the price of most of the binary. The error, a
// [*MissingError], says that AWS_REGION is not set; missing credentials are an
// error of the first call.
func LambdaConfig() (aws.Config, error) { return lambdaConfig(os.LookupEnv) }

func lambdaConfig(lookup lookupFunc) (aws.Config, error) {
	r := reader{lookup: lookup}
	cfg := aws.Config{
		Region:                      r.text("AWS_REGION", "the region; Lambda sets it by itself"),
		Credentials:                 aws.CredentialsProviderFunc(lookup.credentials),
		RequestMinCompressSizeBytes: 10240,
	}
	return cfg, r.err
}

func (lookup lookupFunc) credentials(context.Context) (aws.Credentials, error) {
	var c aws.Credentials
	c.AccessKeyID, _ = lookup("AWS_ACCESS_KEY_ID")
	c.SecretAccessKey, _ = lookup("AWS_SECRET_ACCESS_KEY")
	c.SessionToken, _ = lookup("AWS_SESSION_TOKEN")
	c.Source = "environment"
	switch {
	case c.AccessKeyID == "":
		return c, &MissingError{Name: "AWS_ACCESS_KEY_ID", Wants: "an access key; Lambda sets it by itself"}
	case c.SecretAccessKey == "":
		return c, &MissingError{Name: "AWS_SECRET_ACCESS_KEY", Wants: "a secret key; Lambda sets it by itself"}
	}
	return c, nil
}
