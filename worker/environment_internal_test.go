package worker

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe"
)

const queueURL = "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs"

func lookupIn(env map[string]string) lookupFunc {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  map[string]string
		want settings
	}{
		"defaults": {nil, settings{Options{QueueURL: queueURL}, ":8080"}},
		"all set": {
			map[string]string{
				"SQSAFE_BATCHES": "5", "SQSAFE_DRAIN_SECONDS": "60", "SQSAFE_BATCH_SECONDS": "900",
				"SQSAFE_HEALTH_ADDR": "127.0.0.1:9000", "SQSAFE_METRICS_NAMESPACE": "shop", "SQSAFE_WORKER_NAME": "charge worker",
			},
			settings{Options{
				QueueURL: queueURL, Batches: 5, Drain: time.Minute, BatchTimeout: 15 * time.Minute,
				MetricsNamespace: "shop", Name: "charge worker",
			}, "127.0.0.1:9000"},
		},
		"no probes":    {map[string]string{"SQSAFE_HEALTH_ADDR": "off"}, settings{Options{QueueURL: queueURL}, ""}},
		"empty probes": {map[string]string{"SQSAFE_HEALTH_ADDR": ""}, settings{Options{QueueURL: queueURL}, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"SQSAFE_QUEUE_URL": queueURL}
			maps.Copy(env, tt.env)
			got, err := readSettings(lookupIn(env))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ variable, value, want string }{
		{"SQSAFE_QUEUE_URL", "", "environment variable SQSAFE_QUEUE_URL is not set; set it to the URL of the queue to " +
			"poll, such as " + "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs"},
		{"SQSAFE_QUEUE_URL", "me:secret@localhost/1/jobs",
			`environment variable SQSAFE_QUEUE_URL is "xxxxx@localhost/1/jobs"; set it to the URL of ` +
				"the queue to poll, such as https://sqs.eu-central-1.amazonaws.com/123456789012/jobs"},
		{"SQSAFE_QUEUE_URL", "arn:aws:sqs:eu-central-1:123456789012:jobs",
			`environment variable SQSAFE_QUEUE_URL is "arn:aws:sqs:eu-central-1:123456789012:jobs"; set it to the URL of ` +
				"the queue to poll, such as https://sqs.eu-central-1.amazonaws.com/123456789012/jobs"},
		{"SQSAFE_BATCHES", "0",
			`environment variable SQSAFE_BATCHES is "0"; set it to a number of batches, from 1 to 1000`},
		{"SQSAFE_BATCHES", "1001",
			`environment variable SQSAFE_BATCHES is "1001"; set it to a number of batches, from 1 to 1000`},
		{"SQSAFE_DRAIN_SECONDS", "30s",
			`environment variable SQSAFE_DRAIN_SECONDS is "30s"; set it to a number of seconds, from 1 to 1000000`},
		{"SQSAFE_DRAIN_SECONDS", "9223372037", // more than a time.Duration holds
			`environment variable SQSAFE_DRAIN_SECONDS is "9223372037"; set it to a number of seconds, from 1 to 1000000`},
		{"SQSAFE_BATCH_SECONDS", "-1",
			`environment variable SQSAFE_BATCH_SECONDS is "-1"; set it to a number of seconds, from 1 to 1000000`},
		{"SQSAFE_METRICS_NAMESPACE", "AWS/SQS", `environment variable SQSAFE_METRICS_NAMESPACE is "AWS/SQS"; set it to a ` +
			`namespace of at most 255 ASCII characters that begins neither with ":" nor with "AWS/", or to "off"`},
		{"SQSAFE_WORKER_NAME", "Köln", `environment variable SQSAFE_WORKER_NAME is "Köln"; set it to a name of at most ` +
			`1,024 ASCII characters that does not begin with ":"`},
	} {
		t.Run(tt.variable+"="+tt.value, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"SQSAFE_QUEUE_URL": queueURL}
			env[tt.variable] = tt.value
			_, err := readSettings(lookupIn(env))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			_, missing := errors.AsType[*sqsafe.MissingError](err)
			_, invalid := errors.AsType[*sqsafe.InvalidError](err)
			if missing == invalid || missing != (tt.value == "") {
				t.Errorf("%T for the value %q", err, tt.value)
			}
		})
	}
}

func TestAllWrongSettingsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		queueVariable: "", batchesVariable: "0", drainVariable: "x", batchSecondsVariable: "-1",
		namespaceVariable: "AWS/SQS", nameVariable: "Köln",
	}
	_, err := readSettings(lookupIn(env))
	for name := range env {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want it to name %s", err, name)
		}
	}
}

func TestTextsThatCloudWatchTakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "sqsafe": true, "shop/ a job": false, "shop/ job": true, "0123456789": true,
		" ": false, ":shop": false, "a\n": false, "a\x7f": false, "Köln": false, "01234567890": false,
	} {
		if got := isMetricText(text, 10); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
