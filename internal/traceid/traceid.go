// Package traceid reads and writes the two forms in which a message carries the trace of
// its producer: the header traceparent of W3C Trace Context, and the trace header of X-Ray.
package traceid

import (
	"encoding/hex"
	"strings"
)

const (
	// Traceparent is the name of the message attribute that has the W3C form.
	Traceparent = "traceparent"
	// Tracestate is the name of the message attribute that goes with it.
	Tracestate = "tracestate"
	// XRayHeader is the name of the system attribute that has X-Ray's form.
	XRayHeader = "AWSTraceHeader"
)

// Context identifies a span.
type Context struct {
	TraceID [16]byte
	// SpanID is zero if only the trace is known, as in a header of X-Ray without Parent.
	SpanID  [8]byte
	Sampled bool
}

// Trace returns the trace id as 32 hexadecimal digits.
func (c Context) Trace() string { return hex.EncodeToString(c.TraceID[:]) }

// W3C returns the value of traceparent, version 00.
func (c Context) W3C() string {
	flags := "00"
	if c.Sampled {
		flags = "01"
	}
	return "00-" + c.Trace() + "-" + hex.EncodeToString(c.SpanID[:]) + "-" + flags
}

// XRay returns the trace header of X-Ray.
func (c Context) XRay() string {
	sampled := "0"
	if c.Sampled {
		sampled = "1"
	}
	id := c.Trace()
	return "Root=1-" + id[:8] + "-" + id[8:] + ";Parent=" + hex.EncodeToString(c.SpanID[:]) + ";Sampled=" + sampled
}

// ParseW3C reads a traceparent. Later versions are read as far as version 00 goes, as the
// recommendation says.
func ParseW3C(text string) (Context, bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 {
		return Context{}, false
	}
	var c Context
	var version, flags [1]byte
	if !decode(version[:], parts[0]) || !decode(c.TraceID[:], parts[1]) || !decode(c.SpanID[:], parts[2]) ||
		!decode(flags[:], parts[3]) || c.TraceID == [16]byte{} || c.SpanID == [8]byte{} {
		return Context{}, false
	}
	c.Sampled = flags[0]&1 != 0
	return c, true
}

// ParseXRay reads a trace header of X-Ray. Its parts may come in any order, and Parent and
// Sampled may be missing.
func ParseXRay(text string) (Context, bool) {
	var c Context
	known := false
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Root":
			version, id, _ := strings.Cut(value, "-")
			epoch, rest, _ := strings.Cut(id, "-")
			known = version == "1" && len(epoch) == 8 && decode(c.TraceID[:], epoch+rest) && c.TraceID != [16]byte{}
		case "Parent":
			if !decode(c.SpanID[:], value) {
				c.SpanID = [8]byte{}
			}
		case "Sampled":
			c.Sampled = value == "1"
		}
	}
	if !known {
		return Context{}, false
	}
	return c, true
}

// decode reads lower-case hexadecimal digits that fill to.
func decode(to []byte, digits string) bool {
	if len(digits) != 2*len(to) || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.Decode(to, []byte(digits))
	return err == nil
}
