package fault

import (
	"context"
	"slices"
	"time"
)

// RuleUnknown is the rule of a [Decision] that no row of the table made.
const RuleUnknown = "unknown"

// Decision is what an error means. The zero value belongs to a nil error.
type Decision struct {
	Class Class
	// Reason is a stable word in snake case, such as "rate_limited".
	Reason string
	// Rule is the id of the rule that decided, such as "http.429".
	Rule string
	// RetryAfter is the delay that the error asks for by a method
	// RetryAfter() time.Duration; 0 if it asks for none or is permanent. Along a
	// chain the outermost counts, between the branches of a join the longest.
	RetryAfter time.Duration
}

// Rule is one row of a [Table].
type Rule struct {
	// ID is stable and unique in its table.
	ID string
	// Reason and Class are the decision on every error that Match knows.
	Reason string
	Class  Class
	// Match tells whether the rule knows the error, which is never nil. The
	// context is the record's own. Match is required, must not block, and is
	// called by several goroutines at once.
	Match func(ctx context.Context, err error) bool
	// Refine, if set, adds to the decision what only the error itself knows.
	Refine func(err error, d *Decision)
}

// Table is a list of rules, the most telling first.
type Table []Rule

// Classify gives the decision of the first rule that matches. Without one the
// class is [ClassUnclassified], the reason [ReasonUnclassified] and the rule
// [RuleUnknown]. A nil error gives the zero Decision.
func (t Table) Classify(ctx context.Context, err error) Decision {
	if err == nil {
		return Decision{}
	}
	for _, rule := range t {
		if !rule.Match(ctx, err) {
			continue
		}
		d := Decision{Class: rule.Class, Reason: rule.Reason, Rule: rule.ID}
		if rule.Refine != nil {
			rule.Refine(err, &d)
		}
		return d.withDelay(err)
	}
	return Decision{Class: ClassUnclassified, Reason: ReasonUnclassified, Rule: RuleUnknown}.withDelay(err)
}

// withDelay adds the delay that err asks for, unless the rule named one.
func (d Decision) withDelay(err error) Decision {
	switch {
	case d.Class == ClassPermanent:
		d.RetryAfter = 0
	case d.RetryAfter <= 0:
		d.RetryAfter = requestedDelay(err)
	}
	return d
}

// standard is in the order of how telling a rule is: what the maker of the error
// says, what the job's context says, the payload, the database, the answer of a
// service by its code and its status, and last the network below them all.
var standard = slices.Concat(
	tagRules, contextRules,
	payloadRules, programmerRules, validationRules,
	sqlDataRules, sqlServerRules,
	awsRateRules, httpRateRules,
	awsServerRules, awsEnvironmentRules, httpServerRules,
	httpRightsRules, sqlRightsRules,
	fileRules, awsMissingRules, httpMissingRules,
	awsRefusedRules, httpRefusedRules,
	networkRules,
)

// Rules gives a fresh copy of the standard table. [Table.With] puts rules of
// one's own in front of it, [Table.Override] changes one of its decisions.
func Rules() Table { return slices.Clone(standard) }

// Classify asks the standard table.
func Classify(ctx context.Context, err error) Decision { return standard.Classify(ctx, err) }
