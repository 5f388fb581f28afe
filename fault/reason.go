package fault

// The reasons of the standard rules. Reasons are stable words: they are used as
// metric dimensions, and options refer to them.
const (
	// ReasonUnclassified says that no rule matches the error.
	ReasonUnclassified = "unclassified"
	// ReasonTagged says that the error was tagged, or matched a [SQLState] rule, without
	// a reason.
	ReasonTagged = "tagged"
	// ReasonReplicaLag says that a read replica does not have yet what its primary has.
	ReasonReplicaLag = "replica_lag"
	// ReasonCancelled says that the job's own context was cancelled, as at a shutdown.
	ReasonCancelled = "cancelled"
	// ReasonDeadline says that the time of the job's own context ran out.
	ReasonDeadline = "deadline"
	// ReasonStore says that the idempotency store could not be reached or did not
	// answer.
	ReasonStore = "idempotency_store"
	// ReasonEnvironment says that credentials, permissions, a table, a bucket, a queue
	// or a host name is missing or wrong. The job is not at fault.
	ReasonEnvironment = "environment"
	// ReasonDecode says that the payload cannot be decoded.
	ReasonDecode = "decode"
	// ReasonValidation says that the payload can be decoded but is invalid.
	ReasonValidation = "validation"
	// ReasonProgrammerFault says that the code misuses a library, and does so for every
	// job. Its class is [ClassUnclassified]. Package handler ends the process, as
	// after a panic, unless the error is tagged.
	ReasonProgrammerFault = "programmer_fault"
	// ReasonRateLimited says that the called service asked for fewer calls.
	ReasonRateLimited = "rate_limited"
	// ReasonUnavailable says that the called service could not answer for now.
	ReasonUnavailable = "unavailable"
	// ReasonConflict says that somebody else is working on the same thing.
	ReasonConflict = "conflict"
	// ReasonTimeout says that no answer came in time; whether the call took effect is unknown.
	ReasonTimeout = "timeout"
	// ReasonConnection says that the connection could not be made, or broke.
	ReasonConnection = "connection"
	// ReasonReadOnly says that the database accepts no writes for now, like a replica
	// before its promotion.
	ReasonReadOnly = "read_only"
	// ReasonNotFound says that what the job refers to does not exist.
	ReasonNotFound = "not_found"
	// ReasonForeignKey says that the row that a foreign key refers to does not exist, or
	// is still referred to.
	ReasonForeignKey = "foreign_key"
	// ReasonAlreadyExists says that a row with the same unique value already exists.
	ReasonAlreadyExists = "already_exists"
	// ReasonRejected says that the called service understood the request and refuses it.
	ReasonRejected = "rejected"
)
