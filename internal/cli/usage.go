package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// misuse says what is wrong with the command line, and how to get help.
func misuse(err error, args []string) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse == nil || parse.Context == nil {
		return fmt.Errorf("%w; see sqsafe --help", err)
	}
	node, rest := command(parse.Context.Model.Node, args)
	if len(node.Children) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("no command %q; there are %s; see %s --help", rest[0], names(node), node.FullPath())
	}
	if strings.Contains(parse.Error(), "unknown flag --reason") && hasFlag(node, "failure") {
		return fmt.Errorf("%w: --failure selects by the reason of a failure, and --why says why you do something; "+
			"see %s --help", err, node.FullPath())
	}
	if strings.Contains(parse.Error(), "missing unit in duration") {
		return fmt.Errorf("%w; add one, as in 90s, 5m or 1h; see %s --help", err, node.FullPath())
	}
	return fmt.Errorf("%w; see %s --help", err, node.FullPath())
}

func hasFlag(node *kong.Node, name string) bool {
	return slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == name })
}

// command returns the subcommand that args name, and the arguments after it.
func command(node *kong.Node, args []string) (*kong.Node, []string) {
	for len(args) > 0 {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == args[0] })
		if i < 0 {
			break
		}
		node, args = node.Children[i], args[1:]
	}
	return node, args
}

func names(node *kong.Node) string {
	var all []string
	for _, n := range node.Children {
		all = append(all, n.Name)
	}
	return strings.Join(all, ", ")
}

// delaySeconds is the value of a flag: seconds before a message becomes
// visible.
type delaySeconds int

// UnmarshalText parses whole seconds.
func (d *delaySeconds) UnmarshalText(text []byte) error {
	most := int(sqssend.MaxDelay.Seconds())
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > most {
		return fmt.Errorf("want whole seconds from 0 to %d, not %q", most, text)
	}
	*d = delaySeconds(n)
	return nil
}
