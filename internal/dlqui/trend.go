package dlqui

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// trend is how the depth of a queue has changed.
type trend struct {
	Count deadletters.Count
	// Known says that a depth is known, and Problem why the last is not.
	Known   bool
	Problem string
	// Words say the change, and Points are a line in a box of 120 by 32.
	Words, Points string
}

func newTrend(samples []sample, explain func(error) string) trend {
	var t trend
	var good []sample
	for _, s := range samples {
		if s.err == nil {
			good = append(good, s)
		}
	}
	if n := len(samples); n > 0 && samples[n-1].err != nil {
		t.Problem = explain(samples[n-1].err)
	}
	if len(good) == 0 {
		return t
	}
	first, last := good[0], good[len(good)-1]
	t.Known, t.Count = true, last.count
	t.Words = trendWords(last.count.Total()-first.count.Total(), last.at.Sub(first.at))
	t.Points = trendPoints(good)
	return t
}

func trendWords(change int, d time.Duration) string {
	switch {
	case d < sampleEvery/2:
		return "no trend yet"
	case change > 0:
		return fmt.Sprintf("%d more in %s", change, span(d))
	case change < 0:
		return fmt.Sprintf("%d fewer in %s", -change, span(d))
	}
	return "unchanged for " + span(d)
}

func trendPoints(samples []sample) string {
	const width, height, margin = 120.0, 32.0, 2.0
	if len(samples) < 2 {
		return ""
	}
	most := 1
	for _, s := range samples {
		most = max(most, s.count.Total())
	}
	start := samples[0].at
	all := samples[len(samples)-1].at.Sub(start).Seconds()
	if all <= 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range samples {
		x := margin + s.at.Sub(start).Seconds()/all*(width-2*margin)
		y := height - margin - float64(s.count.Total())/float64(most)*(height-2*margin)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
	}
	return strings.TrimSpace(b.String())
}

// templateFuncs are the functions of the templates.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"show": printable, "line": line, "brief": brief, "count": deadletters.Number,
		"values": func(name, value string) url.Values { return url.Values{name: {value}} },
		"add":    func(a, b int) int { return a + b },
		"less":   func(a, b int) int { return a - b },
		"path":   path,
		"moment": newMoment, "span": span,
		"clock": func(at time.Time, layout string) string { return at.Local().Format(layout) },
		"state": func(r *run) *status { s := r.status(); return &s },
	}
}

// moment is a time as pages show it.
type moment struct {
	Known      bool
	RFC, Words string
}

func newMoment(at, now time.Time) moment {
	if at.IsZero() {
		return moment{}
	}
	return moment{true, at.UTC().Format(time.RFC3339), relative(at, now)}
}
