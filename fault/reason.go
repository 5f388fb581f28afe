package fault

// The reasons that the standard rules give. Reasons are stable words: they are
// metric dimensions, and options refer to them.
const (
	// ReasonUnclassified: no rule knows the error.
	ReasonUnclassified = "unclassified"
	// ReasonTagged: tagged by its maker, or ruled by [SQLState], without a reason.
	ReasonTagged = "tagged"
	// ReasonReplicaLag: a replica does not show yet what its primary has.
	ReasonReplicaLag = "replica_lag"
	// ReasonCancelled: the job's own context was cancelled, as at a shutdown.
	ReasonCancelled = "cancelled"
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
	// ReasonProgrammerFault: the code misuses a library, and does so for every
	// job. Its class is [ClassUnclassified]; a host may rather end the process.
	ReasonProgrammerFault = "programmer_fault"
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
	// ReasonReadOnly: the database takes no writes for now, as a replica does
	// until it is promoted.
	ReasonReadOnly = "read_only"
	// ReasonNotFound: what the job refers to does not exist.
	ReasonNotFound = "not_found"
	// ReasonForeignKey: the row that a foreign key refers to does not exist, or
	// is still referred to.
	ReasonForeignKey = "foreign_key"
	// ReasonAlreadyExists: a row with the same unique value exists already.
	ReasonAlreadyExists = "already_exists"
	// ReasonRejected: the other side understood the request and refuses it.
	ReasonRejected = "rejected"
)
