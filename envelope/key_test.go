package envelope_test

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

// If a producer publishes the same payload twice to a topic, each notification
// has its own id and time.
func TestKeyAndHashAreMadeOfTheContent(t *testing.T) {
	t.Parallel()
	body := notification(`{"id":"ch-1"}`)
	again := strings.Replace(body, "n-1", "n-2", 1)
	for name, key := range map[string]idem.KeyFunc{
		"payload": idem.JSONField("id"), "attribute": idem.Attribute("tenant"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := handlertest.Queue{
				Handler: envelope.SNS(handler.JSON(ship), nil), Options: handler.Options{Ledger: ledger(t, key)},
			}
			report := q.Run(t, handlertest.Message{Body: body}, handlertest.Message{Body: again})
			report.RequireOutcomes(t, "m1", handler.OutcomeDone)
			report.RequireOutcomes(t, "m2", handler.OutcomeDuplicate)
		})
	}
}
