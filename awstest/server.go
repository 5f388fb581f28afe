package awstest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/localguard"
)

// Options are the settings of a [Server]. The zero value works.
type Options struct {
	// Clock is the source of time; nil means that of the system or, in a bubble of
	// testing/synctest, that of the bubble.
	Clock *Clock
	// Region and Account, an id of 12 digits, are used in ARNs and URLs of queues; empty
	// means us-east-1 and 000000000000.
	Region, Account string
}

// Server has the queues, tables and metrics of one account in one region. It is safe for
// concurrent use.
type Server struct {
	emulators *localaws.Server
	handler   http.Handler
	url       string
}

// New returns a Server without queues, tables and metrics, in memory only: [Server.Config] is
// for its clients in this process, and it can be given to an HTTP server as its handler.
// Nil options mean the defaults.
func New(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	set := &localaws.Options{Region: o.Region, Account: o.Account}
	if o.Clock != nil {
		set.Clock = timers{o.Clock}
	}
	emulators := localaws.New(set)
	return &Server{
		emulators: emulators, handler: localguard.API{Refuse: localaws.Refuse}.Handler(emulators),
	}
}

// Start is [New] with a port on 127.0.0.1, for clients in other processes and languages. The
// port is closed at the end of the test.
func Start(t testing.TB, o *Options) *Server {
	t.Helper()
	s := New(o)
	web := httptest.NewServer(s)
	s.url = web.URL
	t.Cleanup(func() {
		web.CloseClientConnections() // long polls would be waited for
		web.Close()
	})
	return s
}

// URL is the endpoint of all services, such as http://127.0.0.1:41234; empty after [New].
func (s *Server) URL() string { return s.url }

// Config is the configuration for clients of aws-sdk-go-v2 in this process. They call the
// server without a socket, so it can be used in a bubble of testing/synctest.
func (s *Server) Config() aws.Config {
	config := localtest.Config(s.emulators)
	if s.url != "" {
		config.BaseEndpoint = aws.String(s.url)
	}
	return config
}

// ServeHTTP answers a call. Like the ports of sqsafe local it refuses calls from web pages,
// and for hosts that are not this machine.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }
