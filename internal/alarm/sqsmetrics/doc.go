// Package sqsmetrics says which datapoints SQS publishes about a queue, and in
// which minutes it publishes none.
//
// It follows the SQS developer guide ("Available CloudWatch metrics for Amazon
// SQS"): each minute for an active queue, for up to six hours after the last
// action on it, and up to 15 minutes late when a queue wakes up.
package sqsmetrics
