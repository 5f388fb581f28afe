package cloudwatch_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

func TestMetricMath(t *testing.T) {
	bubble(t, func(c *client) {
		c.values("v", 1, 2, gap, 4, 8)
		c.values("n", gap, 10, 20, gap, 40)
		for text, want := range map[string]string{
			"v":                   "0:1 1:2 3:4 4:8",
			"v + n":               "1:12 4:48",
			"v - 1":               "0:0 1:1 3:3 4:7",
			"1 - v":               "0:0 1:-1 3:-3 4:-7",
			"-v":                  "0:-1 1:-2 3:-4 4:-8",
			"2 * v + 1":           "0:3 1:5 3:9 4:17",
			"2 * (v + 1)":         "0:4 1:6 3:10 4:18",
			"v + n * 2":           "1:22 4:88",
			"v - 1 - 1":           "0:-1 1:0 3:2 4:6",
			"16 / v / 2":          "0:8 1:4 3:2 4:1",
			"v ^ 2":               "0:1 1:4 3:16 4:64",
			"n / v * 1e2":         "1:500 4:500",
			"v / (v - 1)":         "1:2 3:1.3333333333333333 4:1.1428571428571428", // not divided by 0
			"FILL(n, 0)":          "0:0 1:10 2:20 3:0 4:40 5:0 6:0 7:0 8:0 9:0",
			"v + FILL(n,0)":       "0:1 1:12 3:4 4:48",
			"DIFF(v)":             "1:1 3:2 4:4",
			"DIFF(v + FILL(n,0))": "1:11 3:-8 4:44",
			"FILL(v, 1+2) - v":    "0:0 1:0 3:0 4:0",
			"v+FILL(none,.5)":     "0:1.5 1:2.5 3:4.5 4:8.5",
			"FILL(n, REPEAT)":     "1:10 2:20 3:20 4:40 5:40 6:40 7:40 8:40 9:40",
			"FILL(v, LINEAR)":     "0:1 1:2 2:3 3:4 4:8",
			"RATE(60 * v)":        "1:1 3:1 4:4",
			"v > 1":               "0:0 1:1 3:1 4:1",
			"v && v":              "0:1 1:1 3:1 4:1",
			"IF(v > 1, n, 5)":     "0:5 1:10 3:0 4:40",
			"SUM([v, n])":         "0:1 1:12 2:20 3:4 4:48",
			"none":                "",
			"DIFF(none)":          "",
		} {
			got, err := c.get(stat("v", "v", "Sum"), stat("n", "n", "Maximum"), stat("none", "none", "Sum"), expression(text))
			if err != nil || got != want {
				c.Errorf("%s: got %q (%v), want %q", text, got, err, want)
			}
		}
	})
}

func TestExpressionsThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		for text, want := range map[string]string{
			"v +":                            "ends too early",
			"":                               "either MetricStat or Expression",
			"()":                             ") is not expected",
			"(v":                             "ends too early",
			"v v":                            "v is not expected",
			"v)":                             ") is not expected",
			"* v":                            "* is not expected",
			"V":                              "V is not expected",
			"FILL(v)":                        "FILL has 1 arguments",
			"FILL(v, 0, 1)":                  "FILL has 3 arguments",
			"DIFF(v, 1)":                     "DIFF has 2 arguments",
			"DIFF()":                         "DIFF has 0 arguments",
			"x + 1":                          "x, which is the Id of no query",
			"e + 1":                          "depends on itself",
			"1 + 2":                          "gives a number",
			"DIFF(3)":                        "DIFF: it needs a series",
			"FILL(3, 0)":                     "FILL: its first argument needs a series",
			"v + hourly":                     "periods 60 and 3600",
			strings.Repeat("v+", 1025) + "v": "longer than 2048",
			strings.Repeat("(", 100) + "v" + strings.Repeat(")", 100): "nested more than 64 deep",
		} {
			c.wantRefused(text, "InvalidParameterValue", want)
		}
		for text, name := range map[string]string{
			"METRICS()": "METRICS", "LOG(v)": "LOG", "FILL(v, v)": "filling with a series",
			"AVG(v)": "a single series", "[v, v]": "a list of series as a result",
		} {
			c.wantRefused(text, "UnsupportedOperation", name)
		}
	})
}

func (c *client) wantRefused(text, code, want string) {
	c.Helper()
	hourly := stat("hourly", "v", "Sum")
	hourly.MetricStat.Period = aws.Int32(3600)
	got, err := c.get(stat("v", "v", "Sum"), hourly, expression(text))
	if err == nil {
		c.Errorf("%s: got %q", text, got)
		return
	}
	c.wantCode(err, code, want)
}

// Expressions can be made of others, in any order.
func TestExpressionsOfExpressions(t *testing.T) {
	bubble(t, func(c *client) {
		c.values("v", 1, 2)
		a := types.MetricDataQuery{Id: aws.String("a"), Expression: aws.String("b * 10")}
		b := types.MetricDataQuery{Id: aws.String("b"), Expression: aws.String("v + 1"), ReturnData: aws.Bool(false)}
		got, err := c.get(a, b, stat("v", "v", "Sum"))
		if want := "0:20 1:30"; err != nil || got != want {
			c.Errorf("got %q (%v), want %q", got, err, want)
		}
		b.Expression = aws.String("a + 1")
		_, err = c.get(a, b)
		c.wantCode(err, "InvalidParameterValue", "depends on itself")
	})
}
