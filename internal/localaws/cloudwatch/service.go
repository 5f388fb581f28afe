package cloudwatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Options are the settings of a [Service].
type Options struct {
	// Clock gives the time; nil means the machine's clock.
	Clock protocol.Clock
	// Region and Account are what ARNs name.
	Region, Account string
}

// Service holds the metrics, alarms and dashboards of one account in one
// region. It is safe for concurrent use.
type Service struct {
	clock           protocol.Clock
	region, account string

	mu         sync.Mutex
	metrics    map[string]*metric // by key
	alarms     map[string]*alarm  // by name
	dashboards map[string]*dashboard
}

// New returns a Service that holds nothing. Nil options are the zero value.
func New(o *Options) *Service {
	var set Options
	if o != nil {
		set = *o
	}
	if set.Clock == nil {
		set.Clock = protocol.SystemClock{}
	}
	return &Service{
		clock: set.Clock, region: set.Region, account: set.Account,
		metrics: map[string]*metric{}, alarms: map[string]*alarm{}, dashboards: map[string]*dashboard{},
	}
}

// operation answers one kind of request.
type operation func(s *Service, r *protocol.Request) (any, error)

var operations = map[string]operation{
	"DeleteAlarms":        locked((*Service).deleteAlarms),
	"DeleteDashboards":    locked((*Service).deleteDashboards),
	"DescribeAlarms":      locked((*Service).describeAlarms),
	"GetDashboard":        locked((*Service).getDashboard),
	"GetMetricData":       locked((*Service).getMetricData),
	"GetMetricStatistics": locked((*Service).getMetricStatistics),
	"ListDashboards":      locked((*Service).listDashboards),
	"ListMetrics":         locked((*Service).listMetrics),
	"PutDashboard":        locked((*Service).putDashboard),
	"PutMetricAlarm":      locked((*Service).putMetricAlarm),
	"PutMetricData":       locked((*Service).putMetricData),
	"SetAlarmState":       locked((*Service).setAlarmState),
}

// Operate answers one request, whose body is JSON. The response marshals to
// what AWS answers with; a refusal is a [*protocol.Error].
func (s *Service) Operate(_ context.Context, r *protocol.Request) (response any, err error) {
	run, ok := operations[r.Operation]
	if !ok {
		return nil, &protocol.Error{
			Code: "UnknownOperationException",
			Message: fmt.Sprintf("this emulator for CloudWatch does not implement %s; it has %s",
				r.Operation, strings.Join(slices.Sorted(maps.Keys(operations)), ", ")),
		}
	}
	return run(s, r)
}

// locked makes an operation of a method that works under the lock.
func locked[In, Out any](f func(*Service, In) (Out, error)) operation {
	return func(s *Service, r *protocol.Request) (any, error) {
		var in In
		if err := r.Decode(&in); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return f(s, in)
	}
}

type empty struct{}
