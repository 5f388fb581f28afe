package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the subcommand that prints a script for a shell.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help returns the text below the flags.
func (Completion) Help() string {
	return `bash:  source <(sqsafe completion bash)
zsh:   source <(sqsafe completion zsh)
fish:  sqsafe completion fish | source`
}

// completeCommand is what the scripts call with the words of the command line.
const completeCommand = "__complete"

var completionScripts = map[string]string{
	"bash": `_sqsafe() {
	local IFS=$'\n'
	COMPREPLY=($(sqsafe __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _sqsafe sqsafe
`,
	"zsh": `_sqsafe() {
	local -a found
	found=("${(@f)$(sqsafe __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n $found[1] ]]; then compadd -a found; else _files; fi
}
compdef _sqsafe sqsafe
`,
	"fish": `complete -c sqsafe -a '(sqsafe __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script.
func (c Completion) Run(streams Streams) error {
	_, err := io.WriteString(streams.Out, completionScripts[c.Shell])
	return err
}

// complete prints what the last of the words may become, one a line: commands, flags, or
// the values of a flag that has a list of them.
func complete(out io.Writer, root *kong.Node, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := len(words) - 1
	node, _ := command(root, slices.DeleteFunc(slices.Clone(words[:last]), func(word string) bool {
		return strings.HasPrefix(word, "-")
	}))
	for _, candidate := range candidates(node, words[:last], words[last]) {
		if strings.HasPrefix(candidate, words[last]) {
			fmt.Fprintln(out, candidate)
		}
	}
}

func candidates(node *kong.Node, before []string, word string) (all []string) {
	flags := slices.Concat(node.AllFlags(true)...)
	if len(before) > 0 {
		for _, f := range flags {
			if before[len(before)-1] == "--"+f.Name && f.Enum != "" {
				return strings.Split(f.Enum, ",")
			}
		}
	}
	if strings.HasPrefix(word, "-") {
		for _, f := range flags {
			all = append(all, "--"+f.Name)
		}
		return all
	}
	for _, child := range node.Children {
		all = append(all, child.Name)
	}
	for _, positional := range node.Positional {
		if positional.Enum != "" {
			all = append(all, strings.Split(positional.Enum, ",")...)
		}
	}
	return all
}
