// Package costs computes what a million jobs cost at AWS, for docs/costs.md. The calls of a
// job are counted by tests of other packages, which compare them with [Ways].
package costs

// Prices are those of one Region, in dollars.
type Prices struct {
	// WriteUnit is for a write of up to 1 KB to DynamoDB on demand, Request for a call of
	// SQS's standard queues of up to 64 KB, Invocation for one of Lambda.
	WriteUnit, Request, Invocation float64
	// GigabyteSecond is for the time of a function on x86, LogGigabyte for log lines that
	// CloudWatch takes, StoredGigabyte for a month in a table.
	GigabyteSecond, LogGigabyte, StoredGigabyte float64
}

// Virginia are the on-demand prices of us-east-1 that were published in 2026, without free
// tiers. DynamoDB's are those since November 2024.
func Virginia() Prices {
	return Prices{
		WriteUnit: 0.625e-6, Request: 0.40e-6, Invocation: 0.20e-6,
		GigabyteSecond: 0.0000166667, LogGigabyte: 0.50, StoredGigabyte: 0.25,
	}
}

// Assumptions of the tables.
const (
	// Batch is how many jobs come in a batch.
	Batch = 10
	// MemoryGB is the size of the function, the template's default. ProcessorShare is the
	// part of a processor that Lambda gives it: 1,769 MB have a whole one.
	MemoryGB       = 128.0 / 1024
	ProcessorShare = 128.0 / 1769
	// RoundTrip is how long a call to DynamoDB or SQS takes, in seconds.
	RoundTrip = 0.005
	// itemOverhead is what DynamoDB adds to the size of an item, in bytes.
	itemOverhead = 100
	// PoisonReceives is how often a job runs that fails each time, where nothing but the
	// queue's maxReceiveCount ends it. AWS recommends 5 or more.
	PoisonReceives = 5
)

// Job is what a job of one kind needs.
type Job struct {
	// Units are the write request units, and Calls the calls to DynamoDB. All of them write.
	Units, Calls float64
	// Own are the function's calls to SQS, Source those of the event source: the receive of
	// a batch, and its deletion.
	Own, Source float64
	// Processor is the measured processor time in seconds, of a batch; RoundTrips are those
	// for which the batch waits. Logged are the bytes of a batch's log lines.
	Processor, RoundTrips, Logged float64
	// Stored is the size of the item.
	Stored float64
}

// Way is a way to handle jobs.
type Way struct {
	Name                         string
	Done, Duplicate, Retry, Dead Job
}

// Bill are the dollars for a million jobs.
type Bill struct{ Writes, Queue, Function, Logs, Storage float64 }

// Total is their sum.
func (b Bill) Total() float64 { return b.Writes + b.Queue + b.Function + b.Logs + b.Storage }

// Seconds is how long the function is billed for a batch.
func (j Job) Seconds() float64 { return j.Processor/ProcessorShare + j.RoundTrips*RoundTrip }

// Million is the bill for a million jobs.
func (p Prices) Million(j Job) Bill {
	const jobs, gigabyte = 1e6, 1 << 30
	b := Bill{
		Writes:   jobs * j.Units * p.WriteUnit,
		Queue:    jobs * (j.Own + j.Source) * p.Request,
		Function: jobs / Batch * (p.Invocation + j.Seconds()*MemoryGB*p.GigabyteSecond),
		Logs:     jobs / Batch * j.Logged / gigabyte * p.LogGigabyte,
	}
	if j.Stored > 0 {
		b.Storage = jobs * (j.Stored + itemOverhead) / gigabyte * p.StoredGigabyte
	}
	return b
}

// times is a job that runs n times.
func (j Job) times(n float64) Job {
	return Job{
		Units: n * j.Units, Calls: n * j.Calls, Own: n * j.Own, Source: n * j.Source,
		Processor: n * j.Processor, RoundTrips: n * j.RoundTrips, Logged: n * j.Logged, Stored: j.Stored,
	}
}
