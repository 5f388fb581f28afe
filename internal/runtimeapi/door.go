package runtimeapi

import (
	"crypto/rand"
	"crypto/subtle"
	"debug/buildinfo"
	"net"
	"net/http"

	"github.com/sqsafe/sqsafe/internal/localguard"
)

// door is what a request to the Runtime API of a process must show: it comes from no web
// page, names this machine, and has the secret path, which only the process knows.
type door struct {
	path string // such as /SECRET; empty if the client of the process cannot use a path
}

// newDoor makes the door for processes of a binary. The Runtime API has one client in Go,
// aws-lambda-go, and it takes HOST:PORT/PATH in AWS_LAMBDA_RUNTIME_API. The clients for
// Rust and Node.js take HOST:PORT only.
func newDoor(binary string) door {
	if _, err := buildinfo.ReadFile(binary); err != nil {
		return door{}
	}
	return door{path: "/" + rand.Text()}
}

// address is the value of AWS_LAMBDA_RUNTIME_API.
func (d door) address(at net.Addr) string { return at.String() + d.path }

func (d door) guard(api http.Handler) http.Handler {
	refused := func(w http.ResponseWriter, _ *http.Request, code, message string) {
		refuse(w, http.StatusForbidden, code, message)
	}
	inside := http.StripPrefix(d.path, api)
	return localguard.API{Refuse: refused}.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.opens(r.URL.Path) {
			refuse(w, http.StatusForbidden, "ForeignProcess", "the path is not that of AWS_LAMBDA_RUNTIME_API")
			return
		}
		inside.ServeHTTP(w, r)
	}))
}

// opens reports whether a path begins with the secret one.
func (d door) opens(path string) bool {
	n := len(d.path)
	return len(path) > n && path[n] == '/' && subtle.ConstantTimeCompare([]byte(path[:n]), []byte(d.path)) == 1
}
