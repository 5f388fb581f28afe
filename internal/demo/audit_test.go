package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

func TestAuditFindsWhatDiffers(t *testing.T) {
	t.Parallel()
	charge := func(id string) provider.Charge { return provider.Charge{ID: id} }
	email := func(to string) provider.Message { return provider.Message{Channel: provider.Email, To: to} }
	text := func(to string) provider.Message { return provider.Message{Channel: provider.Text, To: to} }
	tests := []struct {
		name     string
		charges  []provider.Charge
		messages []provider.Message
		left     int
		wanted   wants
		want     string
	}{
		{name: "nothing"},
		{
			name:    "one each",
			charges: []provider.Charge{charge("a"), charge("b")}, messages: []provider.Message{text("1"), email("e")}, left: 3,
			wanted: wants{charges: set("b", "a"), emails: set("e"), texts: set("1"), stock: map[string]int{seedSKU: 3}},
		},
		{
			name: "charged twice", charges: []provider.Charge{charge("a"), charge("a")}, wanted: wants{charges: set("a")},
			want: "charges made and wanted differ for [a]",
		},
		{name: "not charged", wanted: wants{charges: set("a")}, want: "charges made and wanted differ for [a]"},
		{
			name: "charged but not wanted", charges: []provider.Charge{charge("b"), charge("a")},
			want: "charges made and wanted differ for [a b]",
		},
		{
			name: "an email sent twice", messages: []provider.Message{email("e"), email("e"), text("1")},
			wanted: wants{emails: set("e"), texts: set("1")}, want: "emails sent and wanted differ for [e]",
		},
		{
			name: "no text message", messages: []provider.Message{email("e")},
			wanted: wants{emails: set("e"), texts: set("1")}, want: "text messages sent and wanted differ for [1]",
		},
		{
			name: "taken twice", left: 2, wanted: wants{stock: map[string]int{seedSKU: 3}},
			want: "the stock left is map[sku-1:2], wanted map[sku-1:3]",
		},
		{
			name: "several", charges: []provider.Charge{charge("a")}, messages: []provider.Message{text("1")},
			want: "charges made and wanted differ for [a]\ntext messages sent and wanted differ for [1]",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			left := map[string]int{}
			if tt.left > 0 {
				left[seedSKU] = tt.left
			}
			rows, err := audit(tt.wanted, tt.charges, tt.messages, left)
			if (err != nil) != (tt.want != "") || err != nil && err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			bad, complaints := 0, strings.Count(tt.want, "wanted")
			for _, row := range rows {
				if row.Good != nil && !*row.Good {
					bad++
				}
			}
			if len(rows) != 8 || bad != complaints {
				t.Errorf("%d of %d rows are bad, want %d of 8", bad, len(rows), complaints)
			}
		})
	}
}

func TestExpectedEffectsOfTheJobs(t *testing.T) {
	t.Parallel()
	var jobs []job
	for _, line := range []string{
		`ChargeQueue {"id":"ch-1","customer":"c-1","amount":1,"currency":"EUR"}`,
		`ChargeQueue {"id":"ch-2","customer":"c-down","amount":1,"currency":"EUR"}`,
		`ChargeQueue "{"`,
		`NotifyQueue {"id":"nt-1","email":"a@example.com","phone":"+491234"}`,
		`StockQueue {"id":"st-1","sku":"sku-1","quantity":9}`,
		`StockQueue {"id":"st-2","sku":"sku-1","quantity":2}`,
		`StockQueue {"id":"st-1","sku":"sku-1","quantity":9}`,
		`StockQueue {"id":"st-3","sku":"sku-1","quantity":1}`,
		`StockQueue {"id":"st-4","sku":"sku-9","quantity":1}`,
	} {
		queue, body, _ := strings.Cut(line, " ")
		jobs = append(jobs, job{Queue: queue, Body: json.RawMessage(body)})
	}
	want := wants{
		charges: set("ch-1"), emails: set("a@example.com"), texts: set("+491234"), stock: map[string]int{"sku-1": 0},
	}
	if diff := cmp.Diff(want, wantedOf(jobs), cmp.AllowUnexported(wants{})); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
}
