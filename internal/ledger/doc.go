// Package ledger reads the table of package idem/dynamo for the command line:
// it finds the table, shows the item of a job, and deletes it.
//
// It reads any item, including those of Powertools for AWS Lambda. Attributes
// that it does not know, or cannot read, are shown unchanged.
package ledger
