package fault

import "fmt"

// maxTypes bounds what Types lists.
const maxTypes = 16

// Types lists the types of the errors in the chain, outermost first and the
// branches of a join one after the other, at most 16. Tags are left out, as is
// what only adds text (fmt.Errorf with %w) or only joins.
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
