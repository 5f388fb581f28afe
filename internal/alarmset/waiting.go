package alarmset

// halfRetention is half of the four days, in seconds, that a source queue keeps a
// job for.
const halfRetention = 172800

// waiting are the alarms on jobs that wait.
func waiting(u Unit) []Alarm {
	age := func(minutes int) Alarm {
		n := 5 / minutes
		return newAlarm("QueueAge", "QueueAge", Basic, Morning, n, n, quiet,
			ofQueue("m", u.Source, oldest, "Maximum", minutes))
	}
	expiry := age(5).compares(atLeast, halfRetention)
	expiry.Role, expiry.Name = "QueueExpiry", "QueueExpiry"
	stalled := newAlarm("ConsumerStalled", "ConsumerStalled", Basic, Now, 0, 0, quiet,
		expression("IF(v > 0 AND FILL(d,0) == 0, 1, 0)"),
		ofQueue("v", u.Source, visible, "Minimum", 1), ofQueue("d", u.Source, deleted, "Sum", 1)).compares(atLeast, 1)
	stalled.PeriodsFrom = "StalledMinutes"
	return []Alarm{
		age(1).comparesWith(atLeast, "QueueAgeThreshold"), expiry, stalled,
		// Three steps of 20 minutes. The average of a depth rises also where messages
		// become visible and are received again, so that a job that waits is no growth.
		newAlarm("BacklogGrows", "BacklogGrows", Basic, Now, 3, 3, quiet,
			expression("IF(DIFF(v + FILL(n,0)) > 0 AND FILL(d,0) == 0, 1, 0)"),
			ofQueue("v", u.Source, visible, "Average", 20), ofQueue("n", u.Source, flying, "Average", 20),
			ofQueue("d", u.Source, deleted, "Sum", 20)).compares(atLeast, 1),
		newAlarm("InFlight", "InFlight", Full, Morning, 5, 5, quiet, ofQueue("m", u.Source, flying, "Maximum", 1)).
			compares(atLeast, 96000), // 80 % of what SQS allows
		// The only one besides WorkerMissing for which missing data is trouble.
		newAlarm("ProducerSilent", "ProducerSilent", Traffic, Morning, 15, 15, breach,
			ofQueue("m", u.Source, sent, "Sum", 1)).compares(atMost, 0),
	}
}
