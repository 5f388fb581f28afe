package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func TestFindOpensTheOnlyLedger(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	find := func(want string) {
		t.Helper()
		table, err := ledger.Find(t.Context(), d.Client)
		if err == nil && table.Name != want || err != nil && err.Error() != want {
			t.Errorf("found %+v, %v; want %s", table, err, want)
		}
	}
	d.table("stock", "", hash("id"))
	d.table("sessions", "until", hash("id"))
	d.table("cache", "expiration", hash("id"), sorted("part"))
	find("no table looks like a ledger, with one key attribute and the TTL attribute expiration")
	d.table("jobs", "expiration", hash("job"))
	find("jobs")
	d.table("more", "expiration", hash("id"))
	find("2 tables look like a ledger: jobs, more")
	for _, operation := range []string{"DescribeTimeToLive", "DescribeTable", "ListTables"} {
		d.server.Inject(localaws.Fault{Operation: operation, Times: 1, Code: "AccessDeniedException"})
		if table, err := ledger.Find(t.Context(), d.Client); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("without %s: found %+v, %v", operation, table, err)
		}
	}
}

func TestOpenRefusesOtherTables(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.table("pairs", "", hash("id"), sorted("part"))
	if _, err := ledger.Open(t.Context(), d.Client, "pairs"); !errors.Is(err, ledger.ErrNoLedger) {
		t.Errorf("a table with a sort key: %v", err)
	}
	_, err := d.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("numbers"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{hash("id")},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "N"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(t.Context(), d.Client, "numbers"); !errors.Is(err, ledger.ErrNoLedger) {
		t.Errorf("a table whose key is a number: %v", err)
	}
	var missing *types.ResourceNotFoundException
	if _, err := ledger.Open(t.Context(), d.Client, "none"); !errors.As(err, &missing) {
		t.Errorf("no table: %v", err)
	}
}

// TestListReadsAllPages has items so large that no two fit into a response of 1
// MB.
func TestListReadsAllPages(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	table := d.ledger("job")
	for n := range 8 {
		d.put(item{
			"job":    text(fmt.Sprintf("%s#%d", []string{"charges", "mails"}[n%2], n)),
			"status": text([]string{"DEAD", "COMPLETED", "DEAD", "INPROGRESS"}[n%4]), "data": text(strings.Repeat("x", 300<<10)),
		})
	}
	for _, tt := range []struct {
		name   string
		filter ledger.Filter
		want   string
	}{
		{"all", ledger.Filter{}, "charges#0 charges#2 charges#4 charges#6 mails#1 mails#3 mails#5 mails#7"},
		{"by status", ledger.Filter{Status: "COMPLETED"}, "mails#1 mails#5"},
		{"by queue", ledger.Filter{Prefix: "charges#"}, "charges#0 charges#2 charges#4 charges#6"},
		{"by both", ledger.Filter{Status: "DEAD", Prefix: "mails#"}, ""},
	} {
		var ids []string
		pages, total := 0, 0
		err := table.List(t.Context(), tt.filter, func(jobs []ledger.Entry, read int) bool {
			pages, total = pages+1, total+read
			for _, job := range jobs {
				ids = append(ids, job.ID)
			}
			return true
		})
		slices.Sort(ids)
		if diff := cmp.Diff(tt.want, strings.Join(ids, " ")); diff != "" || err != nil || total != 8 || pages < 2 {
			t.Errorf("%s: %v, %d items in %d pages; jobs (-want +got):\n%s", tt.name, err, total, pages, diff)
		}
	}
	pages := 0
	once := func([]ledger.Entry, int) bool { pages++; return false }
	if err := table.List(t.Context(), ledger.Filter{}, once); err != nil {
		t.Fatal(err)
	}
	if pages != 1 {
		t.Errorf("%d pages although one was enough", pages)
	}
	d.server.Inject(localaws.Fault{Operation: "Scan", Code: "AccessDeniedException"})
	if err := table.List(t.Context(), ledger.Filter{}, nil); err == nil {
		t.Error("a refused Scan is no error")
	}
}
