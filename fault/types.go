package fault

import "fmt"

// maxTypes limits the result of Types.
const maxTypes = 16

// Types lists the types of the errors in the chain, outermost first and the
// branches of a join one after the other, at most 16. It leaves out tags, and
// wrappers that only add text (fmt.Errorf with %w) or only join.
func Types(err error) []string {
	var types []string
	for e := range chain(err) {
		if len(types) == maxTypes {
			break
		}
		if _, ok := e.(*tag); ok {
			continue
		}
		switch name := fmt.Sprintf("%T", e); name {
		case "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError":
		default:
			types = append(types, name)
		}
	}
	return types
}
