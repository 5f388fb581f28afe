// Package jobid makes the id under which the ledger keeps a job.
package jobid

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestKey is how many bytes of a key go into the id unchanged. DynamoDB takes 2048
// bytes for a partition key, namespace included.
const longestKey = 512

// hashedKey is the prefix of hashed keys.
const hashedKey = "sha256:"

// Of returns the id of the job with this key. No queue has "#" in its name, so a key may
// have it. A key that is too long is replaced by its hash, and so is one that looks like a
// hash.
func Of(namespace, key string) string {
	if len(key) > longestKey || strings.HasPrefix(key, hashedKey) {
		sum := sha256.Sum256([]byte(key))
		key = hashedKey + hex.EncodeToString(sum[:])
	}
	return namespace + "#" + key
}
