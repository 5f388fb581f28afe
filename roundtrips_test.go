package sqsafe

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/costs"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/tally"
)

// roundTrip is how long every call to SQS and DynamoDB takes, in the time of a bubble.
const roundTrip = 20 * time.Millisecond

// roundTrips says how many round trips a batch of ten jobs takes, one after the other, and
// which calls it makes. The work itself takes no time.
func roundTrips(t *testing.T, kind, concurrency, queue string) (trips float64, calls map[string]int) {
	t.Helper()
	server := localaws.New(nil)
	env := complete()
	env["SQSAFE_DLQ_URL"], env[concurrencyVariable] = localtest.Endpoint+"/000000000000/dead"+suffix(queue), concurrency
	var counted tally.Tally
	config := localtest.Config(server)
	config.HTTPClient = &http.Client{Transport: counted.Transport(server.Transport())}
	h := newHost(lookupIn(env), config)
	for _, name := range []string{queue, "dead" + suffix(queue)} {
		in := &sqs.CreateQueueInput{QueueName: &name}
		if suffix(queue) != "" {
			in.Attributes = map[string]string{"FifoQueue": "true"}
		}
		if _, err := h.SQS().CreateQueue(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.DynamoDB().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
	}); err != nil {
		t.Fatal(err)
	}
	quiet := func(o *Options) { o.Logger = slog.New(slog.DiscardHandler) }
	p, err := NewProcessorOn(h, endsAsNamed, KeyField("id"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	event := (&world{}).batch(10, kind, 1)
	for i := range event.Records {
		event.Records[i].EventSourceARN = "arn:aws:sqs:us-east-1:000000000000:" + queue
		if suffix(queue) != "" {
			event.Records[i].Attributes["MessageGroupId"] = "g"
		}
	}
	handle := func() time.Duration {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := p.Handle(ctx, event); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	if kind == "duplicate" {
		handle()
	}
	server.Inject(localaws.Fault{Delay: roundTrip})
	counted.Reset()
	took := handle()
	return float64(took) / float64(roundTrip), counted.Read().Calls
}

func suffix(queue string) string {
	if strings.HasSuffix(queue, ".fifo") {
		return ".fifo"
	}
	return ""
}

// What ten jobs call, and how long a user waits for that in round trips to AWS. docs/costs.md
// computes with both, and docs/performance.md has those of a FIFO group too.
func TestRoundTripsOfTenJobs(t *testing.T) {
	t.Parallel()
	told := costs.Ledger()
	ten := func(calls float64) int { return int(calls * costs.Batch) }
	for _, tt := range []struct {
		kind, concurrency, queue string
		trips                    float64
		ledger, sqs              int // calls
	}{
		{"new", "1", "jobs", told.Done.RoundTrips, ten(told.Done.Calls), ten(told.Done.Own)},
		{"new", "10", "jobs", told.Done.RoundTrips, ten(told.Done.Calls), ten(told.Done.Own)},
		{"duplicate", "1", "jobs", told.Duplicate.RoundTrips, ten(told.Duplicate.Calls), ten(told.Duplicate.Own)},
		{"duplicate", "10", "jobs", told.Duplicate.RoundTrips, ten(told.Duplicate.Calls), ten(told.Duplicate.Own)},
		{"retry", "1", "jobs", told.Retry.RoundTrips, ten(told.Retry.Calls), ten(told.Retry.Own)},
		{"retry", "10", "jobs", told.Retry.RoundTrips, ten(told.Retry.Calls), ten(told.Retry.Own)},
		{"dead", "1", "jobs", told.Dead.RoundTrips, ten(told.Dead.Calls), ten(told.Dead.Own)},
		{"dead", "10", "jobs", told.Dead.RoundTrips, ten(told.Dead.Calls), ten(told.Dead.Own)},
		{"new", "10", "jobs.fifo", 11, 20, 0},
		{"dead", "10", "jobs.fifo", 22, 30, 10},
	} {
		t.Run(tt.kind+"/"+tt.concurrency+"/"+tt.queue, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				trips, calls := roundTrips(t, tt.kind, tt.concurrency, tt.queue)
				if trips != tt.trips {
					t.Errorf("%.2f round trips for ten jobs, want %.0f", trips, tt.trips)
				}
				ledger, all := calls["UpdateItem"], 0
				for _, n := range calls {
					all += n
				}
				if ledger != tt.ledger || all-ledger != tt.sqs {
					t.Errorf("calls %v, want %d to the ledger and %d to SQS", calls, tt.ledger, tt.sqs)
				}
			})
		})
	}
}
