// Package testhost is what package sqsafetest tells a host of the function under test:
// an environment that is not the process's, and a ledger that is not a table.
package testhost

import (
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// Config makes a host one of a test. It goes to sqsafe.NewHost in the ConfigSources of
// its aws.Config, so that it is no part of the public surface of package sqsafe.
type Config struct {
	// LookupEnv takes the place of os.LookupEnv.
	LookupEnv func(name string) (value string, ok bool)
	// Store takes the place of the ledger's table.
	Store idem.Store
	// Made is told what the processor of the function is made of.
	Made func(handler.Handler, handler.Options)
}

// From is the Config among the configuration sources; nil if there is none.
func From(sources []any) *Config {
	for _, source := range sources {
		if c, ok := source.(*Config); ok {
			return c
		}
	}
	return nil
}
