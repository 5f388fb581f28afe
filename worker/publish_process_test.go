package worker_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// listed counts the metrics that a server has: those of a namespace and a name,
// or all where these are empty.
func listed(t *testing.T, server *localaws.Server, namespace, name string) int {
	t.Helper()
	in := &cloudwatch.ListMetricsInput{}
	if namespace != "" {
		in.Namespace = &namespace
		in.Dimensions = []types.DimensionFilter{{Name: aws.String("FunctionName"), Value: &name}}
	}
	out, err := cloudwatch.NewFromConfig(localtest.Config(server)).ListMetrics(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Metrics)
}

func TestTheProcessSendsItsMetrics(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		variables       []string
		ownEndpoint     bool // whether CloudWatch's own variable is set
		namespace, name string
		stack, own      int // metrics at the endpoint of all and at CloudWatch's
	}{
		"to the endpoint of all services": {nil, false, "sqsafe", "jobs", 7, 0},
		"to CloudWatch's own endpoint":    {nil, true, "sqsafe", "jobs", 0, 7},
		"under other names": {
			[]string{"SQSAFE_METRICS_NAMESPACE=shop", "SQSAFE_WORKER_NAME=charge"}, false, "shop", "charge", 7, 0,
		},
		"nowhere": {[]string{"SQSAFE_METRICS_NAMESPACE=off"}, false, "", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := localaws.New(nil)
			endpoint := httptest.NewServer(other)
			t.Cleanup(endpoint.Close)
			if tt.ownEndpoint {
				tt.variables = append(tt.variables, "AWS_ENDPOINT_URL_CLOUDWATCH="+endpoint.URL)
			}
			p := startProcess(t, tt.variables...)
			p.answers["a"] <- http.StatusOK
			p.send("a")
			p.begun()
			p.signal(syscall.SIGTERM)
			p.exited(0)
			stack, own := listed(t, p.server, tt.namespace, tt.name), listed(t, other, tt.namespace, tt.name)
			if stack != tt.stack || own != tt.own {
				t.Errorf("%d metrics in the stack and %d at CloudWatch's endpoint, want %d and %d",
					stack, own, tt.stack, tt.own)
			}
		})
	}
}

func TestAProcessThatMayNotSendMetricsRuns(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.server.Inject(localaws.Fault{Operation: "PutMetricData", Code: "AccessDenied", Status: http.StatusForbidden})
	p.answers["a"] <- http.StatusOK
	p.send("a")
	p.begun()
	p.signal(syscall.SIGTERM)
	line := p.await("metrics not sent")
	remedy, _ := line["remedy"].(string)
	if line["level"] != "WARN" || !strings.HasPrefix(remedy, "allow cloudwatch:PutMetricData to the worker") {
		t.Errorf("line %v, want a warning with the remedy", line)
	}
	p.exited(0)
}
