// Package sts emulates GetCallerIdentity of the AWS Security Token Service, with
// which programs learn the id of their account. Other operations of the service are
// refused with an error that names them.
//
// STS has only the query protocol: a request is a form, an answer is XML.
package sts
