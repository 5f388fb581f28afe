// Package expression is DynamoDB's expression language: conditions (and filters),
// key conditions, updates and projections.
//
// A [Scope] holds the placeholders of one request. Each of its methods parses one
// expression against them; what comes back is evaluated on any number of items and
// is safe for concurrent use. What DynamoDB refuses is refused with its words, as a
// ValidationException.
package expression
