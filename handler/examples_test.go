package handler_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/handler"
)

func TestEveryOptionAndOutcomeHasAnExample(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, file := range []string{"example_options_test.go", "example_outcomes_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	want := func(example string) {
		if !strings.Contains(source.String(), "func "+example+"()") {
			t.Errorf("there is no %s", example)
		}
	}
	for field := range reflect.TypeFor[handler.Options]().Fields() {
		want("ExampleOptions_" + strings.ToLower(field.Name[:1]) + field.Name[1:])
	}
	for o := handler.OutcomeNone + 1; o.String() != "invalid"; o++ {
		want("ExampleOutcome_" + o.String())
	}
}
