package backoff_test

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of a plot in pixels.
const (
	plotWidth   = 720
	plotLeft    = 56
	plotRight   = 704
	panelHeight = 92
	panelTop    = 28 // the title above the bars
	barsHeight  = panelHeight - panelTop
)

// plot compares herds in panels, one above the other. All panels have the same
// scales.
type plot struct {
	title   string
	axis    string
	x, y    scale
	panels  []panel
	barWide int
}

type panel struct {
	title, note string
	herd        herd
}

// scale maps values to pixels and labels some of them.
type scale struct {
	at    func(value float64) float64
	ticks []float64
}

func linear(pixels, most float64, ticks ...float64) scale {
	return scale{func(v float64) float64 { return pixels * v / most }, ticks}
}

// logarithmic starts at least, with some space before it.
func logarithmic(pixels, least, most float64, ticks ...float64) scale {
	const room = 3
	return scale{func(v float64) float64 {
		return room + (pixels-room)*math.Log(v/least)/math.Log(most/least)
	}, ticks}
}

// svg draws the plot: the first panel at the top, and the axis of seconds below
// the last.
func (p plot) svg() string {
	var b strings.Builder
	height := 40 + len(p.panels)*panelHeight + 48
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.head { font-size: 14px; font-weight: 600 }
.tick, .note { fill: #59636e }
.note { text-anchor: end }
.tick.x { text-anchor: middle }
.tick.y { text-anchor: end; font-size: 10px }
.paper { fill: #ffffff }
.grid { stroke: #d1d9e0 }
.bars { stroke: #0969da; stroke-width: %d }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.tick, .note { fill: #9198a1 }
.paper { fill: #0d1117 }
.grid { stroke: #3d444d }
.bars { stroke: #4493f8 }
}
</style>
<rect class="paper" width="%d" height="%d" rx="6"/>
<text class="head" x="16" y="26">%s</text>
`, plotWidth, height, p.title, p.barWide, plotWidth, height, p.title)
	for i, panel := range p.panels {
		fmt.Fprintf(&b, "<g transform=\"translate(0 %d)\">\n", 40+i*panelHeight)
		p.draw(&b, panel)
		b.WriteString("</g>\n")
	}
	bottom := 40 + len(p.panels)*panelHeight
	for _, v := range p.x.ticks {
		fmt.Fprintf(&b, "<text class=\"tick x\" x=\"%.0f\" y=\"%d\">%g</text>\n", plotLeft+p.x.at(v), bottom+16, v)
	}
	fmt.Fprintf(&b, "<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n</svg>\n", plotLeft, bottom+36, p.axis)
	return b.String()
}

func (p plot) draw(b *strings.Builder, of panel) {
	fmt.Fprintf(b, "<text x=\"%d\" y=\"18\">%s</text>\n", plotLeft, of.title)
	fmt.Fprintf(b, "<text class=\"note\" x=\"%d\" y=\"18\">%s</text>\n", plotRight, of.note)
	for _, v := range p.y.ticks {
		y := panelHeight - p.y.at(v)
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", plotLeft, y, plotRight)
		fmt.Fprintf(b, "<text class=\"tick y\" x=\"%d\" y=\"%.0f\">%s</text>\n", plotLeft-6, y+4, thousands(int(v)))
	}
	fmt.Fprintf(b, "<path class=\"bars\" d=\"%s\"/>\n", p.bars(of.herd))
}

// bars returns a path with one stroke for each column of pixels. Its height is
// that of the column's busiest second.
func (p plot) bars(h herd) string {
	const column = 2
	columns := make([]int, (plotRight-plotLeft)/column+1)
	for second, jobs := range h {
		if jobs > 0 {
			i := int(p.x.at(float64(second)) / column)
			columns[i] = max(columns[i], jobs)
		}
	}
	var d strings.Builder
	for i, jobs := range columns {
		if jobs > 0 {
			fmt.Fprintf(&d, "M%d %dv-%.1f", plotLeft+i*column, panelHeight, max(p.y.at(float64(jobs)), 0.5))
		}
	}
	return d.String()
}

func thousands(n int) string {
	if n < 1_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1_000, n%1_000)
}
