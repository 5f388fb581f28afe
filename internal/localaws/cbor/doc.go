// Package cbor encodes and decodes the bodies of the Smithy RPC v2 CBOR
// protocol, which the SDKs use for CloudWatch. It implements the part of RFC
// 8949 that the protocol uses.
package cbor
