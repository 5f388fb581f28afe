package cbor

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Marshal encodes a value as CBOR, with the names and omissions that the json
// tags of its structs define. A [protocol.Timestamp] becomes a timestamp.
func Marshal(v any) ([]byte, error) {
	return appendValue(nil, reflect.ValueOf(v))
}

// appendHead encodes the first byte of an item and its argument.
func appendHead(b []byte, major byte, argument uint64) []byte {
	first := major << 5
	switch {
	case argument < oneByte:
		return append(b, first|byte(argument))
	case argument <= math.MaxUint8:
		return append(b, first|oneByte, byte(argument))
	case argument <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, first|(oneByte+1)), uint16(argument))
	case argument <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, first|(oneByte+2)), uint32(argument))
	}
	return binary.BigEndian.AppendUint64(append(b, first|eightBytes), argument)
}

func appendFloat(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, simpleFloat64), math.Float64bits(f))
}

func appendText(b []byte, text string) []byte {
	return append(appendHead(b, majorText, uint64(len(text))), text...)
}

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, simpleNull), nil
	}
	if t, ok := reflect.TypeAssert[protocol.Timestamp](v); ok {
		return appendFloat(appendHead(b, majorTag, tagEpoch), t.Seconds()), nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendValue(b, v.Elem())
	case reflect.String:
		return appendText(b, v.String()), nil
	case reflect.Bool:
		if v.Bool() {
			return append(b, simpleTrue), nil
		}
		return append(b, simpleFalse), nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		if n := v.Int(); n < 0 {
			return appendHead(b, majorNegative, uint64(-1-n)), nil
		}
		return appendHead(b, majorUint, uint64(v.Int())), nil
	case reflect.Float64:
		return appendFloat(b, v.Float()), nil
	case reflect.Slice:
		return appendArray(b, v)
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	default:
		return nil, fmt.Errorf("cbor: a %s cannot be written", v.Type())
	}
}

func appendArray(b []byte, v reflect.Value) (_ []byte, err error) {
	b = appendHead(b, majorArray, uint64(v.Len()))
	for i := 0; i < v.Len() && err == nil; i++ {
		b, err = appendValue(b, v.Index(i))
	}
	return b, err
}

func appendMap(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("cbor: a %s cannot be written", v.Type())
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b = appendHead(b, majorMap, uint64(len(keys)))
	for _, key := range keys {
		if b, err = appendValue(appendText(b, key.String()), v.MapIndex(key)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	var body []byte
	n := 0
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value := v.FieldByIndex(field.Index)
		empty := value.IsZero() || (value.Kind() == reflect.Slice && value.Len() == 0)
		if field.Anonymous || !field.IsExported() || (options == "omitempty" && empty) {
			continue
		}
		if name == "" {
			name = field.Name
		}
		n++
		if body, err = appendValue(appendText(body, name), value); err != nil {
			return nil, err
		}
	}
	return append(appendHead(b, majorMap, uint64(n)), body...), nil
}
