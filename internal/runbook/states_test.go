package runbook_test

import (
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// onlyInAWS lists the calls of blocks that cannot be run here, with the reason.
var onlyInAWS = map[string]string{
	"StartQuery":      "a query runs over the log of a deployed function",
	"GetQueryResults": "the same",
	"FilterLogEvents": "the same",

	"GET /2016-08-19/account-settings":                "the limits of an account",
	"GET /2019-09-30/functions/FUNCTION/concurrency":  "nothing is deployed",
	"GET /2015-03-31/functions/FUNCTION/aliases/live": "nothing is deployed",
	"PUT /2015-03-31/functions/FUNCTION/aliases/live": "the same",
	"GET /2015-03-31/functions/FUNCTION/versions":     "the same",

	"ListDeployments": "CodeDeploy deploys in the cloud",
	"GetDeployment":   "the same",
	"StopDeployment":  "the same",
}

// states bring a stack into the state of that name.
var states = map[string]func(w *world){
	"three dead letters": threeDeadLetters,

	"three dead letters, and one that SQS moved": func(w *world) { threeDeadLetters(w); moved(w) },

	"one dead letter":          func(w *world) { w.send(charges, declinedCharge, "", nil); w.consumeAll() },
	"a dead letter of a group": deadInGroup,
	"jobs wait":                jobsWait,
	"jobs come back":           jobsComeBack,
	"a crash loop":             crashLoop,
	"two versions":             twoVersions,
}

// happenings are events between the commands.
var happenings = map[string]func(p *play){
	"five seconds pass":          func(p *play) { p.clock.advance(5 * time.Second) },
	"a tenth of a second passes": func(p *play) { p.clock.advance(time.Second / 10) },
	"long polls end":             func(p *play) { p.clock.endPolls() },

	"the function is at work": func(p *play) { p.awsOnly.sent = p.work },

	"the provider is mended":                                                       func(p *play) { clear(p.declines) },
	"somebody starts a redrive to source":                                          redriveToSource,
	"the producer sends ch-8 anew, the redrive ends, and the function runs":        redrivenTwice,
	"the redrive ends and the function runs":                                       redriven,
	"the letter was sent as it was, the provider is mended, and the function runs": resentUnedited,
	"the function runs, and the letter was sent in full":                           resent,
}

// note is an attribute of a job with bytes that a shell could change.
var note = map[string]types.MessageAttributeValue{
	"from": {DataType: aws.String("String.shop"), StringValue: aws.String("Büro\t1")},
}

const (
	declinedCharge  = `{"id":"ch-2","customer":"c-declined","amount":990,"currency":"EUR"}`
	malformedCharge = `{"id":"ch-6","customer":"c-6","amount":1250,"currency":"eur"}`
	downCharge      = `{"id":"ch-8","customer":"c-down","amount":640,"currency":"EUR"}`
)

// moved receives a job as often as the redrive policy allows, so that SQS moves
// it.
func moved(w *world) {
	w.send(charges, `{"id":"ch-13","customer":"c-13","amount":75,"currency":"EUR"}`, "", nil)
	for range maxReceives + 1 {
		_, err := w.sqs.ReceiveMessage(w.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(w.urls[charges]), VisibilityTimeout: 1,
		})
		w.check(err)
		w.clock.advance(time.Second)
	}
}

func threeDeadLetters(w *world) {
	w.send(charges, declinedCharge, "", nil)
	w.consumeAll()
	w.clock.advance(time.Second) // letters are shown in the order in which they died, and sent in that of their jobs
	w.send(charges, malformedCharge, "", note)
	w.consumeAll()
	w.clock.advance(time.Second)
	w.send(charges, downCharge, "", nil)
	w.consumeAll()
}

// withdrawal has characters that a text file could change.
const withdrawal = "{\"id\":\"st-1\",\r\n \"customer\":\"c-declined\",\t\"currency\":\"EUR\",\"to\":\"Büro\"}\n\n"

func deadInGroup(w *world) {
	w.send(stocks, withdrawal, "sku-1", note)
	w.send(stocks, `{"id":"st-2","customer":"c-1","currency":"EUR"}`, "sku-1", nil)
	w.consumeAll()
}

func jobsWait(w *world) {
	for _, id := range []string{"1", "2", "3"} {
		w.send(charges, `{"id":"ch-`+id+`","customer":"c-1","amount":990,"currency":"EUR"}`, "", nil)
	}
}

