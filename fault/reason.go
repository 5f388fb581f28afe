package fault

// The reasons that the standard rules give. Reasons are stable words: they are
// metric dimensions, and options refer to them.
const (
	// ReasonUnclassified: no rule knows the error.
	ReasonUnclassified = "unclassified"
	// ReasonTagged: tagged by its maker, who gave no reason.
	ReasonTagged = "tagged"
	// ReasonDeadline: the time of the job's own context ran out.
	ReasonDeadline = "deadline"
	// ReasonStore: the idempotency store could not be asked.
	ReasonStore = "idempotency_store"
	// ReasonEnvironment: credentials, rights, a table, a bucket, a queue or a
	// host name is missing or wrong. The job is not at fault.
	ReasonEnvironment = "environment"
	// ReasonDecode: the payload cannot be read.
	ReasonDecode = "decode"
	// ReasonValidation: the payload can be read but breaks a rule.
	ReasonValidation = "validation"
	// ReasonRateLimited: the other side asked for fewer calls.
	ReasonRateLimited = "rate_limited"
	// ReasonUnavailable: the other side could not answer for now.
	ReasonUnavailable = "unavailable"
	// ReasonConflict: someone else is working on the same thing.
	ReasonConflict = "conflict"
	// ReasonTimeout: no answer in time; whether the call took effect is unknown.
	ReasonTimeout = "timeout"
	// ReasonConnection: the connection could not be made, or broke.
	ReasonConnection = "connection"
	// ReasonNotFound: what the job refers to does not exist.
	ReasonNotFound = "not_found"
	// ReasonRejected: the other side understood the request and refuses it.
	ReasonRejected = "rejected"
)
