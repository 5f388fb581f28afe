package alarmset

// Metrics of SQS.
const (
	visible = "ApproximateNumberOfMessagesVisible"
	flying  = "ApproximateNumberOfMessagesNotVisible"
	oldest  = "ApproximateAgeOfOldestMessage"
	sent    = "NumberOfMessagesSent"
	deleted = "NumberOfMessagesDeleted"
)

// deadLetters are the alarms on what was given up.
//
// NotEmpty counts messages in flight too, because receiving messages to look at
// them hides them. SQS reports that metric only while there are such messages,
// therefore FILL. Missing data does not change its state: SQS stops reporting
// metrics of idle queues. For the same reason Arrivals and Flood stand on what the
// consumer counts: the metrics of an untouched queue need up to 15 minutes.
func deadLetters(u Unit) []Alarm {
	count := u.ofOurs("m", "DeadLetterSent", 1)
	return []Alarm{
		newAlarm("NotEmpty", "DeadLettersNotEmpty", Basic, Morning, 1, 1, keep, expression("v + FILL(n,0)"),
			ofQueue("v", u.Dead, visible, "Maximum", 1), ofQueue("n", u.Dead, flying, "Maximum", 1)).compares(above, 0),
		newAlarm("Arrivals", "DeadLetterArrivals", Basic, Morning, 1, 1, quiet, count).compares(above, 0),
		newAlarm("Flood", "DeadLetterFlood", Basic, Now, 1, 1, quiet, count).comparesWith(atLeast, "FloodThreshold"),
		newAlarm("DeadLetterAge", "DeadLetterAge", Full, Morning, 1, 1, quiet, ofQueue("m", u.Dead, oldest, "Maximum", 5)).
			comparesWith(atLeast, "DeadLetterAgeThreshold"),
	}
}
