package envelope_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

func base(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a bytes.Buffer never fails
	_ = w.Close()
	return base(b.String())
}

func encoding(o *envelope.EncodingOptions) func(handler.Handler) handler.Handler {
	return func(h handler.Handler) handler.Handler { return envelope.Encoding(h, o) }
}

func encoded(body, encoding string) handlertest.Message {
	return handlertest.Message{Body: body, Attributes: map[string]any{"content-encoding": encoding}}
}

func TestBase64(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"id":1}`, "", "\x00\xff"} {
		open(t, envelope.Base64, handlertest.Message{Body: base(text)}).wantContent(t, text)
	}
	for body, words := range map[string][]string{
		`{"id":1}`: {"not standard base64 with padding, as its byte 1 shows", "take envelope.Base64 away"},
		"aGk":      {"padding"},
		"aGk_":     {"byte 4"},
	} {
		open(t, envelope.Base64, handlertest.Message{Body: body}).wantRefused(t, words...)
	}
}

func TestEncodingFollowsTheAttribute(t *testing.T) {
	t.Parallel()
	const text = `{"id":1}`
	for name, m := range map[string]handlertest.Message{
		"no attribute": {Body: text},
		"identity":     encoded(text, "identity"),
		"base64":       encoded(base(text), "base64"),
		"gzip":         encoded(packed(text), "gzip"),
		"gzip+base64":  encoded(packed(text), "GZIP+Base64"),
		"a list":       encoded(packed(text), "gzip, base64"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, encoding(nil), m).wantContent(t, text)
		})
	}
	own := handlertest.Message{Body: base(text), Attributes: map[string]any{"enc": "base64"}}
	open(t, encoding(&envelope.EncodingOptions{Attribute: "enc"}), own).wantContent(t, text)
}

func TestEncodingRefusesInvalidBodies(t *testing.T) {
	t.Parallel()
	damaged := []byte(packed(strings.Repeat("text ", 100)))
	damaged = damaged[:len(damaged)-len(damaged)%4-8]
	for name, tt := range map[string]struct {
		m     handlertest.Message
		words []string
	}{
		"another encoding": {
			encoded("x", "br"), []string{`"content-encoding" is "br"`, "want base64, gzip+base64 or identity"},
		},
		"no base64": {encoded("{}", "base64"), []string{`is "base64", but the body is not standard base64`}},
		"no base64 around gzip": {
			encoded("{}", "gzip"), []string{`is "gzip", but the body is not standard base64`},
		},
		"no gzip":      {encoded(base("{}"), "gzip"), []string{"what the body holds is not gzip"}},
		"damaged gzip": {encoded(string(damaged), "gzip"), []string{"damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, encoding(nil), tt.m).wantRefused(t, tt.words...)
		})
	}
}

func TestABodyThatDecodesToTooMuchIsPermanent(t *testing.T) {
	t.Parallel()
	bomb := encoded(packed(strings.Repeat("\x00", 10<<20+1)), "gzip")
	if len(bomb.Body) > 20<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb.Body))
	}
	open(t, encoding(nil), bomb).wantRefused(t, "more than 10485760 bytes", "EncodingOptions.MaxBytes")
	small := &envelope.EncodingOptions{MaxBytes: 8}
	open(t, encoding(small), encoded(packed("12345678"), "gzip")).wantContent(t, "12345678")
	open(t, encoding(small), encoded(packed("123456789"), "gzip")).wantRefused(t, "more than 8 bytes")
	boundless := &envelope.EncodingOptions{MaxBytes: math.MaxInt64}
	open(t, encoding(boundless), encoded(packed("12345678"), "gzip")).wantContent(t, "12345678")
}

func FuzzEncoding(f *testing.F) {
	f.Add(packed("x"), "gzip")
	f.Add(base("x"), "base64")
	f.Add("x", "")
	f.Add("H4sI", "gzip+base64")
	f.Fuzz(func(t *testing.T, body, name string) {
		o := open(t, encoding(&envelope.EncodingOptions{MaxBytes: 1 << 10}), encoded(body, name))
		switch {
		case o.err != nil:
			o.wantRefused(t)
		case len(o.content) > 1<<10 && len(o.content) > len(body):
			t.Errorf("%d bytes came out of %d", len(o.content), len(body))
		}
	})
}