// jobsComeBack has two jobs whose provider refuses the credentials.
func jobsComeBack(w *world) {
	for _, id := range []string{"20", "21"} {
		w.send(charges, `{"id":"ch-`+id+`","customer":"c-locked","amount":990,"currency":"EUR"}`, "", nil)
	}
	w.consumeAll()
}

func twoVersions(w *world) {
	w.version = "6"
	w.send(charges, declinedCharge, "", nil)
	w.consumeAll()
	w.version = "7"
	for _, id := range []string{"3", "4"} {
		w.send(charges, `{"id":"ch-`+id+`","customer":"c-1","amount":990}`, "", nil)
	}
	w.consumeAll()
}

// crashLoop sends the dead letter of a job that has ended its process twice.
func crashLoop(w *world) {
	at := handler.NewTimestamp(w.clock.Now())
	m := &handler.Message{SQSMessage: events.SQSMessage{
		MessageId: "8c1f6b2e-03d7-4a94-b5f2-6e90d1a7c348", EventSourceARN: arn(charges),
		Body: `{"id":"ch-12","customer":"c-12","amount":1,"currency":"EUR"}`,
	}}
	sender, err := dlq.NewSender(w.sqs, w.urls[deadCharges], &dlq.Options{Function: function, FunctionVersion: "7"})
	w.check(err)
	letters := []handler.Letter{{Message: m, Failure: handler.Failure{
		Class: "permanent", Reason: "crash_loop", Rule: "crash_loop", Key: "ch-12", Verdict: true,
		Message: "2 crashes are counted, and 2 of the job's 2 claims ended without a result",
		First:   at, Last: at,
		Stack: "main.discount(...)\n\tdiscount.go:31\nmain.charge(...)\n\tmain.go:54",
	}}}
	sender.Send(w.Context(), letters)
	w.check(letters[0].Answer())
}

func (w *world) consumeAll() {
	w.Helper()
	w.consume(charges, deadCharges)
	w.consume(stocks, deadStocks)
}

// work lets the function process what was just sent, before the sender has its answer. The
// function may send dead letters itself, which must not start it again.
func (w *world) work() {
	if w.working.TryLock() {
		defer w.working.Unlock()
		w.consumeAll()
	}
}

func redriveToSource(p *play) {
	in := &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(arn(deadCharges))}
	_, err := p.sqs.StartMessageMoveTask(p.Context(), in)
	p.check(err)
	p.clock.advance(time.Second)
}

func redriven(p *play) {
	p.clock.advance(time.Minute)
	p.consumeAll()
}

// redrivenTwice has one job that is already done when its dead letter is
// redriven.
func redrivenTwice(p *play) {
	p.send(charges, downCharge, "", nil)
	p.consumeAll()
	redriven(p)
	if n := p.done["ch-8"]; n != 1 {
		p.world.Errorf("ch-8 ran %d times, want once", n)
	}
}

// resent checks the message that a block has sent, and lets the function
// process it.
func resent(p *play) {
	p.arrived(charges, `{"id":"ch-6","customer":"c-6","amount":1250,"currency":"EUR"}`)
	p.consumeAll()
}

func resentUnedited(p *play) {
	p.arrived(stocks, withdrawal)
	clear(p.declines)
	p.consumeAll()
}

// arrived checks the only message of the queue.
func (w *world) arrived(name, body string) {
	w.Helper()
	out, err := w.sqs.ReceiveMessage(w.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(w.urls[name]), MessageAttributeNames: []string{"All"}, VisibilityTimeout: 1,
	})
	w.check(err)
	if len(out.Messages) != 1 {
		w.Fatalf("%d messages were sent, want 1", len(out.Messages))
	}
	m := out.Messages[0]
	if *m.Body != body {
		w.Errorf("body %q, want %q", *m.Body, body)
	}
	if _, err := dlq.Open(m); err != nil {
		w.Errorf("the record: %v", err)
	}
	delete(m.MessageAttributes, dlq.AttributeName)
	if d := cmp.Diff(note, m.MessageAttributes, cmp.AllowUnexported(types.MessageAttributeValue{})); d != "" {
		w.Errorf("attributes (-want +got):\n%s", d)
	}
	w.clock.advance(time.Second)
}
