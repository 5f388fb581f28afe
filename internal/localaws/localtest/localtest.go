// Package localtest connects clients of the AWS SDK with a [localaws.Server] in
// the same process.
package localtest

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

// Endpoint is the host of the queue URLs that clients made of [Config] get.
const Endpoint = "http://localaws"

// Config is the configuration of clients that reach the server without a
// socket: static credentials, the server's region, and the retries that the SDK
// has by default. In a bubble of testing/synctest make server, configuration
// and clients inside of it.
func Config(s *localaws.Server) aws.Config {
	return aws.Config{
		Region:       s.Region(),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String(Endpoint),
		HTTPClient:   &http.Client{Transport: s.Transport()},
	}
}
