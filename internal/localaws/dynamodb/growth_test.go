package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"
)

// grown returns a service with n jobs and n notes of one partition.
func grown(t testing.TB, n int) service {
	t.Helper()
	s := withTables(t)
	for first := 0; first < n; first += 25 {
		var jobs, notes []string
		for i := first; i < min(n, first+25); i++ {
			jobs = append(jobs, fmt.Sprintf(`{"PutRequest":{"Item":{"id":{"S":"k%d"}}}}`, i))
			notes = append(notes, fmt.Sprintf(`{"PutRequest":{"Item":{"id":{"S":"p"},"sk":{"N":"%d"},
				"owner":{"S":"o"},"rank":{"N":"%d"}}}}`, i, i))
		}
		for table, puts := range map[string][]string{"jobs": jobs, "notes": notes} {
			body := `{"RequestItems":{"` + table + `":[` + strings.Join(puts, ",") + `]}}`
			if _, err := s.call(t, "BatchWriteItem", body); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// What a request allocates grows with what it visits. A read of one item and a
// write allocate as much in a large table as in a small one.
func TestRequestsForOneItemCostTheSameInLargeTables(t *testing.T) {
	const partition = `"ExpressionAttributeValues":{":p":{"S":"p"}},"KeyConditionExpression":"id = :p"`
	const owner = `"ExpressionAttributeValues":{":p":{"S":"o"}},"ExpressionAttributeNames":{"#o":"owner"},
		"KeyConditionExpression":"#o = :p","IndexName":"by-owner"`
	small, large := grown(t, 100), grown(t, 2000)
	for _, c := range []struct{ operation, body string }{
		{"Query", `{"TableName":"notes","Limit":1,` + partition + `}`},
		{"Query", `{"TableName":"notes","Limit":1,"ScanIndexForward":false,` + partition + `}`},
		{"Query", `{"TableName":"notes","Limit":1,"IndexName":"by-rank",` + partition + `}`},
		{"Query", `{"TableName":"notes","Limit":1,` + owner + `}`},
		{"Query", `{"TableName":"notes","ExpressionAttributeValues":{":p":{"S":"p"},":n":{"N":"70"}},
			"KeyConditionExpression":"id = :p AND sk = :n"}`},
		{"Query", `{"TableName":"notes","Limit":1,"ExclusiveStartKey":{"id":{"S":"p"},"sk":{"N":"60"}},` + partition + `}`},
		{"Scan", `{"TableName":"jobs","Limit":1}`},
		{"Scan", `{"TableName":"jobs","Limit":1,"ExclusiveStartKey":{"id":{"S":"k50"}}}`},
		{"Scan", `{"TableName":"notes","Limit":1,"IndexName":"by-rank"}`},
		{"PutItem", `{"TableName":"notes","Item":{"id":{"S":"p"},"sk":{"N":"50"},"owner":{"S":"o"},"rank":{"N":"7"}}}`},
		{"UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"k7"}},"UpdateExpression":"REMOVE v"}`},
		{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"k7"}}}`},
		{"DescribeTable", `{"TableName":"notes"}`},
	} {
		cost := func(s service) float64 {
			return testing.AllocsPerRun(5, func() {
				if _, err := s.call(t, c.operation, c.body); err != nil {
					t.Fatal(err)
				}
			})
		}
		few, many := cost(small), cost(large)
		if many > few*1.5+50 {
			t.Errorf("%s %s: %.0f allocations at 100 items, %.0f at 2000", c.operation, c.body, few, many)
		}
	}
}

// BenchmarkTables measures the requests that depend on the size of the table.
func BenchmarkTables(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		s := grown(b, n)
		for _, c := range []struct{ name, operation, body string }{
			{"query-limit-1", "Query", `{"TableName":"notes","Limit":1,"KeyConditionExpression":"id = :p",
				"ExpressionAttributeValues":{":p":{"S":"p"}}}`},
			{"put", "PutItem", `{"TableName":"notes","Item":{"id":{"S":"p"},"sk":{"N":"50"},"owner":{"S":"o"}}}`},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.call(b, c.operation, c.body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("scan/%d", n), func(b *testing.B) {
			for b.Loop() {
				if keys := s.scanAll(b, "jobs"); keys != n {
					b.Fatal(keys)
				}
			}
		})
	}
}

// scanAll reads a table to its end and returns the number of items.
func (s service) scanAll(t testing.TB, table string) (n int) {
	t.Helper()
	start := ""
	for {
		answer, err := s.call(t, "Scan", `{"TableName":"`+table+`"`+start+`}`)
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(answer, `"id":`)
		_, last, more := strings.Cut(answer, `"LastEvaluatedKey":`)
		if !more {
			return n
		}
		n--
		start = `,"ExclusiveStartKey":` + last[:strings.Index(last, "}}")+2]
	}
}
