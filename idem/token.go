package idem

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/jobid"
)

const (
	// longestRequestToken is the most characters of DynamoDB's
	// ClientRequestToken, and of most others at AWS.
	longestRequestToken = 36
	// longestDeduplicationID is the most characters of SQS's
	// MessageDeduplicationId.
	longestDeduplicationID = 128
	// shortestHash keeps 128 bits of a hash, so that no two jobs become one.
	shortestHash = 32
)

// ClientRequestToken is a token of at most 36 printable ASCII characters for
// the job, as TransactWriteItems of DynamoDB and many other calls at AWS take
// it. DynamoDB remembers it for 10 minutes, for one set of parameters: a job
// with several calls makes each in a [Step].
//
// All callers of an account share the tokens. So it is made of the queue's name
// and the [Key], "charges#ch-1", and where that is too long or has other
// characters, it is their SHA-256 in hexadecimal digits. It is the same at
// every attempt and replay, and another in each Step. It is empty where ctx
// has no key.
func ClientRequestToken(ctx context.Context) string {
	return token(ctx, longestRequestToken)
}

// DeduplicationID is a MessageDeduplicationId of at most 128 characters for the
// job, all of them letters, digits and punctuation, as SQS takes it. SQS
// remembers it for 5 minutes. It is made as [ClientRequestToken] is: all who
// send to the queue share the ids.
func DeduplicationID(ctx context.Context) string {
	return token(ctx, longestDeduplicationID)
}

// SQLKey stands for the job in a unique column of a table of the user's: n
// characters, hexadecimal digits in lower case, of the SHA-256 of the queue's
// name and the [Key]. It is always a hash, so that it fits a column of fixed
// width and no collation takes two keys for one. With an n of 32 it is also
// taken for a UUID by databases that read one without dashes. It is the same at
// every attempt and replay, another in each [Step], and empty where ctx has no
// key. SQLKey panics if n is not from 32 to 64.
func SQLKey(ctx context.Context, n int) string {
	if n < shortestHash || n > 2*sha256.Size {
		panic(fmt.Sprintf("idem.SQLKey: width %d is not from %d to %d; 64 keeps the whole hash",
			n, shortestHash, 2*sha256.Size))
	}
	id := identity(ctx)
	if id == "" {
		return ""
	}
	return jobid.Hashed(id, n)
}

// token is the job's identity, or its hash if that does not fit.
func token(ctx context.Context, longest int) string {
	return jobid.Bounded(identity(ctx), longest, jobid.Visible)
}

// identity returns an id of the job that is unique over all queues; empty without a key.
func identity(ctx context.Context) string {
	key := Key(ctx)
	if key == "" {
		return ""
	}
	return queueName(ctx) + "#" + key
}

type namespaceKey struct{}

// queueName returns the name of the job's queue.
func queueName(ctx context.Context) string {
	name, _ := ctx.Value(namespaceKey{}).(string)
	return name
}
