package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/check"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/live"
)

// Check is the subcommand that finds faults in templates.
type Check struct {
	Files  []string `arg:"" optional:"" name:"file" help:"Templates, YAML or JSON; - for standard input (template.yaml)."` //nolint:lll // a struct tag is one line
	Fix    bool     `help:"Write what is mechanical into the files; everything else in them stays."`
	Strict bool     `help:"Fail for warnings as well."`
	Format string   `help:"text, json (one object a line) or sarif (${default})." enum:"text,json,sarif" default:"text" placeholder:"NAME"` //nolint:lll // a struct tag is one line
	JSON   bool     `name:"json" help:"The same as --format json."`
	Stack  string   `placeholder:"NAME" help:"Check a deployed stack in place of files; with --aws."`
	Account
	Overrides []string `name:"parameter-overrides" sep:"none" placeholder:"NAME=VALUE" help:"Parameters of the template; may be given several times."` //nolint:lll // a struct tag is one line
}

// Help returns the text below the flags.
func (c *Check) Help() string {
	return `It reads SAM and CloudFormation templates, so what cdk synth writes as well, and
finds what loses, doubles or buries jobs of functions fed by SQS. It needs no
account and no network. docs/check.md has the rules, and how to ignore one.

The exit code is 1 if there is an error, or a warning with --strict.`
}

// Validate refuses invalid values of flags.
func (c *Check) Validate() error {
	switch {
	case c.Stack != "" && !c.AWS:
		return errors.New("--stack is for AWS itself; add --aws")
	case c.Stack != "" && (len(c.Files) > 0 || c.Fix || len(c.Overrides) > 0):
		return errors.New("--stack reads template and parameters from AWS; give no file, no --fix and no parameters")
	case c.Stack == "" && (c.AWS || c.Profile != "" || c.Region != ""):
		return errors.New("--aws, --profile and --region are for --stack; name one")
	}
	if len(c.Files) == 0 {
		c.Files = []string{"template.yaml"}
	}
	if c.JSON {
		if c.Format == "sarif" {
			return errors.New("give --json or --format sarif, not both")
		}
		c.Format = "json"
	}
	for _, file := range c.Files {
		if file == "-" && c.Fix {
			return errors.New("--fix writes files; name one in place of -")
		}
	}
	_, err := overrides(c.Overrides)
	return err
}

// checked is a template that was checked.
type checked struct {
	file   string
	fixed  []check.Finding
	report *check.Report
}

// Run checks the templates and prints what it finds.
func (c *Check) Run(ctx context.Context, streams Streams) error {
	all, unread := c.all(ctx, streams.In)
	if unread != nil && len(all) == 0 {
		return unread
	}
	var err error
	switch c.Format {
	case "sarif":
		err = printSARIF(all, streams.Out)
	case "json":
		printFindings(all, streams.Out)
	default:
		for _, one := range all {
			newFindingsPrinter(streams.Out).template(one)
		}
	}
	if err != nil {
		return err
	}
	return joined(unread, c.verdict(all))
}

// all checks each template. The error is about those that could not be read;
// they keep nothing from the others.
func (c *Check) all(ctx context.Context, in io.Reader) ([]checked, error) {
	if c.Stack != "" {
		one, err := c.deployed(ctx)
		if err != nil {
			return nil, err
		}
		return []checked{one}, nil
	}
	parameters, err := overrides(c.Overrides)
	if err != nil {
		return nil, err
	}
	var all []checked
	var unread []error
	for _, file := range c.Files {
		one, err := c.template(file, &check.Options{Parameters: parameters}, in)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		all = append(all, one)
	}
	return all, joined(unread...)
}

// deployed checks a stack as it is in AWS.
func (c *Check) deployed(ctx context.Context) (checked, error) {
	one := checked{file: "stack " + c.Stack}
	config, err := c.configuration(ctx, c.Region)
	if err != nil {
		return one, err
	}
	stack, err := live.Read(ctx, config, c.Stack)
	if refused, ok := errors.AsType[*live.Error](err); ok {
		if errors.Is(err, context.Canceled) {
			return one, errInterrupted
		}
		return one, fmt.Errorf("stack %s: %s: %w", c.Stack, refused.Service, endpoint.Brief(refused.Err))
	}
	one.report, err = check.CheckLive(&stack.Live, stack.Template, stack.Parameters)
	return one, err
}

func (c *Check) template(file string, o *check.Options, in io.Reader) (checked, error) {
	one := checked{file: file}
	data, err := readTemplate(file, in)
	if err != nil {
		return one, err
	}
	name := file
	if file == "-" {
		name = "stdin"
	}
	if c.Fix {
		var fixed []byte
		if fixed, one.fixed, err = check.Fix(name, data, o); err != nil {
			return one, err
		}
		if !bytes.Equal(fixed, data) {
			if err := rewrite(file, fixed); err != nil {
				return one, err
			}
		}
		data = fixed
	}
	one.report, err = check.Check(name, data, o)
	return one, err
}

func readTemplate(file string, in io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(in)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no template %s here; name an existing file", file)
	}
	return data, err
}

// rewrite replaces the content of a file and keeps its mode.
func rewrite(file string, data []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, info.Mode().Perm())
}

// joined joins errors in one line; nil if there is none.
func joined(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	all := errs[0]
	for _, err := range errs[1:] {
		all = fmt.Errorf("%w; %w", all, err)
	}
	return all
}

// verdict is the error that makes the command fail, if it has to.
func (c *Check) verdict(all []checked) error {
	var failed []string
	for _, one := range all {
		if err := one.report.Error(c.Strict); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", one.file, err))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return errors.New(strings.Join(failed, "; "))
}

func printSARIF(all []checked, out io.Writer) error {
	var findings []check.Finding
	for _, one := range all {
		findings = append(findings, one.report.Findings...)
	}
	data, err := check.SARIF(findings)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, string(data))
	return nil
}
