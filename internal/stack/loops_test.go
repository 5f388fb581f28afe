//nolint:lll // a template is one line
package stack

import (
	"strings"
	"testing"
)

// Templates with loops, as the transform AWS::LanguageExtensions takes them.
func TestLoopsAreWrittenOut(t *testing.T) {
	t.Parallel()
	const head = "Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]\n"
	const function = `
  Work:
    Type: AWS::Serverless::Function
    Properties:
      {Runtime: provided.al2023, Handler: bootstrap, CodeUri: ., Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}}}
  Jobs: {Type: AWS::SQS::Queue}
`
	tests := []struct {
		name, text string
		queues     string // their logical ids and names
		wrong      string // in the error or a note
	}{
		{
			name:   "a list",
			text:   "Fn::ForEach::Each: [Name, [A, B], {'${Name}Queue': {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub 'x-${Name}'}}}]",
			queues: "Jobs=Jobs AQueue=x-A BQueue=x-B",
		},
		{
			name:   "a parameter, Ref of the identifier, and an id without what is no letter",
			text:   "Fn::ForEach::Each: [Name, !Ref Names, {'Q&{Name}': {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref Name}}}]",
			queues: "Jobs=Jobs Qab=a-b Qc=c",
		},
		{
			name: "a loop in a loop",
			text: "Fn::ForEach::Outer: [X, [A, B], {'Fn::ForEach::Inner': " +
				"[Y, ['1', '2'], {'Q${X}${Y}': {Type: AWS::SQS::Queue}}]}]",
			queues: "Jobs=Jobs QA1=QA1 QA2=QA2 QB1=QB1 QB2=QB2",
		},
		{
			name:   "a collection that is known in AWS only",
			text:   "Fn::ForEach::Each: [Name, !Ref Given, {'${Name}': {Type: AWS::SQS::Queue}}]",
			queues: "Jobs=Jobs",
			wrong:  "t.yaml:4: Fn::ForEach::Each is left alone: what it goes through is known in AWS only",
		},
		{
			name:  "an id without the identifier",
			text:  "Fn::ForEach::Each: [Name, [A, B], {Same: {Type: AWS::SQS::Queue}}]",
			wrong: "t.yaml:4: Same is made twice by a loop",
		},
		{
			name:  "no body",
			text:  "Fn::ForEach::Each: [Name, [A, B]]",
			wrong: "t.yaml:4: Fn::ForEach::Each takes a list of an identifier, a collection and a mapping",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := head + "Parameters: {Names: {Type: CommaDelimitedList, Default: 'a-b,c'}, Given: {Type: CommaDelimitedList}}\n" +
				"Resources:\n  " + tt.text + function
			s, err := parseSAM("t.yaml", text, nil)
			var said string
			var got []string
			if err != nil {
				said = err.Error()
			} else {
				said = strings.Join(s.Notes, "\n")
				for _, q := range s.Queues {
					got = append(got, q.LogicalID+"="+q.Name)
				}
			}
			want := strings.Fields(tt.queues)
			if !sameSet(got, want) || !strings.Contains(said, tt.wrong) {
				t.Errorf("queues %v, want %v; said %q, want %q", got, want, said, tt.wrong)
			}
		})
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
