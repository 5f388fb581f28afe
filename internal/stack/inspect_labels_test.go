package stack

import (
	"regexp"
	"slices"
	"strings"
)

// owners maps the names of queues, functions and mappings to their function.
func (i *inspection) owners() map[string]string {
	all := map[string]string{}
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		for _, name := range []string{f.Name, f.LogicalID + f.Events[0].Name, source.Name, dead.Name} {
			all[name] = f.LogicalID
		}
	}
	return all
}

// Names of queues and functions in expressions, and rows of the table of
// queues.
var (
	named    = regexp.MustCompile(`\[\w+ ([\w.-]+) \w+\]|FunctionName="([\w-]+)"`)
	queueRow = regexp.MustCompile(`\| (\w+) \| (\S+) \| (\S+) \|\n`)
)

// labels checks that a word refers to the same function wherever it begins a
// label, ends a title or is in the table of queues.
func (i *inspection) labels(widgets []widget) {
	owners, means := i.owners(), map[string]string{}
	mean := func(word, owner string) {
		if before := means[word]; before != "" && before != owner {
			i.report("%q on the dashboard is %s, and %s", word, before, owner)
		}
		means[word] = owner
	}
	rows := map[string]bool{}
	for _, w := range widgets {
		for _, l := range w.lines() {
			owner := owners[l.figure[3]]
			for _, found := range named.FindAllStringSubmatch(l.expression, -1) {
				owner = owners[found[1]+found[2]]
			}
			if word, _, _ := strings.Cut(l.label, " "); word != "" {
				mean(word, owner)
			}
			if word, ok := strings.CutPrefix(w.Properties.Title, outcomesOf); ok {
				mean(word, owner)
			}
		}
		for _, row := range queueRow.FindAllStringSubmatch(w.Properties.Markdown, -1) {
			dead, _ := i.byURL(row[2])
			mean(row[1], owners[dead.Name])
			rows[row[2]+" "+row[3]] = true
		}
	}
	for _, f := range i.s.Functions {
		source, _ := i.s.Queue(f.Events[0].Queue)
		dead, _ := i.s.Queue(source.DeadLetterQueue)
		if !rows[dead.URL+" "+source.URL] {
			i.report("the dashboard's table lacks the queues of %s", f.Name)
		}
	}
}

func (i *inspection) byURL(url string) (Queue, bool) {
	index := slices.IndexFunc(i.s.Queues, func(q Queue) bool { return q.URL == url })
	if index < 0 {
		return Queue{}, false
	}
	return i.s.Queues[index], true
}
