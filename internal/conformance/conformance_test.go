package conformance_test

import (
	"context"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

var (
	slack = flag.Duration("slack", 2*time.Second,
		"how late an effect may be that is documented as approximate or eventual")
	strict           = flag.Bool("strict", false, "let debatable checks fail as the others do")
	region           = flag.String("region", "us-east-1", "AWS region of the endpoints")
	legacyAttributes = flag.Bool("legacy-attrs", false, "send ReceiveMessage the discontinued AttributeNames too")
)

// gaps are the debatable checks that the emulators of this module fail.
var gaps = []string{
	"cw/alarms/goes-to-alarm", // no alarm is evaluated
}

// endpoints are the environment variables with the endpoints of the services.
var endpoints = map[string]string{"sqs": "SQS_ENDPOINT", "ddb": "DDB_ENDPOINT", "cw": "CW_ENDPOINT"}

// bound is a check that takes the configuration of its client.
type bound struct {
	id, doc, debatable string
	basis              basis
	run                func(t T, cfg aws.Config)
}

func (c bound) service() string {
	s, _, _ := strings.Cut(c.id, "/")
	return s
}

func bind[E any](checks []check[E], connect func(cfg aws.Config) E) []bound {
	all := make([]bound, 0, len(checks))
	for _, c := range checks {
		all = append(all, bound{c.id, c.doc, c.debatable, c.basis, func(t T, cfg aws.Config) { c.run(t, connect(cfg)) }})
	}
	return all
}

func allChecks() []bound {
	return slices.Concat(
		bind(sqsChecks(), func(cfg aws.Config) *sqsEnv { return &sqsEnv{sqs.NewFromConfig(cfg)} }),
		bind(ddbChecks(), func(cfg aws.Config) *ddbEnv { return &ddbEnv{dynamodb.NewFromConfig(cfg)} }),
		bind(cwChecks(), func(cfg aws.Config) *cwEnv { return &cwEnv{cloudwatch.NewFromConfig(cfg)} }),
	)
}

// TestConformance runs the checks: against the endpoints that the environment
// gives, or with none against the emulators, each in a bubble of its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	given := map[string]string{}
	for service, variable := range endpoints {
		if url := os.Getenv(variable); url != "" {
			given[service] = url
		}
	}
	for _, c := range allChecks() {
		endpoint, remote := given[c.service()]
		if len(given) > 0 && !remote {
			continue
		}
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			var skipped string
			if remote {
				c.try(t, remoteConfig(endpoint), c.debatable != "" && !*strict, &skipped)
			} else {
				synctest.Test(t, func(t *testing.T) {
					c.try(t, localConfig(), slices.Contains(gaps, c.id) && !*strict, &skipped)
				})
			}
			if skipped != "" {
				t.Skip(skipped)
			}
		})
	}
}

func (c bound) try(t *testing.T, cfg aws.Config, excused bool, skipped *string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+5**slack)
	defer cancel()
	checked := T{T: t, ctx: ctx, expected: c.doc, basis: c.basis, skipped: skipped}
	if excused {
		checked.excuse = "debatable (" + c.debatable + ")"
	}
	c.run(checked, cfg)
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^(sqs|ddb|cw)/[a-z]+(-[a-z]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)
	seen, services := map[string]bool{}, map[string]int{}
	bases := map[basis]int{}
	for _, c := range allChecks() {
		if !id.MatchString(c.id) {
			t.Errorf("%s: not of the form service/area/name", c.id)
		}
		if seen[c.id] {
			t.Errorf("%s: id used twice", c.id)
		}
		seen[c.id] = true
		services[c.service()]++
		bases[c.basis]++
		if !strings.HasSuffix(c.doc, ".") {
			t.Errorf("%s: no sentence that names the expected behaviour", c.id)
		}
	}
	// The numbers are in README.md too.
	for s, want := range map[string]int{"sqs": 153, "ddb": 83, "cw": 20} {
		if services[s] != want {
			t.Errorf("%s: %d checks, want %d", s, services[s], want)
		}
	}
	for b, want := range map[basis]int{recorded: 43, said: 3} {
		if bases[b] != want {
			t.Errorf("%s: %d checks, want %d", b, bases[b], want)
		}
	}
	for _, gap := range gaps {
		if !slices.ContainsFunc(allChecks(), func(c bound) bool { return c.id == gap && c.debatable != "" }) {
			t.Errorf("%s is no debatable check", gap)
		}
	}
}

// README.md lists the debatable checks.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, debatable []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+/[^`]+)` \\|").FindAllSubmatch(readme, -1) {
		listed = append(listed, string(m[1]))
	}
	for _, c := range allChecks() {
		if c.debatable != "" {
			debatable = append(debatable, c.id)
		}
	}
	if !slices.Equal(listed, debatable) {
		t.Errorf("README.md lists\n%q, the debatable checks are\n%q", listed, debatable)
	}
}
