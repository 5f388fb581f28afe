package alarmset

import "strings"

// runbook is where the description of a role leads, in docs/RUNBOOK.md.
var runbook = map[string]string{
	"NotEmpty": "first-look", "Arrivals": "first-look", "Flood": "flood", "DeadLetterAge": "expiry",
	"QueueAge": "a-stalled-consumer", "QueueExpiry": "expiry", "ConsumerStalled": "a-stalled-consumer",
	"BacklogGrows": "a-stalled-consumer", "InFlight": "stop-the-function", "ProducerSilent": "runbook",
	"FunctionErrors": "crashes", "Throttles": "a-stalled-consumer", "PartialFailures": "query-the-log",
	"NearTimeout": "query-the-log", "BrokenPromises": "broken-promises", "SilentJobs": "silent-jobs",
	"NewVersionErrors": "after-a-rollback", "NewVersionFlood": "after-a-rollback",
	"WorkerCrash": "crashes", "WorkerMissing": "a-stalled-consumer",
}

// descriptions say what has happened and what to do first. $NAME is replaced, see
// describe. The commands that read a log are long: the runbook has them.
var descriptions = map[string]string{
	"NotEmpty": "The dead-letter queue of $SUBJECT holds jobs that nothing will try again. First read " +
		"their reasons: $LOOK",
	"Arrivals": "Jobs of $SUBJECT were dead-lettered in the last minute; each wave is told. First compare their reasons " +
		"with what changed last.",
	"Flood": "Many jobs of $SUBJECT were dead-lettered within one minute. First stop it, the jobs wait for up to " +
		"4 days: $STOP",
	"DeadLetterAge": "A dead letter of $SUBJECT has waited for ${DeadLetterAgeThreshold} seconds, and SQS deletes it " +
		"14 days after it came. First see what is there: $LOOK",
	"QueueAge": "Jobs wait for $SUBJECT for ${QueueAgeThreshold} seconds and more. First see how many wait, and how " +
		"many are at work: $WAITING",
	"QueueExpiry": "Half of the 4 days are over after which SQS deletes the jobs of $SUBJECT, and no dead letter " +
		"tells. First see whether it is fed: $FED",
	"ConsumerStalled": "Jobs wait for $SUBJECT and none was finished for ${StalledMinutes} minutes. First see whether " +
		"it is fed: $FED",
	"BacklogGrows": "The jobs of $SUBJECT have grown in number for an hour, and none was finished. First see how many " +
		"are at work: $WAITING",
	"InFlight": "More than 96,000 messages of $SUBJECT are in flight, 80 percent of what SQS allows; mostly they wait " +
		"for their next attempt. First find in the log what they fail with.",
	"ProducerSilent": "Nobody has sent a job to $SUBJECT for 15 minutes. First see that the queue is the one that " +
		"producers know: $QUEUE",
	"FunctionErrors": "A batch of $SUBJECT ended by a crash, an exit or a timeout; a job that fails does not count. " +
		"First read the last lines of its log.",
	"Throttles": "Lambda throttles $SUBJECT: jobs are received and not run, and after maxReceiveCount of this they are " +
		"dead-lettered. First see the limit: aws lambda get-account-settings.",
	"PartialFailures": "More than ${PartialFailurePercent} percent of the jobs of $SUBJECT come back and are tried " +
		"again. First find in the log what they fail with.",
	"NearTimeout": "Batches of $SUBJECT take over 90 percent of its timeout. First find in the log what they wait for.",
	"BrokenPromises": "$SUBJECT could not record a job, send a dead letter, or set when a message comes back. First " +
		"find in the log which.",
	"SilentJobs": "Jobs of $SUBJECT run and none succeeds: a right lost, a wrong host, the ledger down, an open " +
		"breaker. First find the reasons in the log.",
	"NewVersionErrors": "The new version of $SUBJECT crashes, exits or times out: its deployment is rolled back. First " +
		"read the last lines of its log.",
	"NewVersionFlood": "The new version of $SUBJECT dead-letters many jobs: its deployment is rolled back. First read " +
		"their reasons.",
	"WorkerCrash": "A job has crashed $SUBJECT. First read the last lines of its output.",
	"WorkerMissing": "Nothing was heard of $SUBJECT for 5 minutes: none runs, or its metrics do not arrive. First see " +
		"whether one runs.",
}

// describe gives a description as Fn::Sub takes it.
func describe(u Unit, a Alarm) string {
	text := strings.NewReplacer(
		"$SUBJECT", u.Subject(),
		"$LOOK", "aws sqs receive-message --queue-url ${"+u.Dead+"} --message-attribute-names sqsafe --visibility-timeout 5 "+
			"--max-number-of-messages 10.",
		"$STOP", u.stop(),
		"$WAITING", "aws sqs get-queue-attributes --queue-url ${"+u.Source+"} --attribute-names All.",
		"$QUEUE", "aws sqs get-queue-url --queue-name ${"+u.Source+".QueueName}.",
		"$FED", u.fed(),
	).Replace(descriptions[a.Role])
	return strings.ToUpper(text[:1]) + text[1:] + " ${RunbookUrl}#" + runbook[a.Role]
}

func (u Unit) stop() string {
	if u.Function == "" {
		return "scale the worker to zero."
	}
	return "aws lambda update-event-source-mapping --uuid ${" + u.Mapping + "} --no-enabled."
}

func (u Unit) fed() string {
	if u.Function == "" {
		return "its log says what it receives."
	}
	return "aws lambda get-event-source-mapping --uuid ${" + u.Mapping + "}."
}
