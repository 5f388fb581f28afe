package sqsafe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
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

// Variables that the template sets. Start says what they mean.
const (
	tableVariable        = "SQSAFE_TABLE"
	deadLetterVariable   = "SQSAFE_DLQ_URL"
	maxReceivesVariable  = "SQSAFE_MAX_RECEIVES"
	unclassifiedVariable = "SQSAFE_UNCLASSIFIED_ATTEMPTS"
	concurrencyVariable  = "SQSAFE_CONCURRENCY"
	backoffVariable      = "SQSAFE_BACKOFF"
	jitterVariable       = "SQSAFE_JITTER"
	attemptsVariable     = "SQSAFE_MAX_ATTEMPTS"
	strictVariable       = "SQSAFE_STRICT"
	hashVariable         = "SQSAFE_HASH_FIELDS"
	keepVariable         = "SQSAFE_KEEP_DAYS"
	leaseVariable        = "SQSAFE_LEASE_SECONDS"
	excerptVariable      = "SQSAFE_LOG_EXCERPT_BYTES"
	namespaceVariable    = "SQSAFE_METRICS_NAMESPACE"
)

const (
	// metricsOff is the namespace that stands for no metrics, hashNothing the list of
	// members that stands for none.
	metricsOff  = "off"
	hashNothing = "none"
	day         = 24 * time.Hour
	// most bounds all numbers that have no bound of their own: beyond it one is a mistake.
	most = 1_000_000
	// mostReceives is the largest maxReceiveCount of SQS, mostConcurrency the largest batch
	// of an event source mapping.
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
	// https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html
	mostReceives    = 1_000
	mostConcurrency = 10_000
	// mostAttempts is what package backoff accepts, mostExcerpt what handler.Options does.
	mostAttempts = 1_000
	mostExcerpt  = 1024
)

// readEnvironment sets what the options leave open. The error names all variables that
// are missing or wrong.
func readEnvironment(lookup lookupFunc, o *Options) error {
	r := reader{lookup: lookup}
	if o.Ledger == nil {
		r.text(&o.Table, tableVariable, "the name of the ledger table")
	}
	if o.DeadLetter == nil {
		r.text(&o.DeadLetterURL, deadLetterVariable, "the URL of the dead-letter queue")
	}
	r.required(&o.MaxReceives, maxReceivesVariable, "the queue's maxReceiveCount, from 1 to 1000", mostReceives)
	r.count(&o.UnclassifiedAttempts, unclassifiedVariable, "a number of attempts, from 1 to 1000", mostAttempts)
	r.count(&o.Concurrency, concurrencyVariable, "how many jobs run at a time, from 1 to 10000", mostConcurrency)
	r.duration(&o.Keep, keepVariable, "a number of days, from 1 to 1000000", day)
	r.duration(&o.Lease, leaseVariable, "a number of seconds, from 1 to 1000000", time.Second)
	r.strict(&o.Strict)
	r.hash(&o.Hash)
	r.excerpt(o.Redact != nil, &o.ExcerptBytes)
	if o.Backoff == nil {
		o.Backoff = r.backoff()
	}
	r.namespace()
	return errors.Join(r.errs...)
}

// reader gathers the variables that cannot be used.
type reader struct {
	lookup lookupFunc
	errs   []error
}

func (r *reader) fail(err error) { r.errs = append(r.errs, err) }

// text reads a required variable, unless an option says the same.
func (r *reader) text(to *string, name, wants string) {
	if *to != "" {
		return
	}
	if *to, _ = r.lookup(name); *to == "" {
		r.fail(&MissingError{Name: name, Wants: wants})
	}
}

// required is count for a variable that has to be set.
func (r *reader) required(to *int, name, wants string, high int) {
	if value, _ := r.lookup(name); value == "" && *to == 0 {
		r.fail(&MissingError{Name: name, Wants: wants})
		return
	}
	r.count(to, name, wants, high)
}

// count reads a number from 1 to high, unless an option says the same.
func (r *reader) count(to *int, name, wants string, high int) {
	if *to == 0 {
		*to = r.number(name, wants, 1, high)
	}
}

