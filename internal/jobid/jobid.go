// Package jobid makes the id under which the ledger keeps a job, and ids of bounded length.
package jobid

import "strings"

// longestKey is how many bytes of a key go into the id unchanged. DynamoDB takes 2048
// bytes for a partition key, namespace included.
const longestKey = 512

// hashLength is how many hexadecimal digits a SHA-256 has.
const hashLength = 64

// hashedKey is the prefix of hashed keys.
const hashedKey = "sha256:"

// Of returns the id of the job with this key. No queue has "#" in its name, so a key may
// have it. A key that is too long is replaced by its hash, and so is one that looks like a
// hash.
func Of(namespace, key string) string {
	if len(key) > longestKey || strings.HasPrefix(key, hashedKey) {
		key = hashedKey + Hashed(key, hashLength)
	}
	return namespace + "#" + key
}
