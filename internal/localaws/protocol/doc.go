// Package protocol is the wire format that the stand-ins share: the AWS JSON
// protocols, as a request that names its operation and an error that has a code,
// and the clock that they live by.
package protocol
