// Package provider is the service that the demo's functions call: an HTTP
// server that records charges and messages, supports Idempotency-Key and fails
// on schedule.
//
// POST /charges takes {"id","customer","amount","currency"}; POST /email and
// POST /sms take {"to"}.
package provider
