package system

import (
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/idem"
)

// claims are what the judge knows of the claims on a job: it goes by what was written,
// not by what the ledger makes of it.
type claims struct {
	// open are owners of claims that were not settled, since a run last came to its end.
	open []string
	// crashes counts the runs since then that ended their process, and are known to.
	crashes int
	// alone are owners whose run is alone, each with its process.
	alone map[string]*process
	// suspects are owners that were told of a crash.
	suspects []string
}

func (c *claims) begin(owner string) {
	if slices.Contains(c.open, owner) {
		return
	}
	c.open = append(c.open, owner)
	if c.crashes+len(c.alone) > 0 {
		c.suspects = append(c.suspects, owner)
	}
}

// suspicious reports whether a delivery of the job may be a suspect, for the version before
// too.
func (c *claims) suspicious(before bool) bool {
	limit := 2
	if before {
		limit = 1
	}
	return len(c.open) >= limit || c.crashes+len(c.alone) > 0
}

// besideOthers reports whether a run that begins is one that others should not be beside.
func (c *claims) besideOthers(owner string) bool {
	return slices.Contains(c.suspects, owner) && c.alone[owner] == nil
}

// settle takes in a write for a claim, and returns what is wrong with it.
func (c *claims) settle(p *process, write *call) string {
	owner := write.owner
	others := len(c.open)
	if slices.Contains(c.open, owner) {
		others--
	}
	died := c.crashes + len(c.alone)
	switch write.operation {
	case "transact", idem.SettleComplete.String(), idem.SettleRelease.String(), idem.SettleVerdict.String():
		open := slices.DeleteFunc(c.open, func(o string) bool { return o == owner })
		*c = claims{}
		if p.release.previous { // it settles its own claim alone
			c.open = open
		}
		if write.reason == idem.ReasonCrashLoop && died < 2 {
			return fmt.Sprintf("it is said to crash, but %d crashes are known", died)
		}
	case idem.SettleAbort.String():
		c.open = slices.DeleteFunc(c.open, func(o string) bool { return o == owner })
		c.leaveAlone(owner)
	case idem.SettleCrash.String():
		c.leaveAlone(owner)
		c.crashes++
	case "not " + idem.SettleAlone.String():
		c.leaveAlone(owner)
	case idem.SettleAlone.String():
		if c.alone == nil {
			c.alone = map[string]*process{}
		}
		c.alone[owner] = p
		suspicious := 2
		if p.release.previous {
			suspicious = 1
		}
		if others < suspicious && c.crashes+len(c.alone) < 2 {
			return "it runs alone, but no more than one claim is open and no crash is known"
		}
	}
	return ""
}

func (c *claims) leaveAlone(owner string) { delete(c.alone, owner) }

// isAlone reports whether a run is alone in the process.
func (c *claims) isAlone(p *process) bool {
	for _, other := range c.alone {
		if other == p {
			return true
		}
	}
	return false
}
