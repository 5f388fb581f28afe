package traceid_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/traceid"
)

const (
	w3c  = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"
	xray = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
)

func TestBothFormsNameTheSameSpan(t *testing.T) {
	t.Parallel()
	a, aOK := traceid.ParseW3C(w3c)
	b, bOK := traceid.ParseXRay(xray)
	if !aOK || !bOK || a != b || a.W3C() != w3c || a.XRay() != xray || a.Trace() != "5759e988bd862e3fe1be46a994272793" {
		t.Errorf("%v %v, %v %v", a, aOK, b, bOK)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "00", "00-0-0-0", "ff" + w3c[2:], w3c + "-x", "00-00000000000000000000000000000000-53995c3f42cd8ad8-01",
		"00-5759e988bd862e3fe1be46a994272793-0000000000000000-01", "00-5759E988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01",
		"0g-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01",
	} {
		if c, ok := traceid.ParseW3C(text); ok {
			t.Errorf("traceparent %q is read as %v", text, c)
		}
	}
	if c, ok := traceid.ParseW3C("cc" + w3c[2:] + "-more"); !ok || !c.Sampled {
		t.Error("a later version is not read")
	}
	for _, text := range []string{"", "Root=", "Root=1-5759e988", "Root=2" + xray[6:], "Self=1-2-3", "Root=1-575-x"} {
		if c, ok := traceid.ParseXRay(text); ok {
			t.Errorf("trace header %q is read as %v", text, c)
		}
	}
	c, ok := traceid.ParseXRay("Lineage=25:abc:0; Sampled=? ;Root=1-5759e988-bd862e3fe1be46a994272793;Parent=x")
	if !ok || c.SpanID != [8]byte{} || c.Sampled {
		t.Errorf("a header without a parent is %v, %v", c, ok)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(w3c)
	f.Add(xray)
	f.Add("Root=1-;Parent=;Sampled")
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := traceid.ParseW3C(text); ok {
			if again, ok := traceid.ParseW3C(c.W3C()); !ok || again != c {
				t.Errorf("%q is %v, and then %v", text, c, again)
			}
		}
		if c, ok := traceid.ParseXRay(text); ok {
			if again, ok := traceid.ParseXRay(c.XRay()); !ok || again != c {
				t.Errorf("%q is %v, and then %v", text, c, again)
			}
		}
	})
}
