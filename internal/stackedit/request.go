package stackedit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// Request is what a template is to have. The zero value asks for nothing.
type Request struct {
	// Alarms is the set of alarms: Basic, or Full with it; empty for none.
	Alarms alarmset.Set
	// Traffic adds the alarm on a queue that nobody sends to.
	Traffic bool
	// Dashboard adds a dashboard of all units, Rollback the alarms that roll back a
	// deployment, and what they need in the functions.
	Dashboard, Rollback bool
	// Functions are the logical ids of functions; none means all with an SQS event.
	Functions []string
	// Workers are the logical ids of queues that a worker polls.
	Workers []string
	// Topic and NoticeTopic are the logical ids of topics, or of parameters with their
	// ARNs. Without Topic the template gets a topic and parameters for others, unless
	// it has them; without NoticeTopic all alarms go to Topic.
	Topic, NoticeTopic string
}

func (r Request) sets() []alarmset.Set {
	var sets []alarmset.Set
	if r.Alarms != "" {
		sets = append(sets, alarmset.Basic)
	}
	if r.Alarms == alarmset.Full {
		sets = append(sets, alarmset.Full)
	}
	if r.Traffic {
		sets = append(sets, alarmset.Traffic)
	}
	if r.Rollback {
		sets = append(sets, alarmset.Rollback)
	}
	return sets
}

// Result is a template with what was asked for.
type Result struct {
	// Text is the edited template.
	Text []byte
	// Printed has the additions alone, by sections, to be put in by hand.
	Printed string
	// Added are the logical ids and names that were added; none if all was there.
	Added []string
	// Notes say what was left alone, and what the alarms need besides.
	Notes []string
	// Refused says why the template cannot be edited; Text is empty then.
	Refused error
}

// Add adds to the text of a template what it does not have yet. What it has under
// the same name is left as it is. The error says what is wrong with the template
// or the request; a template that is right and cannot be edited is no error, see
// [Result.Refused].
func Add(file string, text []byte, r Request) (*Result, error) {
	t, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	a := &addition{template: t, request: r, result: &Result{}, sections: map[string]string{}}
	if err := a.collectUnits(); err != nil {
		return nil, err
	}
	if err := a.chooseTopics(); err != nil {
		return nil, err
	}
	a.addAlarms()
	a.addDashboard()
	a.addParameters()
	if err := a.finish(); err != nil {
		a.result.Refused = err
	}
	a.print()
	return a.result, nil
}

// addition is what is to be added, in the making.
type addition struct {
	*template
	request  Request
	result   *Result
	units    []alarmset.Unit
	topics   alarmset.Topics
	sections map[string]string // texts by section
	parts    []part            // what goes into functions
}

// part is a text for a place within a function.
type part struct {
	where string // for people
	text  string
	at    func() (insertion, error)
}

// order is that of sections in a template.
var order = []string{"Parameters", "Rules", "Conditions", "Resources", "Outputs"}

func (a *addition) has(section, name string) bool { return value(a.root, section, name) != nil }

// put adds a member to a section unless it has one of the name.
func (a *addition) put(section, name, added string) {
	if a.has(section, name) {
		there := text(value(a.root, section, name, "Type"))
		if section == "Resources" && there != "" && !strings.Contains(added, "Type: "+there) {
			note := fmt.Sprintf("%s is not added: the template has an %s of this name; rename that", name, there)
			a.result.Notes = append(a.result.Notes, note)
		}
		return
	}
	a.sections[section] += added
	a.result.Added = append(a.result.Added, name)
}

func (a *addition) collectUnits() error {
	found, notes := a.functions()
	for _, id := range a.request.Functions {
		if !slices.ContainsFunc(found, func(u alarmset.Unit) bool { return u.Function == id }) {
			return fmt.Errorf("%s: no function %s with an SQS event and queues of this template; %s",
				a.file, id, listing(found, notes))
		}
	}
	for _, u := range found {
		if len(a.request.Functions) == 0 || slices.Contains(a.request.Functions, u.Function) {
			a.units = append(a.units, u)
		}
	}
	for _, id := range a.request.Workers {
		u, err := a.worker(id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(a.units, func(o alarmset.Unit) bool { return o.Prefix == u.Prefix }) {
			u.Prefix = id // a function reads the same queue
		}
		a.units = append(a.units, u)
	}
	if len(a.units) == 0 {
		return fmt.Errorf("%s: %s", a.file, listing(found, notes))
	}
	a.result.Notes = notes
	return nil
}

func listing(found []alarmset.Unit, notes []string) string {
	var names []string
	for _, u := range found {
		names = append(names, u.Function)
	}
	switch {
	case len(names) > 0:
		return "it has " + strings.Join(names, ", ")
	case len(notes) > 0:
		return "no function can have alarms: " + strings.Join(notes, "; ")
	}
	return "it has no function with an SQS event; name the queue of a worker with --worker " +
		"(AWS::Lambda::Function with a mapping is not looked at, only AWS::Serverless::Function with an event)"
}
