package alarm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/stack"
)

const smallTemplate = `
Transform: AWS::Serverless-2016-10-31
Parameters:
  Limit: {Type: Number, Default: 3}
  Loud: {Type: String, Default: "true"}
Conditions:
  IsLoud: !Equals [!Ref Loud, "true"]
  Never: !Equals [a, b]
Resources:
  Topic: {Type: AWS::SNS::Topic}
  Jobs: {Type: AWS::SQS::Queue, Properties: {QueueName: jobs}}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: .
      Events:
        Job: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}
  Absent:
    Type: AWS::CloudWatch::Alarm
    Condition: Never
    Properties: {MetricName: M}
  OldAlarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmName: old
      AlarmDescription: !Sub Look into ${Jobs.QueueName}.
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Jobs.QueueName}]
      Statistic: Maximum
      Period: 300
      EvaluationPeriods: 2
      ComparisonOperator: GreaterThanOrEqualToThreshold
      Threshold: 1.5
      ActionsEnabled: false
      OKActions: [!Ref Topic]
      Unit: !If [Never, Seconds, !Ref AWS::NoValue]
  FailuresAlarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Metrics:
        - {Id: share, Label: Share, Expression: 100*f}
        - Id: f
          ReturnData: false
          MetricStat:
            Metric:
              Namespace: AWS/Lambda
              MetricName: FailedInvokeEventCount
              Dimensions: [{Name: EventSourceMappingUUID, Value: !Ref WorkJob}]
            Period: 60
            Stat: Sum
      EvaluationPeriods: 5
      DatapointsToAlarm: 3
      ComparisonOperator: GreaterThanThreshold
      Threshold: !Ref Limit
      TreatMissingData: notBreaching
      AlarmActions: !If [IsLoud, [!Ref Topic], !Ref AWS::NoValue]
      InsufficientDataActions: [arn:aws:sns:eu-west-1:123456789012:doubt]
      Tags: [{Key: team, Value: jobs}]
`

// readSmall reads the small template with a part of it replaced.
func readSmall(t *testing.T, old, replacement string, parameters map[string]string) ([]stack.Alarm, error) {
	t.Helper()
	if !strings.Contains(smallTemplate, old) {
		t.Fatalf("the template has no %q", old)
	}
	path := filepath.Join(t.TempDir(), "template.yaml")
	text := strings.Replace(smallTemplate, old, replacement, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return stack.ReadAlarms(path, &stack.Options{Parameters: parameters})
}

func TestReadAlarms(t *testing.T) {
	t.Parallel()
	got, err := readSmall(t, "", "", nil)
	want := []stack.Alarm{
		{LogicalID: "OldAlarm", Definition: alarm.Definition{
			Name: "old", Description: "Look into jobs.",
			Queries: []alarm.Query{{
				ID: "m", ReturnData: true, Statistic: "Maximum", Period: 5 * time.Minute,
				Metric: alarm.Metric{
					Namespace: "AWS/SQS", Name: "ApproximateAgeOfOldestMessage",
					Dimensions: []alarm.Dimension{{Name: "QueueName", Value: "jobs"}},
				},
			}},
			ComparisonOperator: "GreaterThanOrEqualToThreshold", Threshold: 1.5, EvaluationPeriods: 2,
			ActionsDisabled: true, OKActions: []string{"Topic"},
		}},
		{LogicalID: "FailuresAlarm", Definition: alarm.Definition{
			Name: "FailuresAlarm",
			Queries: []alarm.Query{
				{ID: "share", Expression: "100*f", ReturnData: true},
				{ID: "f", Statistic: "Sum", Period: time.Minute, Metric: alarm.Metric{
					Namespace: "AWS/Lambda", Name: "FailedInvokeEventCount",
					Dimensions: []alarm.Dimension{{Name: "EventSourceMappingUUID", Value: "WorkJob"}},
				}},
			},
			ComparisonOperator: "GreaterThanThreshold", Threshold: 3, EvaluationPeriods: 5, DatapointsToAlarm: 3,
			TreatMissingData: "notBreaching", AlarmActions: []string{"Topic"},
			InsufficientDataActions: []string{"arn:aws:sns:eu-west-1:123456789012:doubt"},
		}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	e := alarm.NewEvaluator(midnight, nil)
	for _, a := range got {
		watch(t, e, a.Definition)
	}
}

func TestReadAlarmsTakesParameters(t *testing.T) {
	t.Parallel()
	got, err := readSmall(t, "", "", map[string]string{"Limit": "7", "Loud": "false"})
	if err != nil || got[1].Definition.Threshold != 7 || got[1].Definition.AlarmActions != nil {
		t.Errorf("got %+v (%v), want a threshold of 7 and no actions", got, err)
	}
}

// What a definition has no place for is named, so that its evaluator refuses it.
func TestReadAlarmsNamesOtherProperties(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ old, replacement, want string }{
		{"Statistic: Maximum", "ExtendedStatistic: p99", "ExtendedStatistic"},
		{"Unit: !If [Never", "Unit: !If [IsLoud", "Unit"},
		{"Label: Share,", "Period: 60,", "Period"},
		{"Stat: Sum", "Stat: Sum\n            Unit: Count", "Unit"},
		{"Tags: [", "EvaluationWindow: {SlidingWindow: {}}\n      Tags: [", "EvaluationWindow"},
	} {
		got, err := readSmall(t, row.old, row.replacement, nil)
		var other []string
		for _, a := range got {
			other = append(other, a.Definition.Other...)
		}
		if d := cmp.Diff([]string{row.want}, other); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", row.replacement, err, d)
		}
	}
}

func TestReadAlarmsRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ old, replacement, want string }{
		{"!Ref WorkJob", "!Ref WorkShift", "Ref WorkShift: no such parameter or resource"},
		{"Threshold: 1.5", "Threshold: high", `OldAlarm: Threshold "high": a number is needed`},
		{"EvaluationPeriods: 2", "EvaluationPeriods: 0", `EvaluationPeriods "0": a whole number from 1`},
		{"Period: 300", "Period: often", `Period "often": a whole number from 1 to`},
		{"ReturnData: false", "ReturnData: no", `ReturnData "no": true or false is needed`},
		{"OKActions: [!Ref Topic]", "OKActions: {}", "OldAlarm: OKActions must be a list"},
		{"Metrics:\n", "Metrics: [3]\n      Other:\n", "FailuresAlarm: Metrics 1 must be a mapping"},
	} {
		_, err := readSmall(t, row.old, row.replacement, nil)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want an error with %q", row.replacement, err, row.want)
		}
	}
	if _, err := stack.ReadAlarms(filepath.Join(t.TempDir(), "none.yaml"), nil); err == nil {
		t.Error("a template that is not there was read")
	}
}
