package local

import (
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localguard"
	"github.com/sqsafe/sqsafe/internal/redact"
)

const (
	region  = endpoint.Region
	account = "123456789012"
)

func (o Options) checkEndpoints() error {
	for _, url := range []string{o.EndpointSQS, o.EndpointDynamoDB} {
		if url == "" {
			continue
		}
		if err := endpoint.CheckURL(url); err != nil {
			return err
		}
	}
	return nil
}

// endpoint is where the emulators answer; empty if there are none.
func (s *Stack) endpoint() string {
	if s.listener == nil {
		return ""
	}
	return "http://" + reachable(s.listener)
}

// connect makes the journal, the emulators, and the clients of what is called.
func (s *Stack) connect() {
	s.journal = newJournal(s.template, s.options)
	if s.listener != nil {
		s.server = localaws.New(&localaws.Options{Region: region, Account: account, Observe: s.journal.queue})
	}
	s.queues = sqs.NewFromConfig(s.config(s.options.EndpointSQS))
	s.tables = dynamodb.NewFromConfig(s.config(s.options.EndpointDynamoDB))
}

// config is for calls of another engine or, without one, of the emulators.
func (s *Stack) config(other string) aws.Config {
	if other != "" {
		return endpoint.Config(other)
	}
	config := endpoint.Config(s.endpoint())
	config.HTTPClient = &http.Client{Transport: s.server.Transport()}
	return config
}

// serve lets programs on this machine reach the emulators and what stands in for Lambda.
func (s *Stack) serve() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/", s.server)
	mux.HandleFunc("GET "+agesPath, s.serveAges)
	mux.HandleFunc("GET "+namesPath, s.serveNames)
	s.mappings.register(mux)
	guard := localguard.API{Hosts: s.options.Hosts, Origins: s.options.Origins, Refuse: localaws.Refuse}
	web := &http.Server{
		Handler: guard.Handler(mux), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	go func() { _ = web.Serve(s.listener) }() // ends with ErrServerClosed at Close
	return web
}

// unreachable explains the error of the first call of an engine.
func unreachable(err error, url, flag string) error {
	if url != "" && endpoint.Refused(err) {
		return fmt.Errorf("nothing listens at %s; start the engine there, or leave %s out for the emulator",
			redact.URL(url), flag)
	}
	return endpoint.Brief(err)
}
