package eventsource

// NextLineage is the lineage of an invocation by a message with this trace header.
func NextLineage(trace, function string) string { return lineageOf(trace).invoked(function) }
