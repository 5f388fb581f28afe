package alarmset

import "github.com/sqsafe/sqsafe/internal/alarm"

// versions are the alarms that roll a deployment back. They see the new version
// only, so trouble that was there before does not stop the deployment that ends
// it. They may not name the event source mapping: it is created after the
// deployment, so that would be a circle.
func versions(u Unit) []Alarm {
	if u.Function == "" || u.Alias == "" {
		return nil
	}
	name := alarm.Dimension{Name: "FunctionName", Value: u.function()}
	alias := alarm.Dimension{Name: "Resource", Value: "!Sub ${" + u.Function + "}:" + u.Alias}
	version := alarm.Dimension{Name: "ExecutedVersion", Value: "!GetAtt " + u.Function + ".Version.Version"}
	return []Alarm{
		newAlarm("NewVersionErrors", "NewVersionErrors", Rollback, Morning, 1, 5, quiet,
			query("m", lambda, "Errors", "Sum", 1, name, alias, version)).compares(above, 0),
		newAlarm("NewVersionFlood", "NewVersionFlood", Rollback, Morning, 1, 1, quiet,
			query("m", u.Namespace, "DeadLetterSent", "Sum", 5, name, version)).comparesWith(atLeast, "FloodThreshold"),
	}
}
