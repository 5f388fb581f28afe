// Package expression implements DynamoDB's expression language: conditions (and
// filters), key conditions, updates and projections.
//
// A [Scope] holds the placeholders of one request. Each of its methods parses
// one expression with them. The result can be evaluated on any number of items
// and is safe for concurrent use. An invalid expression is refused with
// DynamoDB's message, as a ValidationException.
package expression
