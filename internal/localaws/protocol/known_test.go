package protocol

import (
	"encoding/json"
	"reflect"
	"testing"
)

// leaf and tree are types of all kinds that requests have.
type leaf struct {
	Name string `json:"name,omitempty"`
	Raw  json.RawMessage
}

type tree struct {
	leaf
	One   *tree
	List  []leaf
	Deep  [][]*leaf
	Named map[string]leaf
	At    *Timestamp
	Bytes []byte
	Any   any
}

// What the quick look finds to be known, the thorough one finds to be known, too.
func FuzzSurelyKnown(f *testing.F) {
	for text := range quickly {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		of := reflect.TypeFor[*tree]()
		if !json.Valid(text) || !surelyKnown(text, of) {
			return
		}
		if name, _ := unknownMember(text, of); name != "" {
			t.Errorf("%q: %s is known on the quick way only", text, name)
		}
	})
}

// quickly are texts, and whether a quick look is enough.
var quickly = map[string]bool{
	`{}`:                                     true,
	`{ "name" : "a\"}\\" , "Raw":{"x":[]} }`: true,
	`{"One":{"One":null,"List":[{},{"name":"b"}]},"Deep":[[{"name":"c"},null],[]]}`: true,
	`{"Named":{"a\"b":{"name":""}},"At":1e9,"Bytes":"AA==","Any":[{"x":-1.5E+3}]}`:  true,
	`{"List":[true,false,null,1]}`: true,
	`{"Name":"a"}`:                 false,
	`{"na\u006de":"a"}`:            false,
	`{"leaf":{}}`:                  false,
	`{"One":{"other":1}}`:          false,
	`{"Deep":[[{"other":1}]]}`:     false,
	`{"Named":{"a":{"other":1}}}`:  false,
	`{"List":{}}`:                  false,
	`[]`:                           false,
	``:                             false,
	`{"name":"a`:                   false,
	`{"name"`:                      false,
	`{"name":"a\`:                  false,
}

func TestMostMembersAreFoundQuickly(t *testing.T) {
	t.Parallel()
	for text, want := range quickly {
		if got := surelyKnown([]byte(text), reflect.TypeFor[*tree]()); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
