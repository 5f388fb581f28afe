package sqsafe

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// barrier answers calls when n of them have arrived.
type barrier struct {
	mu      sync.Mutex
	n       int
	waiting []chan struct{}
}

func (b *barrier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	answer := make(chan struct{})
	b.mu.Lock()
	b.waiting = append(b.waiting, answer)
	if len(b.waiting) == b.n {
		for _, c := range b.waiting {
			close(c)
		}
		b.waiting = nil
	}
	b.mu.Unlock()
	<-answer
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, "{}")
}

// A batch makes as many calls at a time as jobs run. The first batch opens the connections,
// and the later ones use them again.
func TestNoBatchAfterTheFirstOpensConnections(t *testing.T) {
	t.Parallel()
	const atATime = 64
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(&barrier{n: atATime})
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	lookup := lookupIn(map[string]string{"AWS_ENDPOINT_URL": server.URL})
	h := newHost(lookup, aws.Config{Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}})
	in := &dynamodb.UpdateItemInput{TableName: aws.String("t"), Key: map[string]types.AttributeValue{}}
	for range 3 {
		var calls sync.WaitGroup
		for range atATime {
			calls.Go(func() {
				if _, err := h.DynamoDB().UpdateItem(t.Context(), in); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	}
	if n := opened.Load(); n != atATime {
		t.Errorf("%d connections were opened for %d calls at a time", n, atATime)
	}
}
