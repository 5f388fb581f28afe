package sqscall_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

func TestCheckClient(t *testing.T) {
	t.Parallel()
	var missing *sqs.Client
	for name, tt := range map[string]struct {
		api  any
		want error
	}{
		"nil":            {nil, sqscall.ErrNoClient},
		"nil SDK client": {missing, sqscall.ErrNoClient},
		"SDK client":     {sqs.New(sqs.Options{}), nil},
		"another":        {struct{}{}, nil},
	} {
		if err := sqscall.CheckClient(tt.api); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://sqs.eu-central-1.amazonaws.com/1/q", "http://127.0.0.1:4570", "http://[::1]:1/",
	} {
		if u, err := sqscall.ParseURL(raw); err != nil || u.String() != raw {
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
	for raw, says := range map[string]string{
		"":                                  "empty",
		"charge-dlq":                        `"charge-dlq"`,
		"arn:aws:sqs:eu-central-1:1:charge": `"arn:aws:sqs:eu-central-1:1:charge"`,
		"sqs.eu-central-1.amazonaws.com/q":  "https://",
		"//host/q":                          "https://",
		"user:secret@host/q":                "the text is not a URL",
		"https:///q":                        "a host",
		"ftp://user:secret@host/q":          "ftp://user:xxxxx@host/q",
		"https://user:secret@host:port/q":   "invalid port",
		"https://user:secret@host/\n":       "control character",
	} {
		_, err := sqscall.ParseURL(raw)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want one with %q and without the password", raw, err, says)
		}
	}
}
