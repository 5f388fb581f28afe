// Package alarm evaluates CloudWatch alarms: definitions and datapoints go in,
// states and their changes come out. It knows no clock and no network; time
// passes by [Evaluator.Advance].
//
// It follows the CloudWatch user guide ("Evaluating an alarm", "Configuring how
// CloudWatch alarms treat missing data", "Using metric math"). Alarms are
// evaluated at the end of each minute over a window that slides with it.
// Where the guide leaves something open, [Options] has both readings. What is
// not supported (percentiles, anomaly bands, composite alarms, metric math
// beyond the operators and a few functions) is refused by name.
package alarm
