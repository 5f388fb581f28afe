package cloudwatch

import (
	"slices"
	"strings"
)

const maxAlarms = 100 // of a request, as AWS sets it

type describeAlarmsInput struct {
	AlarmNames          []string
	AlarmNamePrefix     string
	AlarmTypes          []string
	StateValue          string
	ActionPrefix        string
	ChildrenOfAlarmName string
	ParentsOfAlarmName  string
	MaxRecords          *int
	NextToken           string
}

type describeAlarmsOutput struct {
	MetricAlarms    []alarm
	CompositeAlarms []empty
	NextToken       string `json:",omitempty"`
}

// describeAlarms shows alarms by name. All of them are metric alarms.
func (s *Service) describeAlarms(in describeAlarmsInput) (*describeAlarmsOutput, error) {
	size := maxAlarms
	if in.MaxRecords != nil {
		size = *in.MaxRecords
	}
	if err := in.check(size); err != nil {
		return nil, err
	}
	names := withPrefix(s.alarms, in.AlarmNamePrefix)
	names = slices.DeleteFunc(names, func(name string) bool { return !in.wants(s.alarms[name]) })
	names, token, err := page(names, in.NextToken, size)
	if err != nil {
		return nil, err
	}
	out := &describeAlarmsOutput{MetricAlarms: []alarm{}, CompositeAlarms: []empty{}, NextToken: token}
	for _, name := range names {
		out.MetricAlarms = append(out.MetricAlarms, *s.alarms[name])
	}
	return out, nil
}

func (in describeAlarmsInput) check(size int) error {
	if err := checkNames(in.AlarmNames); err != nil {
		return err
	}
	switch {
	case size < 1 || size > maxAlarms:
		return invalid("The value %d for parameter MaxRecords is invalid: it can be from 1 to %d.", size, maxAlarms)
	case len(in.AlarmNames) > 0 && in.AlarmNamePrefix != "":
		return combination("AlarmNames and AlarmNamePrefix are mutually exclusive.")
	}
	return unimplemented("DescribeAlarms", map[string]bool{
		"ChildrenOfAlarmName": in.ChildrenOfAlarmName != "", "ParentsOfAlarmName": in.ParentsOfAlarmName != "",
	})
}

func (in describeAlarmsInput) wants(a *alarm) bool {
	return (len(in.AlarmNames) == 0 || slices.Contains(in.AlarmNames, a.AlarmName)) &&
		(len(in.AlarmTypes) == 0 || slices.Contains(in.AlarmTypes, "MetricAlarm")) &&
		(in.StateValue == "" || in.StateValue == a.StateValue) &&
		(in.ActionPrefix == "" || slices.ContainsFunc(
			slices.Concat(a.AlarmActions, a.OKActions, a.InsufficientDataActions),
			func(action string) bool { return strings.HasPrefix(action, in.ActionPrefix) },
		))
}
