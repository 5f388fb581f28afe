package fault

import "context"

var tagRules = Table{
	{ID: "tag.permanent", Reason: ReasonTagged, Class: ClassPermanent,
		Match: taggedAs(ClassPermanent), Refine: tagReason},
	{ID: "tag.retryable", Reason: ReasonTagged, Class: ClassRetryable,
		Match: taggedAs(ClassRetryable), Refine: tagReason},
}

func taggedAs(class Class) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		e := decider(err, tagged)
		return e != nil && tagged(e) == class
	}
}

// tagReason uses the outermost reason among the tags of the decided class: a
// tag without a reason does not hide the reason of the tag inside it.
func tagReason(err error, d *Decision) {
	for e := range chain(err) {
		if t, ok := e.(*tag); ok && t.class == d.Class && t.reason != "" {
			d.Reason = t.reason
			return
		}
	}
}
