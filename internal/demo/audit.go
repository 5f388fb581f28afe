package demo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

// audit compares the effects of the jobs with the expected ones.
func audit(
	wanted wants, charges []provider.Charge, messages []provider.Message, left map[string]int,
) ([]cli.Row, error) {
	var charged, emailed, texted []string
	for _, c := range charges {
		charged = append(charged, c.ID)
	}
	for _, m := range messages {
		if m.Channel == provider.Email {
			emailed = append(emailed, m.To)
		} else {
			texted = append(texted, m.To)
		}
	}
	var rows []cli.Row
	var errs []error
	for _, kind := range []struct {
		name, verb string
		done       []string
		wanted     map[string]bool
	}{
		{"charges", "made", charged, wanted.charges},
		{"emails", "sent", emailed, wanted.emails},
		{"text messages", "sent", texted, wanted.texts},
	} {
		wrong := differ(kind.done, kind.wanted)
		rows = append(rows, pair(kind.name, kind.verb, len(kind.wanted), len(kind.done), len(wrong) == 0)...)
		if len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("%s %s and wanted differ for %v", kind.name, kind.verb, wrong))
		}
	}
	same := maps.Equal(left, wanted.stock)
	rows = append(rows, pair("pieces of "+seedSKU, "left", wanted.stock[seedSKU], left[seedSKU], same)...)
	if !same {
		errs = append(errs, fmt.Errorf("the stock left is %v, wanted %v", left, wanted.stock))
	}
	return rows, errors.Join(errs...)
}

// pair returns two rows: the expected number and the actual one.
func pair(name, verb string, wanted, got int, good bool) []cli.Row {
	return []cli.Row{
		{Name: name + " wanted", Value: strconv.Itoa(wanted)},
		{Name: name + " " + verb, Value: strconv.Itoa(got), Good: &good},
	}
}

// differ returns, sorted, the names that are wanted and were not done exactly
// once, and those that were done but are not wanted.
func differ(done []string, wanted map[string]bool) []string {
	times := map[string]int{}
	for _, name := range done {
		times[name]++
	}
	wrong := map[string]bool{}
	for name := range wanted {
		if times[name] != 1 {
			wrong[name] = true
		}
	}
	for name := range times {
		if !wanted[name] {
			wrong[name] = true
		}
	}
	return slices.Sorted(maps.Keys(wrong))
}
