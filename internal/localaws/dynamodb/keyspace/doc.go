// Package keyspace keeps the items of a table or an index in the order in which
// DynamoDB reads them: partitions by the hash of their key, and the items of a
// partition by their sort key. Finding a place costs the same in a small and in
// a large [Tree].
package keyspace
