// Package kms emulates DescribeKey of the AWS Key Management Service for the one
// key that AWS manages for DynamoDB. A program that describes a table's
// encryption finds its key here. Nothing is encrypted with it, and other
// operations are refused with an error that names them.
package kms
