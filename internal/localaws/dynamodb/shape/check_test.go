package shape_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/shape"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type inner struct {
	Kind  string `rule:"enum=A|B"`
	Count *int64 `rule:"required,long,range=1..9"`
}

type embedded struct {
	Limit *int `rule:"range=1.."`
}

type request struct {
	embedded

	Name  string `rule:"required,table"`
	On    bool
	List  []inner            `rule:"len=1..2,is=Inner"`
	Words []string           `rule:"each=len=1..3"`
	Map   map[string][]inner `rule:"keys=table,values=1..2,is=Inner"`
	One   *inner             `rule:"is=Inner"`
	Item  attribute.Item
	Value attribute.Value
}

func ExampleRules() {
	type parameters struct {
		TableName string `rule:"required,len=3..255"`
	}
	members, _ := shape.Object([]byte(`{"TableName":"a"}`))
	_, rule, _ := strings.Cut(shape.Rules(members, reflect.TypeFor[parameters]()).Error(), "detected: ")
	fmt.Println(rule)
	// Output:
	// Value 'a' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: "",
		`{"Name":null,"On":null,"List":null,"Map":null,"One":null,"Item":null,"Value":null}`:     "",
		`{"Name":"a","On":true,"List":[{"Count":1}],"Item":{"a":{"M":{"b":{"L":[{"N":"1"}]}}}}}`: "",
		`{"Name":1}`:                   "NUMBER_VALUE cannot be converted to String",
		`{"Name":1.5}`:                 "DECIMAL_VALUE cannot be converted to String",
		`{"Name":true}`:                "TRUE_VALUE cannot be converted to String",
		`{"Name":[]}`:                  "Unrecognized collection type class java.lang.String",
		`{"Name":{}}`:                  "Start of structure or map found where not expected",
		`{"On":"perhaps"}`:             "Unexpected token received from parser",
		`{"On":1}`:                     "NUMBER_VALUE cannot be converted to Boolean",
		`{"Limit":"1"}`:                "STRING_VALUE cannot be converted to Integer",
		`{"One":{"Count":false}}`:      "FALSE_VALUE cannot be converted to Long",
		`{"One":[]}`:                   "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Inner",
		`{"One":1}`:                    "Unexpected field type",
		`{"List":{}}`:                  "Start of structure or map found where not expected",
		`{"List":"a"}`:                 "Unexpected field type",
		`{"List":["a"]}`:               "Unexpected value type in payload",
		`{"Words":[1]}`:                "NUMBER_VALUE cannot be converted to String",
		`{"Map":{"abc":1}}`:            "ParameterizedTypeImpl cannot be cast",
		`{"Map":[]}`:                   "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<",
		`{"Item":[]}`:                  "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
		`{"Item":{"a":1}}`:             "Unexpected value type in payload",
		`{"Item":{"a":{"S":1}}}`:       "NUMBER_VALUE cannot be converted to String",
		`{"Item":{"a":{"B":"abc"}}}`:   "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
		`{"Item":{"a":{"B":"=+/="}}}`:  "Invalid last non-pad Base64 character",
		`{"Item":{"a":{"BS":[true]}}}`: "only base-64-encoded strings are convertible to bytes",
		`{"Item":{"a":{"L":[[]]}}}`:    "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
		`{"Item":{"a":{"M":{"b":{"BOOL":"maybe"}}}}}`: "Unexpected token received from parser",
		`{"Value":{"NS":"1"}}`:                        "Unexpected field type",
	} {
		members, err := shape.Object([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, body, shape.Types(members, reflect.TypeFor[request]()), "SerializationException", want)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const at = "Value %s at '%s' failed to satisfy constraint: Member must "
	for body, want := range map[string]string{
		`{"Name":"abc"}`: "",
		`{"Name":"arn:aws:dynamodb:eu-west-1:000000000000:table/` + strings.Repeat("x", 250) + `"}`: "",
		`{}`: "1 validation error detected: " + fmt.Sprintf(at, "null", "name") + "not be null",
		`{"Name":"a;"}`: "2 validation errors detected: " + fmt.Sprintf(at, "'a;'", "name") +
			"satisfy regular expression pattern: [a-zA-Z0-9_.-]+; " + fmt.Sprintf(at, "'a;'", "name") +
			"have length greater than or equal to 3",
		`{"Name":"abc","Limit":0}`:          fmt.Sprintf(at, "'0'", "limit") + "have value greater than or equal to 1",
		`{"Name":"abc","One":{"Count":10}}`: fmt.Sprintf(at, "'10'", "one.count") + "have value less than or equal to 9",
		`{"Name":"abc","One":{}}`:           fmt.Sprintf(at, "null", "one.count") + "not be null",
		`{"Name":"abc","List":[]}`:          fmt.Sprintf(at, "'[]'", "list") + "have length greater than or equal to 1",
		`{"Name":"abc","List":[{"Kind":"C","Count":1}]}`: fmt.Sprintf(at, "'C'", "list.1.member.kind") +
			"satisfy enum value set: [A, B]",
		`{"Name":"abc","Words":["abcd"]}`: fmt.Sprintf(at, "'abcd'", "words.1.member") +
			"have length less than or equal to 3",
		`{"Name":"abc","Map":{"a":[{"Count":1}]}}`: "Map keys must satisfy constraint: [Member must have length less than " +
			"or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression",
		`{"Name":"abc","Map":{"abc":[]}}`: "Map value must satisfy constraint: [Member must have length less than " +
			"or equal to 2",
	} {
		members, err := shape.Object([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, body, shape.Rules(members, reflect.TypeFor[request]()), "ValidationException", want)
	}
}

func TestWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `"x"`, `1`, `{} {}`} {
		_, err := shape.Object([]byte(body))
		wantError(t, body, err, "SerializationException", "the request is not")
	}
}

func wantError(t *testing.T, body string, err error, code, message string) {
	t.Helper()
	refusal, ok := errors.AsType[*protocol.Error](err)
	switch {
	case message == "" && err != nil:
		t.Errorf("%s: %v", body, err)
	case message != "" && (!ok || refusal.Code != code || !strings.Contains(refusal.Message, message)):
		t.Errorf("%s: got %v, want %s: %s", body, err, code, message)
	}
}

// Any text is accepted or refused with an error of the service.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"Name":"abc","On":true,"Limit":1,"List":[{"Kind":"A","Count":1}],"Words":["a"],"Map":{"abc":[{"Count":1}]}}`,
		`{"Item":{"a":{"S":"x"},"b":{"M":{"c":{"L":[{"BS":["AQ=="]}]}}}},"Value":{"NULL":true},"One":{"Count":9}}`,
		`{"Name":["a"],"Item":{"a":[]}}`, `{"Limit":1e400}`, `null`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := shape.Object(body)
		if err == nil {
			err = errors.Join(shape.Types(members, reflect.TypeFor[request]()))
		}
		if err == nil {
			err = errors.Join(shape.Rules(members, reflect.TypeFor[request]()))
		}
		if _, ok := errors.AsType[*protocol.Error](err); err != nil && !ok {
			t.Errorf("%q: %v is no error of the service", body, err)
		}
	})
}
