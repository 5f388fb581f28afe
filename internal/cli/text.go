package cli

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/sqsafe/sqsafe/internal/local"
)

// textPrinter prints a line for each event of a job, in colour on a terminal.
type textPrinter struct {
	out    *bufio.Writer
	screen io.Writer // where out writes, which may be a terminal
	styles map[string]lipgloss.Style
	dim    lipgloss.Style
	bold   lipgloss.Style
	// faint is around lines in dim; to render each would take most of the time of a
	// function's output.
	faint [2]string
	// plainStyle wraps.
	plainStyle lipgloss.Style
}

func newTextPrinter(out io.Writer) *textPrinter {
	r := lipgloss.NewRenderer(out)
	colour := func(code string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(code)) }
	green, yellow, red, blue := colour("2"), colour("3"), colour("1"), colour("4")
	return &textPrinter{
		out: bufio.NewWriterSize(out, printBuffer), screen: out,
		styles: map[string]lipgloss.Style{
			"done": green, "duplicate": blue, "busy": blue, "retry": yellow, "deferred": yellow,
			"unrecorded": yellow, "dead": red, "dead-lettered": red, "crash": red, "failed": red,
			"named": yellow, "ignored": red, "sent": colour("6"),
		},
		dim:  r.NewStyle().Faint(true),
		bold: r.NewStyle().Bold(true),

		faint:      around(r.NewStyle().Faint(true)),
		plainStyle: r.NewStyle(),
	}
}

func (p *textPrinter) event(e local.Event) {
	switch e.Kind {
	case local.KindNote:
		p.plain("note: " + e.Line)
	case local.KindBuilding:
		p.plain("building " + e.Function)
	case local.KindStarted:
		p.plain(fmt.Sprintf("%s runs as process %d", e.Function, e.PID))
	case local.KindReady:
		p.ready(e)
	case local.KindOutput:
		p.plain(e.Function + " | " + e.Line)
	case local.KindSent:
		p.job(e, "sent", "to "+e.Queue+after(", visible", e.DelaySeconds))
	case local.KindInvoked:
		p.job(e, "received", fmt.Sprintf("receive %d, by %s", e.ReceiveCount, e.Function))
	case local.KindOutcome:
		p.job(e, e.Outcome, outcomeText(e))
		p.stack(e.Stack)
	case local.KindNamed:
		p.job(e, "named", "as failed, by the answer of "+e.Function+"; it stays in "+e.Queue)
	case local.KindIgnored:
		p.job(e, "ignored", "named as failed by the answer of "+e.Function+", and deleted: "+e.Error)
	case local.KindVisibility:
		p.job(e, "waiting", "visible again"+after("", e.DelaySeconds))
	case local.KindDead:
		p.job(e, "dead-lettered", fmt.Sprintf("in %s (%s)", e.DeadLetterQueue, e.Reason))
	case local.KindFiltered:
		p.job(e, "filtered", "not for "+e.Function+": "+e.Reason)
	case local.KindDeleted:
		p.job(e, "deleted", "from "+e.Queue)
	case local.KindCrash, local.KindFailed:
		p.invocation(e)
	}
}

func (p *textPrinter) plain(line string) {
	for _, part := range []string{p.faint[0], clean(line), p.faint[1], "\n"} {
		_, _ = p.out.WriteString(part) // the command's output keeps the error
	}
}

func (p *textPrinter) flush() { _ = p.out.Flush() }

// around returns what a style puts before and behind a text on one line.
func around(style lipgloss.Style) [2]string {
	before, behind, _ := strings.Cut(style.Render("x"), "x")
	return [2]string{before, behind}
}

func (p *textPrinter) ready(e local.Event) {
	if e.Address == "" {
		p.plain("ready, on the queues and tables of other engines")
	} else {
		p.plain("ready, with SQS and DynamoDB at http://" + e.Address)
	}
	if len(e.Functions) == 0 {
		p.emulators(e)
	}
}

const wordWidth = len("dead-lettered")