// number reads a number from low to high; 0 if it is not set.
func (r *reader) number(name, wants string, low, high int) int {
	value, _ := r.lookup(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		r.fail(&InvalidError{Name: name, Value: value, Wants: wants})
		return 0
	}
	return n
}

func (r *reader) duration(to *time.Duration, name, wants string, unit time.Duration) {
	if *to == 0 {
		*to = time.Duration(min(r.number(name, wants, 1, most), int(math.MaxInt64/unit))) * unit
	}
}

func (r *reader) strict(to *bool) {
	value, _ := r.lookup(strictVariable)
	switch value {
	case "", "false":
	case "true":
		*to = true
	default:
		r.fail(&InvalidError{Name: strictVariable, Value: value, Wants: "true or false"})
	}
}

func (r *reader) hash(to *idem.Hash) {
	value, _ := r.lookup(hashVariable)
	switch {
	case value == "" || !to.IsZero():
		return
	case value == hashNothing:
		*to = idem.HashNothing()
		return
	}
	paths := strings.Split(value, ",")
	for i, path := range paths {
		paths[i] = strings.TrimSpace(path)
		if slices.Contains(strings.Split(paths[i], "."), "") {
			r.fail(&InvalidError{
				Name: hashVariable, Value: value, Wants: `members of the payload, such as "id,order.total", or "none"`,
			})
			return
		}
	}
	*to = idem.HashFields(paths...)
}

// excerpt reads how much of a payload is logged; in the variable 0 says nothing of it.
// Nothing is said unless it is asked for, by the variable or by a Redact.
func (r *reader) excerpt(redacts bool, to *int) {
	if *to != 0 {
		return
	}
	value, _ := r.lookup(excerptVariable)
	*to = r.number(excerptVariable, "a number of bytes up to 1024, or 0 for nothing", 0, mostExcerpt)
	if *to == 0 && (value != "" || !redacts) {
		*to = -1
	}
}

// backoff reads the profile; what is not set is the profile's default.
func (r *reader) backoff() handler.Backoff {
	name, _ := r.lookup(backoffVariable)
	share, _ := r.lookup(jitterVariable)
	attempts := r.number(attemptsVariable, "a number of attempts up to 1000, or 0 for the profile's own", 0, mostAttempts)
	jitter, err := strconv.ParseFloat(cmp.Or(share, "0"), 64)
	if err != nil || !(jitter >= 0 && jitter <= 1) {
		r.fail(&InvalidError{
			Name: jitterVariable, Value: share, Wants: "a share of the delay, at most 1, or 0 for the profile's own",
		})
		jitter = 0 // so that an error of the profile is that of its name
	}
	profile, err := backoff.Named(cmp.Or(name, "exponential"), jitter, attempts)
	if err != nil {
		r.fail(&InvalidError{Name: backoffVariable, Value: name, Wants: "exponential or stepped"})
		return nil
	}
	return profile
}

// namespace checks that of the metrics.
func (r *reader) namespace() {
	if value, _ := r.lookup(namespaceVariable); strings.HasPrefix(value, "AWS/") {
		r.fail(&InvalidError{
			Name: namespaceVariable, Value: value, Wants: `a namespace that does not begin with "AWS/", or "off"`,
		})
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

// LambdaConfig returns the SDK's configuration from the variables that Lambda
// sets, for [NewHost] and for clients of the function's own. The SDK's config
// package finds more, at the price of most of the binary. The error, a
// [*MissingError], says that AWS_REGION is not set; missing credentials are an
// error of the first call.
func LambdaConfig() (aws.Config, error) { return lambdaConfig(os.LookupEnv) }

func lambdaConfig(lookup lookupFunc) (aws.Config, error) {
	r := reader{lookup: lookup}
	cfg := aws.Config{
		Credentials:                 aws.CredentialsProviderFunc(lookup.credentials),
		RequestMinCompressSizeBytes: 10240,
	}
	r.text(&cfg.Region, "AWS_REGION", "the region; Lambda sets it by itself")
	return cfg, errors.Join(r.errs...)
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
