package alarmset

// promises are the alarms on what the consumer itself counts: a promise that it
// could not keep, and jobs of which none succeeds.
//
// A count of zero has no datapoint, so the expressions use SUM, which adds those
// that there are, and need no FILL. Messages has one for each batch: SilentJobs
// compares with it, and is silent without jobs.
func promises(u Unit) []Alarm {
	return []Alarm{
		newAlarm("BrokenPromises", "BrokenPromises", Basic, Now, 1, 5, quiet, expression("SUM([f,u,s])"),
			u.ofOurs("f", "DeadLetterFailed", 1), u.ofOurs("u", "Unrecorded", 1), u.ofOurs("s", "SettleFailed", 1)).
			compares(above, 0),
		// Retries or deferrals, and nothing done, in three of six steps of five minutes. So
		// a job that succeeds within ten minutes of its failure is no alarm.
		newAlarm("SilentJobs", "SilentJobs", Basic, Now, 3, 6, quiet,
			expression("IF(SUM([m,r,w]) > m AND SUM([m,d]) == m, 1, 0)"),
			u.ofOurs("m", "Messages", 5), u.ofOurs("r", "Retry", 5), u.ofOurs("w", "Deferred", 5),
			u.ofOurs("d", "Done", 5)).compares(atLeast, 1),
	}
}
