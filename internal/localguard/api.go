package localguard

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Codes of refusals.
const (
	CodeHost   = "ForeignHost"
	CodeOrigin = "ForeignOrigin"
)

// API guards a port that programs on this machine call, such as those of the emulators. It
// refuses with status 403 what a web page in a browser sends, and requests whose Host is
// not this machine, since a page can reach this machine under a name of its own (DNS
// rebinding). The zero value works. It is safe for concurrent use.
type API struct {
	// Hosts are further names or addresses of this machine, without a port.
	Hosts []string
	// Origins are the origins of the pages that may call: scheme, host and port, such as
	// http://localhost:3000, as [CheckOrigin] accepts them. Their answers have CORS headers.
	Origins []string
	// Refuse writes a refusal with status 403; nil writes it as JSON.
	Refuse func(w http.ResponseWriter, r *http.Request, code, message string)
}

// Handler returns a handler that passes on to next what the guard does not refuse.
func (a API) Handler(next http.Handler) http.Handler {
	refuse := a.Refuse
	if refuse == nil {
		refuse = refuseJSON
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, allowed := a.origin(r)
		switch {
		case !a.here(r):
			refuse(w, r, CodeHost, fmt.Sprintf("the request is for host %q, which is not a name of this machine; "+
				"if it is one, start sqsafe local with --allow-host", clip(hostname(r.Host))))
		case !allowed:
			refuse(w, r, CodeOrigin, fmt.Sprintf("the request comes from the web page %q; "+
				"if it is yours, start sqsafe local with --allow-origin", clip(origin)))
		case origin == "":
			next.ServeHTTP(w, r)
		default:
			a.serveOrigin(w, r, origin, next)
		}
	})
}

// here reports whether the request names this machine: a loopback address, localhost, the
// address that it came to, or one of the further hosts. The owner of a web page can give
// its own names the address of this machine, but not localhost or an address.
func (a API) here(r *http.Request) bool {
	host := hostname(r.Host)
	if strings.EqualFold(host, "localhost") ||
		slices.ContainsFunc(a.Hosts, func(own string) bool { return strings.EqualFold(own, host) }) {
		return true
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap()
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return address.IsLoopback() || ok && at.AddrPort().Addr().Unmap() == address
}

// hostname returns a Host header without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// origin returns the origin of the page that the request comes from, empty for none, and
// whether it may call. Browsers leave Origin out of some requests, but these have
// Sec-Fetch-Site, whose value is returned then.
func (a API) origin(r *http.Request) (origin string, allowed bool) {
	if all := r.Header.Values("Origin"); len(all) > 0 {
		origin = strings.Join(all, ", ")
		return origin, slices.Contains(a.Origins, origin)
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none":
		return "", true
	default:
		return site, false
	}
}

// exposed are the headers of answers that the SDKs read.
const exposed = "x-amzn-requestid, x-amzn-query-error, x-amzn-errortype, x-amz-crc32, smithy-protocol"

// preflightSeconds is how long a browser may use the answer to a preflight again.
const preflightSeconds = 600

// serveOrigin answers a page that may call.
func (a API) serveOrigin(w http.ResponseWriter, r *http.Request, origin string, next http.Handler) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	method := r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || method == "" {
		h.Set("Access-Control-Expose-Headers", exposed)
		next.ServeHTTP(w, r)
		return
	}
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "POST, GET")
	if headers := r.Header.Get("Access-Control-Request-Headers"); headers != "" {
		h.Set("Access-Control-Allow-Headers", headers)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", strconv.Itoa(preflightSeconds))
	w.WriteHeader(http.StatusNoContent)
}

func refuseJSON(w http.ResponseWriter, _ *http.Request, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusForbidden)
	// A failed write means that the client has closed the connection.
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}

// longest is how many bytes of a header a refusal repeats.
const longest = 200

func clip(text string) string {
	if len(text) > longest {
		return text[:longest]
	}
	return text
}

// CheckOrigin returns an error unless text is an origin as browsers send it: http or https, host and
// port, and no path. The error shows an example.
func CheckOrigin(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != text {
		return fmt.Errorf("origin %q: give scheme, host and port of the page, such as http://localhost:3000", text)
	}
	return nil
}

// CheckHost returns an error unless text is a host name or an IP address, without a port. The
// error shows an example.
func CheckHost(text string) error {
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	strange := func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if text == "" || strings.ContainsFunc(text, strange) {
		return fmt.Errorf("host %q: give a name without a port, such as host.docker.internal", text)
	}
	return nil
}
