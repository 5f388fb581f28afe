package fault

import "errors"

// ErrReplicaLag says that a read replica does not have yet what its primary
// has. No driver can detect that, so a function reports it by returning or
// wrapping this error, mostly in place of [database/sql.ErrNoRows]. It is
// tagged as retryable with [ReasonReplicaLag], and carries no stack.
var ErrReplicaLag error = &tag{
	err: errors.New("replica is behind its primary"), class: ClassRetryable, reason: ReasonReplicaLag,
}
