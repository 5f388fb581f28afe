package cli

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQFilter selects letters.
type DLQFilter struct {
	Failure         []string   `placeholder:"REASON" help:"Only with this reason, such as rejected; as for all lists, any of several."`   //nolint:lll // a struct tag is one line
	Kind            []string   `placeholder:"KIND" help:"Only letters of this kind: recorded, moved, lambda, eventbridge, sns, unknown."` //nolint:lll // a struct tag is one line
	Class           []string   `placeholder:"CLASS" help:"Only with this class: permanent, retryable, unclassified."`
	Rule            []string   `placeholder:"RULE" help:"Only by this rule."`
	Code            []string   `placeholder:"CODE" help:"Only with this HTTP status, AWS code or SQLSTATE."`
	Fingerprint     []string   `placeholder:"PREFIX" help:"Only of the group with this fingerprint."`
	ErrorType       []string   `placeholder:"TYPE" help:"Only with an error of this type in the chain."`
	FunctionVersion []string   `placeholder:"VERSION" help:"Only those that died in this version of the function."`
	MessageGroup    []string   `placeholder:"ID" help:"Only of this message group."`
	Source          []string   `placeholder:"QUEUE" help:"Only from the source queue with this name."`
	Since           timeOption `placeholder:"TIME" help:"Only those that died at this time or later: a time, or how long ago, such as 2h or 3d."` //nolint:lll // a struct tag is one line
	Until           timeOption `placeholder:"TIME" help:"Only those that died before this time."`
	Text            string     `placeholder:"TEXT" help:"Only with this text in body, error, key or id, in any case."`
	Where           []string   `sep:"none" placeholder:"MEMBER=VALUE" help:"Only with this member in a JSON body, such as order.country=DE; also !=. All of several."` //nolint:lll // a struct tag is one line
}

// filter returns the filter, with the ids that were named beside it.
func (f *DLQFilter) filter(ids []string) (*deadletters.Filter, error) {
	filter := &deadletters.Filter{
		IDs: ids, Kinds: f.Kind, Reasons: f.Failure, Classes: f.Class, Rules: f.Rule, Codes: f.Code,
		Fingerprints: f.Fingerprint, Types: f.ErrorType, Versions: f.FunctionVersion, Groups: f.MessageGroup,
		Since: f.Since.Time, Until: f.Until.Time, Text: f.Text,
	}
	for _, source := range f.Source {
		name, err := parseQueue(source)
		if err != nil {
			return nil, fmt.Errorf("--source: %w", err)
		}
		filter.Sources = append(filter.Sources, name.name)
	}
	for _, text := range f.Where {
		c, err := deadletters.ParseCondition(text)
		if err != nil {
			return nil, fmt.Errorf("--where: %w", err)
		}
		filter.Where = append(filter.Where, c)
	}
	return filter, nil
}

// Validate refuses values that cannot be read.
func (f *DLQFilter) Validate() error {
	_, err := f.filter(nil)
	return err
}

// timeOption is the value of a flag: a time, or how long ago.
type timeOption struct{ time.Time }

// UnmarshalText parses it as [deadletters.ParseTime] does.
func (o *timeOption) UnmarshalText(text []byte) (err error) {
	o.Time, err = deadletters.ParseTime(string(text), time.Now())
	return err
}
