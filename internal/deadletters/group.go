package deadletters

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Group is letters of the same failure.
type Group struct {
	Fingerprint string `json:"fingerprint"`
	Kind        Kind   `json:"kind"`
	// Count is the number of letters, and Events that of the events in them, where one
	// letter reports several.
	Count  int `json:"count"`
	Events int `json:"events,omitempty"`
	// Class, Reason, Rule, Error and Codes are those of the newest letter.
	Class  string   `json:"class,omitempty"`
	Reason string   `json:"reason"`
	Rule   string   `json:"rule,omitempty"`
	Error  string   `json:"error,omitempty"`
	Codes  []string `json:"codes,omitempty"`
	// Example is the id of the newest letter.
	Example string `json:"example"`
	// Versions are the versions of the function in which the jobs died.
	Versions []string `json:"functionVersions,omitempty"`
	// First and Last are when the first and the last of the jobs died.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Expires is when SQS deletes the first of the letters.
	Expires time.Time `json:"expires,omitzero"`
	// Again is the number of letters whose jobs were replayed and failed again, and Most
	// how often at most.
	Again int `json:"failedAgain,omitempty"`
	Most  int `json:"mostReplays,omitempty"`
	// Done is the number of letters whose jobs are done meanwhile, by the ledger. Asked is
	// how many letters the ledger knows.
	Done  int `json:"done"`
	Asked int `json:"known"`
}

// Groups groups letters by fingerprint: the largest group first, equal ones by their last
// death.
func Groups(letters []*Letter) []Group {
	byPrint := map[string]*Group{}
	for _, l := range letters {
		g := byPrint[l.Record.Fingerprint]
		if g == nil {
			g = &Group{Fingerprint: l.Record.Fingerprint, Kind: l.Kind}
			byPrint[g.Fingerprint] = g
		}
		g.add(l)
	}
	groups := make([]Group, 0, len(byPrint))
	for _, g := range byPrint {
		slices.Sort(g.Versions)
		if g.Events == g.Count {
			g.Events = 0
		}
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last),
			strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	return groups
}

func (g *Group) add(l *Letter) {
	r, died := &l.Record, l.Died()
	if g.Count == 0 || died.After(g.Last) {
		g.Class, g.Reason, g.Rule, g.Error, g.Codes = r.Class, r.Reason, r.Rule, r.Message, r.Codes.All()
		g.Example, g.Last = l.ID, died
	}
	if g.Count == 0 || died.Before(g.First) {
		g.First = died
	}
	if !l.Expires.IsZero() && (g.Expires.IsZero() || l.Expires.Before(g.Expires)) {
		g.Expires = l.Expires
	}
	g.Count++
	g.Events += l.Events
	if v := r.FunctionVersion; v != "" && !slices.Contains(g.Versions, v) {
		g.Versions = append(g.Versions, v)
	}
	if l.Replayed() > 0 {
		g.Again++
		g.Most = max(g.Most, l.Replayed())
	}
	switch l.Ledger {
	case LedgerDone:
		g.Done++
		g.Asked++
	case LedgerDead, LedgerActive, LedgerForgotten:
		g.Asked++
	case LedgerUnasked, LedgerUnreachable, LedgerUnnamed:
	}
}
