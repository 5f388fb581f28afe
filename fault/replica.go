package fault

import "errors"

// ErrReplicaLag says that a replica does not show yet what its primary has. No
// driver can know that, so a function says it by returning or wrapping this
// error, mostly in place of [database/sql.ErrNoRows]. It is tagged as retryable
// with [ReasonReplicaLag], and carries no stack.
var ErrReplicaLag error = &tag{
	err: errors.New("replica is behind its primary"), class: ClassRetryable, reason: ReasonReplicaLag,
}
