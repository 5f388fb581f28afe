package fault

import (
	"context"
	"slices"
	"time"
)

// RuleUnknown is the rule of a [Decision] when no rule of the table matched.
const RuleUnknown = "unknown"

// Decision is the classification of an error. The zero value is that of a nil
// error.
type Decision struct {
	Class Class
	// Reason is a stable word in snake case, such as "rate_limited".
	Reason string
	// Rule is the id of the rule that decided, such as "http.429".
	Rule string
	// RetryAfter is the delay that the error asks for with a method
	// RetryAfter() time.Duration; 0 if it asks for none or is permanent. If
	// several errors ask, the outermost of a chain counts, and the longest of
	// the branches of a join.
	RetryAfter time.Duration
}

// Rule is one row of a [Table].
type Rule struct {
	// ID is stable and unique in its table.
	ID string
	// Reason and Class are the decision for every error that Match accepts.
	Reason string
	Class  Class
	// Match reports whether the rule applies to the error, which is never nil.
	// The context is that of the job. Match is required, must not block, and is
	// called by several goroutines at once.
	Match func(ctx context.Context, err error) bool
	// Refine, if set, changes the decision by details of the error, such as its
	// own reason.
	Refine func(err error, d *Decision)
}

// Table is a list of rules, the most specific first.
type Table []Rule

// Classify returns the decision of the first rule that matches. If none does,
// the class is [ClassUnclassified], the reason [ReasonUnclassified] and the
// rule [RuleUnknown]. A nil error returns the zero Decision.
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

// withDelay adds the delay that err asks for, unless the rule set one.
func (d Decision) withDelay(err error) Decision {
	switch {
	case d.Class == ClassPermanent:
		d.RetryAfter = 0
	case d.RetryAfter <= 0:
		d.RetryAfter = requestedDelay(err)
	}
	return d
}

// standard lists the rules by how specific they are: the tag on the error
// first, then the job's context, the payload, the database, the response of a
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

// Rules returns a new copy of the standard table. [Table.With] puts your own
// rules in front of it, [Table.Override] changes one of its decisions.
func Rules() Table { return slices.Clone(standard) }

// Classify classifies err with the standard table.
func Classify(ctx context.Context, err error) Decision { return standard.Classify(ctx, err) }
