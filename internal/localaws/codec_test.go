package localaws_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

const (
	cborPath    = "/service/GraniteServiceVersion20100801/operation/"
	emptyObject = "\xa0"
)

// post sends a request. Its headers are pairs of names and values.
func post(t *testing.T, s *localaws.Server, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://localaws"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out, err := s.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(out.Body)
	return out, string(text)
}

func TestSmithyCBOR(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, body string
		status     int
		want       []string // parts of the body
	}{
		"answer":         {cborPath + "DescribeAlarms", emptyObject, 200, []string{"MetricAlarms\x80"}},
		"without a body": {cborPath + "DescribeAlarms", "", 200, []string{"MetricAlarms\x80"}},
		"refusal": {
			cborPath + "GetDashboard", emptyObject, 404,
			[]string{"com.amazonaws.cloudwatch#DashboardNotFoundError", "message"},
		},
		"unknown operation": {
			cborPath + "PutMetricStream", emptyObject, 400, []string{"#UnknownOperationException", "PutMetricStream"},
		},
		"not CBOR": {
			cborPath + "DescribeAlarms", "\x9f", 400, []string{"#SerializationException", "DescribeAlarms: cbor"},
		},
		"another shape": {
			cborPath + "DescribeAlarms", "\x01", 400, []string{"#SerializationException", "DescribeAlarms"},
		},
		"service that speaks JSON only": {"/service/AmazonSQS/operation/ListQueues", emptyObject, 404, []string{"/service/"}},
		"unknown service":               {"/service/None/operation/List", emptyObject, 404, []string{"/service/None"}},
		"no operation":                  {"/service/GraniteServiceVersion20100801", emptyObject, 404, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, body := post(t, localaws.New(nil), tt.path, tt.body, "Smithy-Protocol", "rpc-v2-cbor")
			if out.StatusCode != tt.status {
				t.Errorf("status %d, want %d", out.StatusCode, tt.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in %q", want, body)
				}
			}
			if !strings.HasPrefix(tt.path, cborPath) {
				return
			}
			if out.Header.Get("Content-Type") != "application/cbor" || out.Header.Get("Smithy-Protocol") != "rpc-v2-cbor" {
				t.Errorf("headers: %v", out.Header)
			}
			if query := out.Header.Get("X-Amzn-Query-Error"); (tt.status == 200) != (query == "") {
				t.Errorf("query error: %q", query)
			}
		})
	}
}

func TestCloudWatchInJSON(t *testing.T) {
	t.Parallel()
	out, body := post(t, localaws.New(nil), "/", "{}", "X-Amz-Target", "GraniteServiceVersion20100801.DescribeAlarms")
	if out.StatusCode != 200 || body != `{"MetricAlarms":[],"CompositeAlarms":[]}` {
		t.Errorf("%d %s", out.StatusCode, body)
	}
	out, _ = post(t, localaws.New(nil), "/", "{}", "X-Amz-Target", "GraniteServiceVersion20100801.GetDashboard")
	if got := out.Header.Get("X-Amzn-Query-Error"); got != "ResourceNotFound;Sender" {
		t.Errorf("query error %q", got)
	}
}

func pack(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   string
		status int
	}{
		"packed":                 {pack(t, `{"QueueName":"q"}`), 200},
		"not compressed":         {`{"QueueName":"q"}`, 413},
		"cut":                    {pack(t, `{"QueueName":"q"}`)[:20], 413},
		"far too large":          {pack(t, strings.Repeat(" ", 33<<20)), 413},
		"compressed and refused": {pack(t, `{`), 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := localaws.New(nil)
			out, body := post(t, s, "/", tt.body, "X-Amz-Target", "AmazonSQS.CreateQueue", "Content-Encoding", "gzip")
			if out.StatusCode != tt.status || len(s.SQS().Stats()) != 1 == (tt.status == 200) {
				t.Errorf("status %d, want %d: %s", out.StatusCode, tt.status, body)
			}
		})
	}
}

// Faults apply to CloudWatch too, in the protocol of the call.
func TestFaultOfCloudWatch(t *testing.T) {
	t.Parallel()
	s := localaws.New(nil)
	cfg := localtest.Config(s)
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	client := cloudwatch.NewFromConfig(cfg)
	s.Inject(localaws.Fault{Operation: "PutMetricData", Times: 1, Code: "ThrottlingException", Status: 429})
	s.Inject(localaws.Fault{Operation: "PutMetricData", Times: 1, AfterEffect: true})
	put := func() error {
		_, err := client.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{
			Namespace: aws.String("N"), MetricData: []types.MetricDatum{{MetricName: aws.String("m"), Value: aws.Float64(1)}},
		})
		return err
	}
	listed := func() int {
		out, err := client.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Metrics)
	}
	var api smithy.APIError
	if err := put(); !errors.As(err, &api) || api.ErrorCode() != "ThrottlingException" || listed() != 0 {
		t.Errorf("throttled: %v, %d metrics", err, listed())
	}
	if err := put(); !errors.As(err, &api) || api.ErrorFault() != smithy.FaultServer || listed() != 1 {
		t.Errorf("answer lost: %v, %d metrics", err, listed())
	}
	if err := put(); err != nil {
		t.Error(err)
	}
}
