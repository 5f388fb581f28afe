package producer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/producer"
)

// TestAConsumerReadsWhatAProducerPacked decodes each message as a consumer does.
func TestAConsumerReadsWhatAProducerPacked(t *testing.T) {
	t.Parallel()
	compressible := strings.Repeat("abc ", 1000)
	var api fakeSQS
	p := newProducer(t, &api, standardURL, &producer.Options{GzipFrom: 100})
	own := map[string]string{"content-encoding": "identity"}
	jobs := []producer.Job{
		{Body: "short"}, {Body: compressible}, {Body: compressible, Attributes: own},
		{Body: "0123456789" + strings.Repeat("!\"#$%&'()*+,-./:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2)},
	}
	if _, err := p.Send(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	for i, e := range api.entries {
		got := ""
		h := envelope.Encoding(handler.Func(func(_ context.Context, m *handler.Message) error {
			got = m.Content()
			return nil
		}), nil)
		q := handlertest.Queue{Handler: h}
		m := handlertest.Message{Body: *e.MessageBody, Attributes: map[string]any{}}
		for name, text := range texts(e) {
			m.Attributes[name] = text
		}
		q.Run(t, m)
		if got != jobs[i].Body {
			t.Errorf("job %d is read as %.50q, want %.50q", i, got, jobs[i].Body)
		}
	}
	if n := len(*api.entries[1].MessageBody); n > 200 {
		t.Errorf("the compressible body has %d bytes", n)
	}
	if got := *api.entries[2].MessageBody; got != compressible {
		t.Errorf("a body with an encoding of its own is %.50q", got)
	}
}

func TestALargeJobIsAClaimCheck(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	s := &store{kept: map[string]string{}}
	var api fakeSQS
	p := newProducer(t, &api, standardURL, &producer.Options{ClaimCheck: s.put})
	_, err := p.Send(t.Context(), producer.Job{Key: "ch-1", Body: large}, producer.Job{Key: "ch-2", Body: "short"})
	if err != nil {
		t.Fatal(err)
	}
	at, ok := envelope.ParsePointer(*api.entries[0].MessageBody)
	if !ok || at != (envelope.Pointer{Bucket: "large", Key: "ch-1"}) || s.kept["ch-1"] != large || len(s.kept) != 1 {
		t.Errorf("message %.200s, %d stored", *api.entries[0].MessageBody, len(s.kept))
	}
	want := map[string]string{"idempotency-key": "ch-1", "ExtendedPayloadSize": "1048576"}
	if diff := cmp.Diff(want, texts(api.entries[0])); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestAJobIsNotSentWithoutItsPayload(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	s := &store{kept: map[string]string{}, refuse: "a"}
	var api fakeSQS
	p := newProducer(t, &api, fifoURL, &producer.Options{ClaimCheck: s.put})
	sent, err := p.Send(t.Context(), producer.Job{Key: "a", Group: "1", Body: large},
		producer.Job{Key: "b", Group: "1", Body: "behind"}, producer.Job{Key: "c", Group: "2", Body: "beside"})
	want := []string{"the payload was not stored: connection torn", "not tried", "id of beside"}
	if diff := cmp.Diff(want, outcomes(sent)); diff != "" || err == nil {
		t.Errorf("error %v, outcomes (-want +got):\n%s", err, diff)
	}
}
