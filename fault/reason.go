package fault

// The reasons of the standard rules. Reasons are stable words: they are used as
// metric dimensions, and options refer to them.
const (
	// ReasonUnclassified: no rule matches the error.
	ReasonUnclassified = "unclassified"
	// ReasonTagged: the error was tagged, or matched a [SQLState] rule, without
	// a reason.
	ReasonTagged = "tagged"
	// ReasonReplicaLag: a read replica does not have yet what its primary has.
	ReasonReplicaLag = "replica_lag"
	// ReasonCancelled: the job's own context was cancelled, as at a shutdown.
	ReasonCancelled = "cancelled"
	// ReasonDeadline: the time of the job's own context ran out.
	ReasonDeadline = "deadline"
	// ReasonStore: the idempotency store could not be reached or did not
	// answer.
	ReasonStore = "idempotency_store"
	// ReasonEnvironment: credentials, permissions, a table, a bucket, a queue
	// or a host name is missing or wrong. The job is not at fault.
	ReasonEnvironment = "environment"
	// ReasonDecode: the payload cannot be decoded.
	ReasonDecode = "decode"
	// ReasonValidation: the payload can be decoded but is invalid.
	ReasonValidation = "validation"
	// ReasonProgrammerFault: the code misuses a library, and does so for every
	// job. Its class is [ClassUnclassified]. Package handler ends the process, as
	// after a panic, unless the error is tagged.
	ReasonProgrammerFault = "programmer_fault"
	// ReasonRateLimited: the service called asked for fewer calls.
	ReasonRateLimited = "rate_limited"
	// ReasonUnavailable: the service called could not answer for now.
	ReasonUnavailable = "unavailable"
	// ReasonConflict: somebody else is working on the same thing.
	ReasonConflict = "conflict"
	// ReasonTimeout: no answer in time; whether the call took effect is unknown.
	ReasonTimeout = "timeout"
	// ReasonConnection: the connection could not be made, or broke.
	ReasonConnection = "connection"
	// ReasonReadOnly: the database accepts no writes for now, like a replica
	// before its promotion.
	ReasonReadOnly = "read_only"
	// ReasonNotFound: what the job refers to does not exist.
	ReasonNotFound = "not_found"
	// ReasonForeignKey: the row that a foreign key refers to does not exist, or
	// is still referred to.
	ReasonForeignKey = "foreign_key"
	// ReasonAlreadyExists: a row with the same unique value already exists.
	ReasonAlreadyExists = "already_exists"
	// ReasonRejected: the service called understood the request and refuses it.
	ReasonRejected = "rejected"
)
