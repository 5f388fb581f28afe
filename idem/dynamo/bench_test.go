//go:build unix

package dynamo_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// BenchmarkNewJob compares a job's two writes with the two that people write by
// hand, which know no owner, by processor time. Both run in turn, and the medians
// count. The metric "ratio" is to stay below 1.1.
func BenchmarkNewJob(b *testing.B) {
	b.Run("client alone", func(b *testing.B) {
		compare(b, aws.Config{HTTPClient: &http.Client{Transport: taken{}}, BaseEndpoint: aws.String("http://table")})
	})
	b.Run("over loopback", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "{}")
		}))
		defer server.Close()
		compare(b, aws.Config{BaseEndpoint: aws.String(server.URL)})
	})
}

// taken is a table that takes every write, without a network.
type taken struct{}

func (taken) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader([]byte("{}"))),
	}, nil
}

func compare(b *testing.B, config aws.Config) {
	b.Helper()
	config.Region, config.Credentials = "eu-central-1", credentials.NewStaticCredentialsProvider("test", "test", "")
	client := dynamodb.NewFromConfig(config)
	store := dynamo.New(client, table, nil)
	var hand, ours, ratio []float64
	for b.Loop() {
		byHand := spent(b, func(id string) error { return handWritten(b.Context(), client, id) })
		byStore := spent(b, func(id string) error { return stored(b.Context(), store, id) })
		hand, ours, ratio = append(hand, byHand), append(ours, byStore), append(ratio, byStore/byHand)
	}
	b.ReportMetric(median(hand), "hand-µs/job")
	b.ReportMetric(median(ours), "store-µs/job")
	b.ReportMetric(median(ratio), "ratio")
	b.ReportMetric(0, "ns/op")
}

// spent gives the processor time of one job in microseconds, of some that
// follow each other.
func spent(b *testing.B, job func(id string) error) float64 {
	b.Helper()
	const jobs = 50
	begin := processorTime(b)
	for i := range jobs {
		if err := job("charges#ch-" + strconv.Itoa(i)); err != nil {
			b.Fatal(err)
		}
	}
	return float64((processorTime(b) - begin).Microseconds()) / jobs
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func stored(ctx context.Context, store *dynamo.Store, id string) error {
	r := request("7PNGZOYVTLSYKGHPEBGF5IW2WX", time.Now())
	r.ID = id
	a, err := store.Acquire(ctx, r)
	if err != nil {
		return err
	}
	return store.Settle(ctx, a.Claim, idem.Settlement{Kind: idem.SettleComplete, Expires: r.Expires})
}

func handWritten(ctx context.Context, client *dynamodb.Client, id string) error {
	at := time.Now()
	key := map[string]types.AttributeValue{"id": text(id)}
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key,
		ConditionExpression: aws.String("attribute_not_exists(id) OR expiration < :now OR " +
			"(#status = :progress AND in_progress_expiration < :now_ms)"),
		UpdateExpression: aws.String("SET #status = :progress, expiration = :expiration, " +
			"in_progress_expiration = :lease"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":progress": text("INPROGRESS"), ":now": seconds(at), ":now_ms": number(strconv.FormatInt(at.UnixMilli(), 10)),
			":expiration": seconds(at.Add(time.Hour)), ":lease": number(strconv.FormatInt(at.UnixMilli()+30000, 10)),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return err
	}
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key,
		UpdateExpression:         aws.String("SET #status = :completed, expiration = :expiration, #data = :data"),
		ExpressionAttributeNames: map[string]string{"#status": "status", "#data": "data"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":completed": text("COMPLETED"), ":expiration": seconds(at.Add(time.Hour)), ":data": text("null"),
		},
	})
	return err
}

func seconds(t time.Time) types.AttributeValue { return number(strconv.FormatInt(t.Unix(), 10)) }
