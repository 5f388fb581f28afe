// Package localtest connects clients of the AWS SDK to a [localaws.Server] in
// the same process.
package localtest

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

// Endpoint is the host in the queue URLs that clients with a [Config] get.
const Endpoint = "http://localaws"

// Config returns the configuration for clients that reach the server without a
// socket: static credentials, the server's region, and the SDK's default
// retries. Inside a bubble of testing/synctest, create server, configuration
// and clients in the bubble.
func Config(s *localaws.Server) aws.Config {
	return aws.Config{
		Region:       s.Region(),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String(Endpoint),
		HTTPClient:   &http.Client{Transport: s.Transport()},
	}
}
