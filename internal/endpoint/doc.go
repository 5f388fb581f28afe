// Package endpoint configures the AWS SDK for an endpoint that is not AWS: the
// local stack, or another program that answers as AWS does. It also explains
// the errors of calls there.
package endpoint
