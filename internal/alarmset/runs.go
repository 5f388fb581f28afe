package alarmset

// runs are the alarms on the process that runs the jobs.
func runs(u Unit) []Alarm {
	if u.Function == "" {
		return []Alarm{
			newAlarm("WorkerCrash", "WorkerCrash", Basic, Now, 1, 5, quiet, u.ofOurs("m", "Crash", 1)).compares(above, 0),
			newAlarm("WorkerMissing", "WorkerMissing", Basic, Now, 5, 5, breach, u.ofOurs("m", "Workers", 1)).
				compares(below, 1),
		}
	}
	return []Alarm{
		newAlarm("FunctionErrors", "FunctionErrors", Basic, Now, 1, 5, quiet, u.ofFunction("m", "Errors", "Sum", 1)).
			compares(above, 0),
		// With little traffic a throttled job shows once in a visibility timeout.
		newAlarm("Throttles", "Throttles", Basic, Morning, 3, 6, quiet, u.ofFunction("m", "Throttles", "Sum", 5)).
			compares(atLeast, 1),
		newAlarm("PartialFailures", "PartialFailures", Basic, Morning, 3, 5, quiet,
			expression("IF(i >= 10, 100*FILL(f,0)/i, 0)"),
			u.ofMapping("i", "InvokedEventCount"), u.ofMapping("f", "FailedInvokeEventCount")).
			comparesWith(above, "PartialFailurePercent"),
		newAlarm("NearTimeout", "NearTimeout", Full, Morning, 3, 5, quiet, expression("100*d/(1000*"+u.Timeout+")"),
			u.ofFunction("d", "Duration", "Maximum", 1)).compares(atLeast, 90),
	}
}
