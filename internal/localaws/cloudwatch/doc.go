// Package cloudwatch is a strict emulator for the parts of Amazon CloudWatch
// that sqsafe uses: metrics with their statistics and metric math (as far as
// internal/metricmath has it), the definitions and states of alarms, and dashboards.
//
// It answers as AWS documents it, refusals included; what it does not implement
// it refuses by name. Alarms keep the state that they are given: none is
// evaluated.
package cloudwatch
