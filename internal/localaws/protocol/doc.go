// Package protocol defines what the emulators share: requests and errors of the
// AWS JSON protocols, and their clock.
package protocol
