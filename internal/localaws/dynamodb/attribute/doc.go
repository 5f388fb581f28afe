// Package attribute implements DynamoDB's attribute values: the ten types,
// their JSON form, their sizes, and numbers that are exact to 38 digits.
//
// A [Value] is immutable. Code that changes an item copies every container on
// the path to the change. Values can therefore be shared between goroutines.
package attribute
