//go:build unix

// Command chaos attacks the whole system with real processes: functions under
// "sqsafe local" and workers run jobs while they are killed, told to end and frozen,
// a proxy loses and delays the answers of SQS and DynamoDB, and the provider of the jobs
// answers late, wrong or not at all. When all is over, each job must have taken effect
// once, only those that are poison may be dead, and nothing may be left.
//
// A seed decides the plan: which jobs are sent when, what fails, and who is hit. Real
// processes do not run twice in the same way, so a seed repeats the attack and not what
// comes of it.
package main
