// Package provider is whom the demo's functions call: an HTTP server that keeps
// lists of charges and messages, honours Idempotency-Key and misbehaves on a
// schedule.
//
// POST /charges takes {"id","customer","amount","currency"}; POST /email and POST
// /sms take {"to"}.
package provider
