package bubble

import "strings"

// sight is what the goroutines of a bubble do at one time.
type sight struct {
	// all is the text of all of them. Two that are equal tell that nothing has moved.
	all string
	// outside are those that wait for something outside of the bubble; empty while one
	// of the bubble runs, or waits for the system, which may be a process that runs.
	outside string
	// connection reports whether one of those waits for a connection.
	connection bool
}

// see reads the text of package runtime: "goroutine 7 [IO wait, synctest bubble 3]:",
// the stack, an empty line. A wait that the bubble can end is marked as durable. Where the
// text has another form, nothing waits for something outside.
func see(stacks, bubble string) (s sight) {
	if bubble == "" {
		return s
	}
	var all, outside []string
	for one := range strings.SplitSeq(stacks, "\n\n") {
		header, _, _ := strings.Cut(one, "\n")
		if bubbleOf(header) != bubble {
			continue
		}
		all = append(all, one)
		switch state := stateOf(header); {
		case state == "running", state == "runnable", state == "syscall":
			return sight{}
		case strings.HasSuffix(state, "(durable)"):
		default:
			outside = append(outside, one)
			s.connection = s.connection || state == "IO wait"
		}
	}
	s.all, s.outside = strings.Join(all, "\n\n"), strings.Join(outside, "\n\n")
	return s
}

// stateOf is the first word in the brackets of a header.
func stateOf(header string) string {
	_, text, _ := strings.Cut(header, "[")
	text, _, _ = strings.Cut(text, "]")
	state, _, _ := strings.Cut(text, ",")
	return state
}

// bubbleOf is the number of the bubble in a header; empty outside of bubbles.
func bubbleOf(header string) string {
	_, number, found := strings.Cut(header, ", synctest bubble ")
	if !found {
		return ""
	}
	end := strings.IndexFunc(number, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return ""
	}
	return number[:end]
}
