// Command notify is a Lambda function that notifies a customer by email and by
// text message, each once for each id: the two are steps of one job.
package main

import (
	"fmt"
	"os"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/functions/internal/notify"
)

func main() {
	sender, err := notify.NewSender(os.Getenv("NOTIFY_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "notify:", err)
		os.Exit(1)
	}
	sqsafe.Start(sender.Notify, sqsafe.KeyField("id"))
}
