// Package metrics turns what became of a batch into numbers that alarms and
// dashboards read.
//
// A Lambda function writes one line for a batch in CloudWatch's embedded metric
// format, from which CloudWatch makes metrics at no call of the function's own:
// [Lines] gives the hook. Where nobody reads that format, as in a container, the
// same [Values] go to CloudWatch by other means; package worker does that.
//
// Everything here is safe for concurrent use.
package metrics
