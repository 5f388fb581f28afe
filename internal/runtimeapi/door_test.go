package runtimeapi_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localguard/guardtest"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// runtimeAddress is where a running process of the function finds its Runtime API.
func runtimeAddress(h *harness) string {
	h.t.Helper()
	for _, variable := range h.report(order{}).Variables {
		if address, ok := strings.CutPrefix(variable, "AWS_LAMBDA_RUNTIME_API="); ok {
			return address
		}
	}
	h.t.Fatal("the process has no AWS_LAMBDA_RUNTIME_API")
	return ""
}

func TestOnlyTheProcessReachesItsRuntimeAPI(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	address := runtimeAddress(h)
	base, secret, _ := strings.Cut(address, "/")
	if len(secret) < 20 {
		t.Fatalf("the address is %s, want one with a secret path", address)
	}
	for name, path := range map[string]string{
		"no secret": "", "another secret": "/" + strings.ToLower(secret), "part of it": "/" + secret[:10],
		"and more": "/" + secret + "x", "escaped": "/%2F" + secret, "the secret alone": "/" + secret,
	} {
		for _, target := range []guardtest.Target{
			{Method: http.MethodGet, URL: "http://" + base + path + invocationPath + "next"},
			{URL: "http://" + base + path + invocationPath + "x/response", Body: "{}"},
		} {
			if name == "the secret alone" {
				target.URL = "http://" + base + path
			}
			if status, body := guardtest.Send(t, target); status != http.StatusForbidden {
				t.Errorf("%s: %s %s: %d %s", name, target.Method, target.URL, status, body)
			}
		}
	}
	guardtest.Refuses(t, guardtest.Target{Method: http.MethodGet, URL: "http://" + address + invocationPath + "next"})
	guardtest.Refuses(t, guardtest.Target{URL: "http://" + address + invocationPath + "x/response", Body: "{}"})
	h.report(order{}) // the process still takes its events
	if story := h.story(); story != "started invoked answered invoked answered" {
		t.Errorf("story %q", story)
	}
}

// The clients of other languages take no path.
func TestAFunctionThatIsNotWrittenInGo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	binary := filepath.Join(t.TempDir(), "bootstrap")
	const script = `#!/bin/sh
echo "API $AWS_LAMBDA_RUNTIME_API"
base="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation"
while id=$(curl -sS -o /dev/null -D - "$base/next" | tr -d '\r' | sed -n 's/^Lambda-Runtime-Aws-Request-Id: //p')
do curl -sS -o /dev/null -d '"done"' "$base/$id/response"; done
`
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h := start(t, "", func(o *runtimeapi.Options) { o.Binary = binary })
	if answer, err := h.invoke(order{}); err != nil || string(answer) != `"done"` {
		t.Fatalf("%s %v", answer, err)
	}
	_, address, _ := strings.Cut(strings.Split(h.output(), "\n")[0], "API ")
	if address == "" || strings.Contains(address, "/") {
		t.Fatalf("the address is %q, want one without a path", address)
	}
	guardtest.Refuses(t, guardtest.Target{Method: http.MethodGet, URL: "http://" + address + invocationPath + "next"})
}
