package fault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// With returns a new table that tries the given rules first, in their order,
// and then t. They come before tags too; a Match can call [Tagged] to leave
// tagged errors alone.
//
// It panics if a rule has no Match, or if its ID is empty or not unique in the
// new table: a table is made at the start of a program, and such a rule is a
// programming error.
func (t Table) With(rules ...Rule) Table {
	seen := map[string]bool{RuleUnknown: true}
	for _, rule := range t {
		seen[rule.ID] = true
	}
	for _, rule := range rules {
		switch {
		case rule.ID == "":
			panic("fault: a rule without ID; give it one, such as \"shop.closed\"")
		case seen[rule.ID]:
			panic(fmt.Sprintf("fault: rule ID %q is taken; choose another, or use Override to change that rule", rule.ID))
		case rule.Match == nil:
			panic(fmt.Sprintf("fault: rule %q has no Match, so it can know no error; set it", rule.ID))
		}
		seen[rule.ID] = true
	}
	return slices.Concat(rules, t)
}

// Override returns a new table in which the rule with this id decides for
// class. The rule keeps its place and matches the same errors. It keeps its
// reason unless [WithReason] sets another, which can be used to choose a backoff
// profile.
//
// It panics if t has no rule with the id: otherwise a misspelt override would
// not be noticed until the error occurs. docs/errors.md lists the ids.
func (t Table) Override(id string, class Class, opts ...Option) Table {
	i := slices.IndexFunc(t, func(rule Rule) bool { return rule.ID == id })
	if i < 0 {
		panic(fmt.Sprintf("fault: no rule %q to override; %s", id, t.suggest(id)))
	}
	t = slices.Clone(t)
	given := settings(class, opts)
	refine := t[i].Refine
	t[i].Class = class
	t[i].Refine = func(err error, d *Decision) {
		if refine != nil {
			refine(err, d)
		}
		d.Class, d.Reason = class, cmp.Or(given.reason, d.Reason)
	}
	return t
}

// SQLState returns a rule that decides for class on errors with a SQLSTATE: a
// whole code of five characters, such as "23503", or a class of two, such as
// "53". Put it in front of the standard rules with [Table.With]. It does not
// match tagged errors: their tags decide. Its ID is "sqlstate." followed by the
// code. Its reason is the one set by [WithReason], otherwise that of the standard
// rule that matches the code, otherwise [ReasonTagged].
//
// It panics if code has neither form.
func SQLState(code string, class Class, opts ...Option) Rule {
	if len(code) != 2 && len(code) != 5 || strings.Trim(code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		panic(fmt.Sprintf("fault: %q is no SQLSTATE; give five digits or capitals, or two for a class", code))
	}
	return Rule{
		ID: "sqlstate." + code, Class: class,
		Reason: cmp.Or(settings(class, opts).reason, standardReason(code), ReasonTagged),
		Match: func(_ context.Context, err error) bool {
			return !Tagged(err) && has(err, func(e error) bool { return inState(sqlCodeOf(e).state, code) })
		},
	}
}

// settings returns a tag with the values that the options set, and no error.
func settings(class Class, opts []Option) *tag {
	t := &tag{class: class}
	for _, opt := range opts {
		opt(t)
	}
	return t
}

// standardReason returns the reason that the standard table gives a SQLSTATE.
func standardReason(code string) string {
	d := Classify(context.Background(), bareState{state: (code + "000")[:5]})
	if d.Rule == RuleUnknown {
		return ""
	}
	return d.Reason
}

// bareState is an error with a SQLSTATE. Its text is never used.
type bareState struct {
	error
	state string
}

func (e bareState) SQLState() string { return e.state }
