package metricmath_test

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

func ExampleEvaluation() {
	hits := &metricmath.Series{Grid: metricmath.Grid{Start: 0, Period: 60, Count: 3}}
	hits.Add(0, 4)
	hits.Add(120, 10)
	doubled, err := metricmath.Parse("2 * FILL(hits, 0)")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := metricmath.Evaluation{
		Expressions: map[string]metricmath.Expression{"doubled": doubled},
		Metric:      func(id string) (*metricmath.Series, bool) { return hits, id == "hits" },
	}
	result, err := e.Query("doubled")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Series.Points)
	// Output:
	// [{0 8} {60 0} {120 20}]
}
