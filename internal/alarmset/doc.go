// Package alarmset has the alarms and the dashboard of a queue and its consumer:
// what each alarm watches, when it fires, whom it tells, and its text in a
// template. internal/alarm evaluates the same definitions, so what docs/alarms.md
// says of them is computed and not promised.
package alarmset
