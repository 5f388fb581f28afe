// Package ledger reads the table of package idem/dynamo for people: it finds
// the table, shows what it holds of a job, and makes it forget one.
//
// It reads any item, those of Powertools for AWS Lambda included: what it does
// not know, or cannot read, it shows as it stands.
package ledger
