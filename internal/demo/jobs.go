package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

const jobsFile = "events/jobs.jsonl"

// job is a line of the jobs file.
type job struct {
	Queue string          `json:"queue"`
	Body  json.RawMessage `json:"body"`
}

func readJobs(path string) ([]job, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sample jobs: %w; run this in the root of the repository", err)
	}
	defer file.Close()
	var jobs []job
	for decoder := json.NewDecoder(file); ; {
		var j job
		if err := decoder.Decode(&j); err == io.EOF {
			return jobs, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		jobs = append(jobs, j)
	}
}

// wants are the expected effects of the jobs.
type wants struct {
	charges       map[string]bool // by id
	emails, texts map[string]bool // by recipient
	stock         map[string]int  // quantity by SKU
}

// wantedOf returns the expected effects of the jobs. Jobs that their function
// or the provider refuses have none.
func wantedOf(jobs []job) wants {
	w := wants{
		charges: map[string]bool{}, emails: map[string]bool{}, texts: map[string]bool{},
		stock: map[string]int{seedSKU: seedQuantity},
	}
	schedule, taken := provider.DefaultSchedule(), map[string]bool{}
	for _, j := range jobs {
		switch j.Queue {
		case "ChargeQueue":
			if id, ok := schedule.Charges(j.Body); ok {
				w.charges[id] = true
			}
		case "NotifyQueue":
			var n struct{ Email, Phone string }
			if json.Unmarshal(j.Body, &n) == nil {
				w.emails[n.Email], w.texts[n.Phone] = true, true
			}
		case "StockQueue":
			var o struct {
				ID, SKU  string
				Quantity int
			}
			if json.Unmarshal(j.Body, &o) == nil && !taken[o.ID] && w.stock[o.SKU] >= o.Quantity {
				taken[o.ID] = true
				w.stock[o.SKU] -= o.Quantity
			}
		}
	}
	return w
}
