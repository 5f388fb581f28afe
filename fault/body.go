package fault

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// ResponseOption is a setting of [CheckResponse]: it adds to the error of a response.
type ResponseOption func(*HTTPError, *http.Response)

const (
	// mostBody is the most of a body that is kept, in bytes.
	mostBody = 1 << 10
	// readBody is how much of a body is read, in bytes. It is more than is kept, so that
	// redact sees what the cut would split.
	readBody = 8 << 10
)

// KeepBody keeps the begin of the body of a response that is no success in
// [HTTPError].Body, up to n bytes, at most 1024: it often has the one sentence that says
// what was wrong. It is off by default, since a body can have what must not be logged: the
// text gets into the log, into the ledger, and into the dead letter.
//
// Redact is given the first 8 KiB, and returns what may be kept; nil keeps all. If it
// panics, nothing is kept. Control characters and line breaks become spaces. The body can
// be read afterwards as if nothing had been read. Reading waits for the server as long as
// the request's context does.
func KeepBody(n int, redact func(head string) string) ResponseOption {
	return func(e *HTTPError, resp *http.Response) {
		if n > 0 && resp.Body != nil && resp.Body != http.NoBody {
			e.Body = oneLine(redacted(bodyHead(resp), redact), min(n, mostBody))
		}
	}
}

// bodyHead returns the begin of the body. It puts back what it reads.
func bodyHead(resp *http.Response) string {
	head, err := io.ReadAll(io.LimitReader(resp.Body, readBody))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failingReader{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), resp.Body}
	return string(head)
}

// redacted returns what may be kept; empty if redact panics.
func redacted(head string, redact func(string) string) (kept string) {
	if redact == nil {
		return head
	}
	defer func() {
		if recover() != nil {
			kept = ""
		}
	}()
	return redact(head)
}

// oneLine returns at most n bytes of the text without control characters, and with one
// space for several.
func oneLine(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// failingReader returns the error of a body that could not be read.
type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }
