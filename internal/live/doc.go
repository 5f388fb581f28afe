// Package live reads a stack as it is in AWS, for the rules of internal/check
// about deployed stacks: its template and parameters, and what the services say
// of its queues, mappings, functions, alarms, topics and tables. It only reads.
package live
