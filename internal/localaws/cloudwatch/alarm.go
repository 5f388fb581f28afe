package cloudwatch

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// The states of an alarm.
const (
	stateOK           = "OK"
	stateAlarm        = "ALARM"
	stateInsufficient = "INSUFFICIENT_DATA"
)

// definition is an alarm as its owner describes it.
type definition struct {
	AlarmName               string
	AlarmDescription        string      `json:",omitempty"`
	ActionsEnabled          *bool       `json:",omitempty"`
	OKActions               []string    `json:",omitempty"`
	AlarmActions            []string    `json:",omitempty"`
	InsufficientDataActions []string    `json:",omitempty"`
	Namespace               string      `json:",omitempty"`
	MetricName              string      `json:",omitempty"`
	Dimensions              []dimension `json:",omitempty"`
	Statistic               string      `json:",omitempty"`
	ExtendedStatistic       string      `json:",omitempty"`
	Period                  *int64      `json:",omitempty"`
	Unit                    string      `json:",omitempty"`
	Metrics                 []dataQuery `json:",omitempty"`
	EvaluationPeriods       *int64      `json:",omitempty"`
	DatapointsToAlarm       *int64      `json:",omitempty"`
	Threshold               *float64    `json:",omitempty"`
	ComparisonOperator      string      `json:",omitempty"`
	TreatMissingData        string      `json:",omitempty"`
	LowSampleCount          string      `json:"EvaluateLowSampleCountPercentile,omitempty"`
}

// alarm is an alarm and its state.
type alarm struct {
	definition
	ARN             string             `json:"AlarmArn"`
	Configured      protocol.Timestamp `json:"AlarmConfigurationUpdatedTimestamp"`
	StateValue      string
	StateReason     string
	StateReasonData string             `json:",omitempty"`
	StateUpdated    protocol.Timestamp `json:"StateUpdatedTimestamp"`
	Transitioned    protocol.Timestamp `json:"StateTransitionedTimestamp"`
}

type putAlarmInput struct {
	definition
	Tags                []any
	ThresholdMetricID   string `json:"ThresholdMetricId"`
	EvaluationInterval  *int64
	EvaluationCriteria  map[string]any
	EvaluationWindow    map[string]any
	WarmUpConfiguration map[string]any
	ActionConfiguration map[string]any
}

// putMetricAlarm creates an alarm, or changes one, whose state stays.
func (s *Service) putMetricAlarm(in putAlarmInput) (empty, error) {
	err := unimplemented("PutMetricAlarm", map[string]bool{
		"Tags": len(in.Tags) > 0, "ThresholdMetricId": in.ThresholdMetricID != "",
		"EvaluationInterval": in.EvaluationInterval != nil, "EvaluationCriteria": in.EvaluationCriteria != nil,
		"EvaluationWindow": in.EvaluationWindow != nil, "WarmUpConfiguration": in.WarmUpConfiguration != nil,
		"ActionConfiguration": in.ActionConfiguration != nil,
	})
	if err == nil {
		err = in.definition.check()
	}
	if err != nil {
		return empty{}, err
	}
	if in.ActionsEnabled == nil {
		enabled := true
		in.ActionsEnabled = &enabled
	}
	now := protocol.Timestamp{Time: s.clock.Now()}
	a := s.alarms[in.AlarmName]
	if a == nil {
		a = &alarm{
			ARN:        "arn:aws:cloudwatch:" + s.region + ":" + s.account + ":alarm:" + in.AlarmName,
			StateValue: stateInsufficient, StateReason: "Unchecked: Initial alarm creation",
			StateUpdated: now, Transitioned: now,
		}
		s.alarms[in.AlarmName] = a
	}
	a.definition, a.Configured = in.definition, now
	return empty{}, nil
}

type setStateInput struct {
	AlarmName       string
	StateValue      string
	StateReason     *string
	StateReasonData string
}

// setAlarmState sets the state of an alarm, which none changes until the next call.
func (s *Service) setAlarmState(in setStateInput) (empty, error) {
	a := s.alarms[in.AlarmName]
	switch {
	case in.AlarmName == "":
		return empty{}, missing("AlarmName")
	case in.StateValue != stateOK && in.StateValue != stateAlarm && in.StateValue != stateInsufficient:
		return empty{}, invalid("The value %q for parameter StateValue is invalid: it can be OK, ALARM or "+
			"INSUFFICIENT_DATA.", in.StateValue)
	case in.StateReason == nil:
		return empty{}, missing("StateReason")
	case a == nil:
		return empty{}, noAlarm(in.AlarmName)
	}
	a.set(in, s.clock.Now())
	return empty{}, nil
}

func (a *alarm) set(in setStateInput, now time.Time) {
	if a.StateValue != in.StateValue {
		a.Transitioned = protocol.Timestamp{Time: now}
	}
	a.StateValue, a.StateReason, a.StateReasonData = in.StateValue, *in.StateReason, in.StateReasonData
	a.StateUpdated = protocol.Timestamp{Time: now}
}

func noAlarm(name string) error {
	return notFound("ResourceNotFound", "The alarm %s does not exist.", name)
}

type deleteAlarmsInput struct{ AlarmNames []string }

// deleteAlarms deletes all of the alarms, or none.
func (s *Service) deleteAlarms(in deleteAlarmsInput) (empty, error) {
	if err := checkNames(in.AlarmNames); err != nil {
		return empty{}, err
	}
	if len(in.AlarmNames) == 0 {
		return empty{}, missing("AlarmNames")
	}
	for _, name := range in.AlarmNames {
		if s.alarms[name] == nil {
			return empty{}, noAlarm(name)
		}
	}
	for _, name := range in.AlarmNames {
		delete(s.alarms, name)
	}
	return empty{}, nil
}

func checkNames(names []string) error {
	if len(names) > maxAlarms {
		return invalid("The collection AlarmNames must not have a size greater than %d.", maxAlarms)
	}
	return nil
}
