// Package powertools contains only tests: the real Powertools for AWS Lambda
// (Python) and package idem/dynamo share a table, and each finds items that the
// other wrote. docs/powertools.md says what that means for users.
package powertools
