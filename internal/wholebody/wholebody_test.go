package wholebody_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sqsafe/sqsafe/internal/wholebody"
)

func TestBodiesAreSentWithALength(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) {
			t.Errorf("length %d for a body of %d bytes, %v", r.ContentLength, len(body), err)
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	for want, body := range map[string]io.Reader{
		"":       nil,
		"known":  strings.NewReader("known"),
		"stream": io.MultiReader(strings.NewReader("str"), strings.NewReader("eam")),
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := wholebody.Client(nil).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if string(got) != want {
			t.Errorf("the server got %q, want %q", got, want)
		}
	}
}

func TestABodyThatCannotBeReadIsNotSent(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://unused", iotest.ErrReader(broken))
	if err != nil {
		t.Fatal(err)
	}
	response, err := wholebody.Client(http.DefaultClient).Do(request)
	if !errors.Is(err, broken) {
		_ = response.Body.Close()
		t.Errorf("error %v, want that of the body", err)
	}
}
