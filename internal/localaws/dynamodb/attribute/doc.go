// Package attribute has DynamoDB's attribute values: the ten types, their JSON
// form, their sizes, and numbers that are exact to 38 digits.
//
// A [Value] is never changed once it is made; whoever alters an item copies what
// lies on the way. Values can therefore be shared between goroutines.
package attribute