// job prints one line: the time, the message, the event, and the details.
func (p *textPrinter) job(e local.Event, word, text string) {
	p.labelled(e, short(e.MessageID), word, text)
}

// labelled pads the word, so that the details are aligned.
func (p *textPrinter) labelled(e local.Event, who, word, text string) {
	label := p.dim
	if style, ok := p.styles[word]; ok {
		label = style
	}
	head := fmt.Sprintf("%s  %s  %s ", p.dim.Render(e.Time.Local().Format("15:04:05.000")), who,
		label.Render(fmt.Sprintf("%-*s", wordWidth, word)))
	text = oneLine(text) // also if it has several lines
	fmt.Fprintln(p.out, head+p.wrap(text, lipgloss.Width(head), columns(p.screen)))
}

// leastWidth is the least width in which wrapped text is put beside what is before it.
const leastWidth = 30

// wrap breaks a text between words such that it fits into lines of the given width behind
// an indent; a width of 0 means lines of any length. In a narrow terminal it begins on a
// line of its own.
func (p *textPrinter) wrap(text string, indent, width int) string {
	if width == 0 || indent+lipgloss.Width(text) <= width {
		return text
	}
	begin := ""
	if width-indent < leastWidth {
		indent = min(4, width/2)
		begin = "\n" + strings.Repeat(" ", indent)
	}
	lines := strings.Split(p.plainStyle.Width(max(width-indent, 1)).Render(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return begin + strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

func (p *textPrinter) invocation(e local.Event) {
	p.labelled(e, e.Function, string(e.Kind), invocationText(e))
}

// invocationText says how an invocation ended that failed.
func invocationText(e local.Event) string {
	text := e.Error
	if e.Reason != "" && e.Kind == local.KindFailed { // the text of a crash already contains the reason
		text = e.Reason + ": " + text
	}
	if len(e.MessageIDs) > 0 {
		text = staying(e) + ": " + text
	}
	return text
}

// staying says how many messages of the invocation are still in their queue.
// Other servers do not report that: then it says how many there were.
func staying(e local.Event) string {
	n := len(e.MessageIDs)
	messages := strconv.Itoa(n) + " messages"
	if n == 1 {
		messages = "1 message"
	}
	if e.Left == nil {
		return "with " + messages + " of " + e.Queue
	}
	if *e.Left != n {
		messages = fmt.Sprintf("%d of %s", *e.Left, messages)
	}
	if *e.Left == 1 {
		return messages + " stays in " + e.Queue
	}
	return messages + " stay in " + e.Queue
}

// stackLines is the maximum number of stack lines that are printed; --json
// prints all.
const stackLines = 20

// stack prints the stack of a panic below the outcome of the run.
func (p *textPrinter) stack(text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i == stackLines {
			p.plain(fmt.Sprintf("    … and %d more lines", len(lines)-i))
			return
		}
		indent := "    "
		if strings.HasPrefix(line, "\t") {
			indent += "  "
		}
		p.plain(cut(indent+oneLine(line), columns(p.screen)))
	}
}

// short returns the start of a message id, which is enough to distinguish
// messages.
func short(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return first
}

func outcomeText(e local.Event) string {
	var parts []string
	if e.Attempt > 0 {
		parts = append(parts, "attempt "+strconv.Itoa(e.Attempt))
	}
	if e.Class != "" || e.Reason != "" {
		parts = append(parts, decision(e.Class, e.Reason))
	}
	if e.DelaySeconds != nil {
		parts = append(parts, "next attempt"+after("", e.DelaySeconds))
	}
	if e.Key != "" {
		parts = append(parts, "key "+e.Key)
	}
	if e.Error != "" {
		parts = append(parts, e.Error)
	}
	return strings.Join(parts, ", ")
}

func decision(class, reason string) string {
	if class == reason {
		return class
	}
	return strings.TrimSpace(class + " " + reason)
}

func after(what string, delay *float64) string {
	if delay == nil {
		return ""
	}
	return what + " in " + strconv.FormatFloat(math.Round(*delay*10)/10, 'f', -1, 64) + " s"
}
