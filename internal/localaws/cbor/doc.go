// Package cbor reads and writes the bodies of the Smithy RPC v2 CBOR protocol,
// which the SDKs speak with CloudWatch. It knows the part of RFC 8949 that the
// protocol uses.
package cbor
