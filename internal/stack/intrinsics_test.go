package stack

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// evaluated returns the value of the variable VALUE of the function in the
// template sound, if its expression is this one. The second result is false if
// the variable is not set.
func evaluated(t interface{ Fatal(...any) }, expression string) (string, bool) {
	text := strings.Replace(sound, "VALUE: plain", "VALUE: "+expression, 1)
	s, err := parseSAM(filepath.Join("testdata", "template.yaml"), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := s.Functions[0].Environment["VALUE"]
	return got, ok
}

func TestIntrinsicFunctionsAreEvaluated(t *testing.T) {
	t.Parallel()
	const account = "us-east-1:123456789012:"
	tests := []struct{ name, short, long, want string }{
		{"Ref of a parameter", `!Ref Mode`, `{Ref: Mode}`, "fast"},
		{"Ref of a queue", `!Ref Dead`, `{Ref: Dead}`, "https://sqs.us-east-1.amazonaws.com/123456789012/Dead"},
		{"Ref of a table", `!Ref Ledger`, `{Ref: Ledger}`, "Ledger"},
		{"Ref of a function", `!Ref Worker`, `{Ref: Worker}`, "Worker"},
		{"Ref of a region", `!Ref "AWS::Region"`, `{Ref: "AWS::Region"}`, "us-east-1"},
		{"GetAtt of a queue", `!GetAtt Dead.Arn`, `{"Fn::GetAtt": [Dead, Arn]}`, "arn:aws:sqs:" + account + "Dead"},
		{"GetAtt of a table", `!GetAtt Ledger.Arn`, `{"Fn::GetAtt": Ledger.Arn}`,
			"arn:aws:dynamodb:" + account + "table/Ledger"},
		{"GetAtt of a function", `!GetAtt Worker.Arn`, `{"Fn::GetAtt": Worker.Arn}`,
			"arn:aws:lambda:" + account + "function:Worker"},
		{"Sub", `!Sub "${Mode}/${Dead.QueueName}"`, `{"Fn::Sub": "${Mode}/${Dead.QueueName}"}`, "fast/Dead"},
		{"Sub of a literal", `!Sub "a ${!Mode} b"`, `{"Fn::Sub": "a ${!Mode} b"}`, "a ${Mode} b"},
		{"Sub with variables", `!Sub ["${A}-${Mode}", {A: !Ref Wait}]`,
			`{"Fn::Sub": ["${A}-${Mode}", {A: {Ref: Wait}}]}`, "60-fast"},
		{"Sub's variable hides a parameter", `!Sub ["${Mode}", {Mode: own}]`,
			`{"Fn::Sub": ["${Mode}", {Mode: own}]}`, "own"},
		{"Join", `!Join [":", [a, !Ref Mode, !Ref "AWS::NoValue"]]`,
			`{"Fn::Join": [":", [a, {Ref: Mode}, {Ref: "AWS::NoValue"}]]}`, "a:fast"},
		{"Select", `!Select [1, [a, !Ref Mode]]`, `{"Fn::Select": ["1", [a, {Ref: Mode}]]}`, "fast"},
		{"Split", `!Select [1, !Split [",", "a,b"]]`, `{"Fn::Select": [1, {"Fn::Split": [",", "a,b"]}]}`, "b"},
		{"FindInMap", `!FindInMap [Sizes, small, memory]`, `{"Fn::FindInMap": [Sizes, small, memory]}`, "128"},
		{"If that holds", `!If [Fast, yes, no]`, `{"Fn::If": [Fast, yes, no]}`, "yes"},
		{"If that does not hold", `!If [Slow, yes, no]`, `{"Fn::If": [Slow, yes, no]}`, "no"},
		{"If that hides what is in AWS", `!If [Slow, !ImportValue a, here]`,
			`{"Fn::If": [Slow, {"Fn::ImportValue": a}, here]}`, "here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, form := range []string{tt.short, tt.long} {
				if got, _ := evaluated(t, form); got != tt.want {
					t.Errorf("%s = %q, want %q", form, got, tt.want)
				}
			}
		})
	}
}

func TestNoValueLeavesAVariableOut(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{`!Ref "AWS::NoValue"`, `!If [Slow, a, !Ref "AWS::NoValue"]`} {
		if got, ok := evaluated(t, expression); ok {
			t.Errorf("%s = %q, want no variable", expression, got)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		condition string
		want      bool
	}{
		{"!Equals [a, a]", true},
		{"!Equals [a, A]", false},
		{"!Equals [!Ref Mode, fast]", true},
		{"!Not [!Equals [a, a]]", false},
		{"!And [!Equals [a, a], !Equals [b, b]]", true},
		{"!And [!Equals [a, a], !Equals [a, b]]", false},
		{"!Or [!Equals [a, b], !Equals [b, b]]", true},
		{"!Or [!Equals [a, b], !Equals [b, a]]", false},
		{"{Condition: Slow}", false},
		{`{"Fn::Not": [{Condition: Slow}]}`, true},
	}
	for _, tt := range tests {
		text := strings.Replace(sound, "!Not [!Condition Loop]", tt.condition, 1)
		text = strings.Replace(text, "VALUE: plain", "VALUE: !If [Loop, true, false]", 1)
		s, err := parseSAM(filepath.Join("testdata", "template.yaml"), text, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.condition, err)
			continue
		}
		if got := s.Functions[0].Environment["VALUE"]; got != strconv.FormatBool(tt.want) {
			t.Errorf("%s is %s, want %t", tt.condition, got, tt.want)
		}
	}
}

func TestInvalidConditionsAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ condition, want string }{
		{"!Ref Mode", ":9: not a condition: write Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition"},
		{"!Equals [a]", ":9: Fn::Equals takes a list of 2"},
		{"!And [!Equals [a, a]]", ":9: Fn::And takes a list of 2 to 10"},
		{"!Not a", ":9: Fn::Not takes a list of 1"},
	}
	file := filepath.Join("testdata", "template.yaml")
	for _, tt := range tests {
		text := strings.Replace(sound, "!Not [!Condition Loop]", tt.condition, 1)
		text = strings.Replace(text, "VALUE: plain", "VALUE: !If [Loop, true, false]", 1)
		_, err := parseSAM(file, text, nil)
		if err == nil || strings.TrimPrefix(err.Error(), file) != tt.want {
			t.Errorf("%s: error %v, want %s", tt.condition, err, tt.want)
		}
	}
}

// TestSubKeepsOtherText checks that Fn::Sub does not change a text without
// variables.
func TestSubKeepsOtherText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9 $}/:._-]{0,40}`).Draw(t, "text")
		if got, _ := evaluated(t, "!Sub "+strconv.Quote(text)); got != text {
			t.Fatalf("Fn::Sub %q = %q", text, got)
		}
	})
}

// TestSplitIsTheInverseOfJoin covers items that do not contain the separator.
func TestSplitIsTheInverseOfJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,5}`), 1, 6).Draw(t, "items")
		index := rapid.IntRange(0, len(items)-1).Draw(t, "index")
		quoted := make([]string, len(items))
		for i, item := range items {
			quoted[i] = strconv.Quote(item)
		}
		expression := "!Select [" + strconv.Itoa(index) + `, !Split [",", !Join [",", [` + strings.Join(quoted, ", ") + "]]]]"
		if got, _ := evaluated(t, expression); got != items[index] {
			t.Fatalf("%s = %q, want %q", expression, got, items[index])
		}
	})
}
