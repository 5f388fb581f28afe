package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// basket is a payload of the usual size: with 14 lines its JSON has 1 KB.
type basket struct {
	ID       string    `json:"id"`
	Customer string    `json:"customer"`
	Placed   time.Time `json:"placed"`
	Lines    []struct {
		Article string `json:"article"`
		Count   int    `json:"count"`
		Price   string `json:"price"`
	} `json:"lines"`
	Note string `json:"note"`
}

func basketOf(lines int) string {
	all := make([]string, lines)
	for i := range all {
		all[i] = fmt.Sprintf(`{"article":"a-%05d","count":%d,"price":"12.50 EUR"}`, i, i+1)
	}
	return `{"id":"o-1","customer":"c-1","placed":"2026-01-02T03:04:05Z","lines":[` + strings.Join(all, ",") +
		`],"note":"` + strings.Repeat("please ring twice ", 12) + `"}`
}

func BenchmarkPrepareJSON(b *testing.B) {
	known := basketOf(14)
	for name, body := range map[string]string{
		"known":         known,
		"unknown-last":  strings.TrimSuffix(known, "}") + `,"new":true}`,
		"unknown-first": `{"new":{"a":"some text of one new member"},` + strings.TrimPrefix(known, "{"),
	} {
		b.Run(name, func(b *testing.B) {
			h := handler.JSON(func(context.Context, basket) error { return nil })
			m := &handler.Message{SQSMessage: record("m1", body)}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Prepare(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
