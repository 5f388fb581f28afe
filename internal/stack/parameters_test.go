package stack

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	const file = "testdata/template.yaml"
	tests := []struct {
		name  string
		given map[string]string
		// value is the expected value of Ref Mode; err is the expected error
		// after the file's name.
		value, err string
	}{
		{name: "none given", value: "fast"},
		{name: "given", given: map[string]string{"Mode": "slow"}, value: "slow"},
		{name: "number at its bounds", given: map[string]string{"Wait": "300"}, value: "fast"},
		{
			name: "unknown", given: map[string]string{"Mood": "slow"},
			err: ": no parameter Mood to override: the template has Key, Mode, Open, Wait",
		},
		{
			name: "out of range", given: map[string]string{"Wait": "301"},
			err: `:2: parameter Wait: "301" is above its MaxValue 300`,
		},
		{
			name: "no number", given: map[string]string{"Wait": ""},
			err: `:2: parameter Wait: "" is not a number`,
		},
		{
			name: "pattern matches a part only", given: map[string]string{"Mode": "slow1"},
			err: `:3: parameter Mode: "slow1" does not match its AllowedPattern [a-z]+ (small letters)`,
		},
		{
			name: "secret", given: map[string]string{"Key": "abc"},
			err: ":4: parameter Key: (hidden) is below its MinLength 4",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(sound, "VALUE: plain", "VALUE: !Ref Mode", 1)
			s, err := parseSAM(filepath.FromSlash(file), text, &Options{Parameters: tt.given})
			if tt.err != "" {
				if err == nil || strings.TrimPrefix(err.Error(), file) != tt.err {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Functions[0].Environment["VALUE"]; got != tt.value {
				t.Errorf("Ref Mode = %q, want %q", got, tt.value)
			}
		})
	}
}

func TestParameterWithoutDefaultTakesTheGivenValue(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sound, "VALUE: plain", "VALUE: !Ref Open", 1)
	text = strings.Replace(text, "Open: {Type: String}",
		"Open: {Type: AWS::SSM::Parameter::Value<String>, Default: /open}", 1)
	_, err := parseSAM("testdata/template.yaml", text, nil)
	want := "testdata/template.yaml:5: parameter Open: its value is stored in AWS: give it one, as in Open=VALUE"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	s, err := parseSAM("testdata/template.yaml", text, &Options{Parameters: map[string]string{"Open": "here"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Functions[0].Environment["VALUE"]; got != "here" {
		t.Errorf("VALUE = %q, want the value given", got)
	}
}

func TestJavaPatternIsNoted(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sound, `"[a-z]+"`, `"(?=f).*"`, 1)
	s, err := parseSAM("testdata/template.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "testdata/template.yaml:3: parameter Mode: its AllowedPattern is not checked here"
	if len(s.Notes) == 0 || s.Notes[0] != want {
		t.Errorf("notes %q, want %q first", s.Notes, want)
	}
}
