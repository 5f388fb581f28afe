// Package shape checks the JSON of a request against a Go struct before it is
// decoded, as DynamoDB does: first the type of every member, and then the rules
// of all members together.
//
// The rules of a member are in its struct tag "rule", separated by commas:
//
//	required       the member must be there
//	len=3..255     characters of a string, elements of a list, members of a map
//	range=1..100   of a number
//	name           a string has only the characters of names of tables
//	table          the name of a table, of 3 to 255 characters, or its ARN
//	enum=A|B       the values of a string
//	item           an attribute map, whatever the Go type
//	long           a number that AWS calls Long and not Integer
//	each=...       rules for the elements of a list or map, separated by semicolons
//	keys=...       rules for the keys of a map, separated by semicolons
//	values=1..25   the elements of each list in a map
//	is=Projection  what AWS calls the type of a struct, in its messages
//
// A bound that is left out, as in len=1.., is not checked.
package shape
