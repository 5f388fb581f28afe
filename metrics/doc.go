// Package metrics turns the report of a batch into metrics for alarms and
// dashboards.
//
// A Lambda function writes one line for each batch in CloudWatch's embedded
// metric format. CloudWatch makes metrics from it, without an API call by the
// function: [Lines] returns the hook. Where nothing reads that format, as in a
// container, the same [Values] are sent to CloudWatch in another way; package
// worker does that.
//
// Everything in this package is safe for concurrent use.
package metrics
