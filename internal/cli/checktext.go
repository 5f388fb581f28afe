package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/sqsafe/sqsafe/internal/check"
)

// findingsPrinter prints findings for people, in colour on a terminal.
type findingsPrinter struct {
	out    io.Writer
	levels map[check.Level]lipgloss.Style
	green  lipgloss.Style
	dim    lipgloss.Style
}

func newFindingsPrinter(out io.Writer) *findingsPrinter {
	r := lipgloss.NewRenderer(out)
	return &findingsPrinter{
		out: out,
		levels: map[check.Level]lipgloss.Style{
			check.LevelError:   r.NewStyle().Foreground(lipgloss.Color("1")),
			check.LevelWarning: r.NewStyle().Foreground(lipgloss.Color("3")),
		},
		green: r.NewStyle().Foreground(lipgloss.Color("2")),
		dim:   r.NewStyle().Faint(true),
	}
}

func (p *findingsPrinter) template(one checked) {
	for _, f := range one.fixed {
		fmt.Fprintf(p.out, "%s %s %s: %s\n", place(f), p.green.Render("fixed"), ruleAt(f), f.Message)
	}
	ignored, fixable := 0, 0
	for _, f := range one.report.Findings {
		if f.Ignored != "" {
			ignored++
			continue
		}
		if f.Fixable {
			fixable++
		}
		p.finding(f)
	}
	fmt.Fprintln(p.out, one.summary(ignored, fixable))
}

func (p *findingsPrinter) finding(f check.Finding) {
	fmt.Fprintf(p.out, "%s %s %s: %s\n", place(f), p.levels[f.Level].Render(string(f.Level)), ruleAt(f), f.Message)
	fmt.Fprintf(p.out, "    %s %s\n", p.dim.Render("in production:"), f.Why)
	lines := strings.Split(f.Write, "\n")
	if len(lines) == 1 {
		fmt.Fprintf(p.out, "    %s %s\n", p.dim.Render("write:"), lines[0])
	} else {
		fmt.Fprintf(p.out, "    %s\n        %s\n", p.dim.Render("write:"), strings.Join(lines, "\n        "))
	}
	fmt.Fprintf(p.out, "    %s %s\n", p.dim.Render("source:"), f.Source)
}

func place(f check.Finding) string { return fmt.Sprintf("%s:%d:", f.File, f.Line) }

// ruleAt is a finding's rule, and its resource if it is about one.
func ruleAt(f check.Finding) string { return strings.TrimSpace(f.Rule + " " + f.Resource) }

func (one *checked) summary(ignored, fixable int) string {
	r := one.report
	text := fmt.Sprintf("%s: %s, %s", one.file,
		counted(r.Count(check.LevelError), "error"), counted(r.Count(check.LevelWarning), "warning"))
	if ignored > 0 {
		text += fmt.Sprintf(", %d ignored", ignored)
	}
	switch r.Consumers {
	case 0:
		return text + "; it has no SQS event, so there is little to check"
	case 1:
		text += "; 1 SQS event"
	default:
		text += fmt.Sprintf("; %d SQS events", r.Consumers)
	}
	if fixable > 0 {
		text += fmt.Sprintf("; --fix can write %d of these", fixable)
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// findingEvent is a finding as one line of JSON.
type findingEvent struct {
	Event string `json:"event"` // finding or fixed
	check.Finding
}

// checkSummary is the last line for a template.
type checkSummary struct {
	Event    string `json:"event"` // summary
	File     string `json:"file"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Ignored  int    `json:"ignored"`
	Fixed    int    `json:"fixed"`
	Events   int    `json:"sqsEvents"`
}

func printFindings(all []checked, out io.Writer) {
	encoder := newEncoder(out)
	for _, one := range all {
		s := checkSummary{
			Event: "summary", File: one.file, Fixed: len(one.fixed), Events: one.report.Consumers,
			Errors: one.report.Count(check.LevelError), Warnings: one.report.Count(check.LevelWarning),
		}
		for _, f := range one.fixed {
			_ = encoder.Encode(findingEvent{"fixed", f})
		}
		for _, f := range one.report.Findings {
			if f.Ignored != "" {
				s.Ignored++
			}
			_ = encoder.Encode(findingEvent{"finding", f})
		}
		_ = encoder.Encode(s)
	}
}
