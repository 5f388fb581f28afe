// Package provider is the payment provider of the demo: an HTTP server that
// keeps a list of charges, honours Idempotency-Key and misbehaves on a schedule.
//
// POST /charges with {"id","customer","amount","currency"} is its only call.
package provider
