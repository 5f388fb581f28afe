package tracing_test

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector in this process that takes OTLP over HTTP.
type receiver struct {
	mu   sync.Mutex
	took []*spans.Span
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var in collector.ExportTraceServiceRequest
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range in.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			r.took = append(r.took, scope.GetSpans()...)
		}
	}
}

// named returns the spans of that name, in the order of their start.
func (r *receiver) named(name string) []*spans.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*spans.Span
	for _, s := range r.took {
		if s.GetName() == name {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *spans.Span) int {
		return int(int64(a.GetStartTimeUnixNano()) - int64(b.GetStartTimeUnixNano()))
	})
	return found
}

// RoundTrip makes the receiver a transport, so that no socket is outside of a bubble.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Result(), nil
}

// newProvider returns a provider that exports to the receiver.
func newProvider(t *testing.T, to *receiver) *sdktrace.TracerProvider {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL("http://collector/v1/traces"),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: to}))
	if err != nil {
		t.Fatal(err)
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = p.Shutdown(ctx)
	})
	return p
}

// attributes returns the attributes of a span or a link as texts.
func attributes(of []*common.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, a := range of {
		text := a.GetValue().GetStringValue()
		if _, isInt := a.GetValue().GetValue().(*common.AnyValue_IntValue); isInt {
			text = a.GetValue().String()
			text = strings.TrimSpace(strings.TrimPrefix(text, "int_value:"))
		}
		texts[a.GetKey()] = text
	}
	return texts
}

// id returns the traceparent's part that identifies a span.
func id(s *spans.Span) string {
	return hex.EncodeToString(s.GetTraceId()) + "-" + hex.EncodeToString(s.GetSpanId())
}

// linked returns what the span is linked to as that kind; empty if it is not.
func linked(s *spans.Span, to string) string {
	for _, l := range s.GetLinks() {
		if attributes(l.GetAttributes())["sqsafe.link"] == to {
			return hex.EncodeToString(l.GetTraceId()) + "-" + hex.EncodeToString(l.GetSpanId())
		}
	}
	return ""
}
