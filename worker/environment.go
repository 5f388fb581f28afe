package worker

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/internal/redact"
)

// Variables that a worker reads besides those of the processor.
const (
	queueVariable        = "SQSAFE_QUEUE_URL"
	batchesVariable      = "SQSAFE_BATCHES"
	drainVariable        = "SQSAFE_DRAIN_SECONDS"
	batchSecondsVariable = "SQSAFE_BATCH_SECONDS"
	healthVariable       = "SQSAFE_HEALTH_ADDR"
	nameVariable         = "SQSAFE_WORKER_NAME"
	namespaceVariable    = "SQSAFE_METRICS_NAMESPACE"
)

const (
	defaultHealthAddress = ":8080"
	healthOff            = "off"
	metricsOff           = "off"
)

// most bounds the seconds: beyond it a number is a mistake, and a duration might overflow.
// mostBatches bounds the poll loops, each of which has a connection to SQS.
const (
	most        = 1_000_000
	mostBatches = 1_000
)

type lookupFunc func(name string) (value string, ok bool)

// settings are the worker settings from the environment.
type settings struct {
	Options
	// healthAddress is where probes are answered; empty for nowhere.
	healthAddress string
}

// readSettings reads all variables; the error names all that are missing or wrong.
func readSettings(lookup lookupFunc) (*settings, error) {
	s := &settings{healthAddress: defaultHealthAddress}
	if address, ok := lookup(healthVariable); ok {
		s.healthAddress = address
	}
	if s.healthAddress == healthOff {
		s.healthAddress = ""
	}
	var drain, batch int
	errs := []error{readQueueURL(lookup, &s.QueueURL)}
	for _, number := range []struct {
		name, wants string
		high        int
		to          *int
	}{
		{batchesVariable, "a number of batches, from 1 to 1000", mostBatches, &s.Batches},
		{drainVariable, "a number of seconds, from 1 to 1000000", most, &drain},
		{batchSecondsVariable, "a number of seconds, from 1 to 1000000", most, &batch},
	} {
		errs = append(errs, readNumber(lookup, number.name, number.wants, number.high, number.to))
	}
	errs = append(errs, readMetrics(lookup, &s.Options))
	s.Drain, s.BatchTimeout = time.Duration(drain)*time.Second, time.Duration(batch)*time.Second
	return s, errors.Join(errs...)
}

func readQueueURL(lookup lookupFunc, to *string) error {
	const wants = "the URL of the queue to poll, such as https://sqs.eu-central-1.amazonaws.com/123456789012/jobs"
	value, _ := lookup(queueVariable)
	if value == "" {
		return &sqsafe.MissingError{Name: queueVariable, Wants: wants}
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return &sqsafe.InvalidError{Name: queueVariable, Value: redact.URL(value), Wants: wants}
	}
	*to = value
	return nil
}

// readNumber leaves to as it is where the variable is not set.
func readNumber(lookup lookupFunc, name, wants string, high int, to *int) error {
	value, _ := lookup(name)
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > high {
		return &sqsafe.InvalidError{Name: name, Value: value, Wants: wants}
	}
	*to = n
	return nil
}

// Lengths that CloudWatch takes.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
const (
	maxNamespace = 255
	maxName      = 1024
)

// readMetrics reads namespace and name of the metrics.
func readMetrics(lookup lookupFunc, o *Options) error {
	o.MetricsNamespace, _ = lookup(namespaceVariable)
	o.Name, _ = lookup(nameVariable)
	var errs []error
	if !isMetricText(o.MetricsNamespace, maxNamespace) || strings.HasPrefix(o.MetricsNamespace, "AWS/") {
		errs = append(errs, &sqsafe.InvalidError{
			Name: namespaceVariable, Value: o.MetricsNamespace,
			Wants: `a namespace of at most 255 ASCII characters that begins neither with ":" nor with "AWS/", or to "off"`,
		})
	}
	if !isMetricText(o.Name, maxName) {
		errs = append(errs, &sqsafe.InvalidError{
			Name: nameVariable, Value: o.Name,
			Wants: `a name of at most 1,024 ASCII characters that does not begin with ":"`,
		})
	}
	return errors.Join(errs...)
}

// isMetricText reports whether CloudWatch accepts a text as a namespace or as the value
// of a dimension. Empty means the default.
func isMetricText(text string, most int) bool {
	illegal := func(r rune) bool { return r < ' ' || r > '~' }
	return len(text) <= most && !strings.HasPrefix(text, ":") && strings.IndexFunc(text, illegal) < 0 &&
		(text == "" || strings.TrimSpace(text) != "")
}
