package envelope_test

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

// A topic to which a producer publishes twice gives each notification an id and a
// time of its own around one payload.
func TestKeyAndHashAreThoseOfTheContent(t *testing.T) {
	t.Parallel()
	body := notification(`{"id":"ch-1"}`)
	again := strings.Replace(body, "n-1", "n-2", 1)
	for name, key := range map[string]idem.KeyFunc{
		"payload": idem.JSONField("id"), "attribute": idem.Attribute("tenant"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := idem.Middleware(idem.NewMemory(), &idem.Options{Key: key})
			q := handlertest.Queue{
				Handler: envelope.SNS(handler.JSON(ship), nil),
				Options: handler.Options{Middleware: []handler.Middleware{once}},
			}
			report := q.Run(t, handlertest.Message{Body: body}, handlertest.Message{Body: again})
			report.RequireOutcomes(t, "m1", handler.OutcomeDone)
			report.RequireOutcomes(t, "m2", handler.OutcomeDuplicate)
		})
	}
}
