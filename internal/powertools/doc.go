// Package powertools is a test only: the real Powertools for AWS Lambda
// (Python) and package idem/dynamo share a table, and each meets what the other
// wrote. docs/powertools.md says what that means for users.
package powertools
