package cbor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Major types: the upper three bits of the first byte of an item.
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Values of the lower five bits of the first byte, other than small numbers.
const (
	oneByte    = 24 // the argument follows in 1 byte, or in 2, 4 or 8 with the next values
	eightBytes = 27
	indefinite = 31 // the item ends with a break
)

// Simple values and floats, of the last major type.
const (
	simpleFalse     = 0xf4
	simpleTrue      = 0xf5
	simpleNull      = 0xf6
	simpleUndefined = 0xf7
	simpleFloat16   = 0xf9
	simpleFloat32   = 0xfa
	simpleFloat64   = 0xfb
	breakCode       = 0xff
)

const (
	tagEpoch = 1  // seconds since 1970
	maxDepth = 64 // requests are never nested this deeply
)

var errShort = errors.New("cbor: the data ends within an item")

// ToJSON converts a CBOR body to the JSON of the AWS JSON protocols: timestamps
// become numbers, byte strings base64, and the values that JSON numbers lack
// "NaN", "Infinity" or "-Infinity". It returns an error for malformed data, and
// for items that the protocol does not use.
func ToJSON(data []byte) ([]byte, error) {
	d := decoder{data: data}
	v, err := d.item(0)
	if err != nil {
		return nil, err
	}
	if len(d.data) > 0 {
		return nil, fmt.Errorf("cbor: %d bytes behind the body", len(d.data))
	}
	return json.Marshal(v)
}

// decoder decodes items from the start of the data.
type decoder struct{ data []byte }

func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.data)) {
		return nil, errShort
	}
	head := d.data[:n]
	d.data = d.data[n:]
	return head, nil
}

// head decodes the first byte of an item and its argument.
func (d *decoder) head() (first byte, argument uint64, err error) {
	b, err := d.take(1)
	if err != nil {
		return 0, 0, err
	}
	first = b[0]
	switch info := first & 0x1f; {
	case info < oneByte:
		return first, uint64(info), nil
	case info <= eightBytes:
		b, err := d.take(1 << (info - oneByte))
		if err != nil {
			return 0, 0, err
		}
		var wide [8]byte
		copy(wide[8-len(b):], b)
		return first, binary.BigEndian.Uint64(wide[:]), nil
	case info == indefinite:
		return first, 0, nil
	}
	return 0, 0, fmt.Errorf("cbor: the first byte %#x of an item means nothing", first)
}

func (d *decoder) item(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("cbor: nested more than %d deep", maxDepth)
	}
	first, argument, err := d.head()
	if err != nil {
		return nil, err
	}
	open := first&0x1f == indefinite
	switch major := first >> 5; {
	case major == majorUint && !open:
		return argument, nil
	case major == majorNegative && !open && argument <= math.MaxInt64:
		return -1 - int64(argument), nil
	case major == majorBytes:
		return d.bytes(majorBytes, argument, open)
	case major == majorText:
		return d.text(argument, open)
	case major == majorArray:
		return d.array(argument, open, depth)
	case major == majorMap:
		return d.object(argument, open, depth)
	case major == majorTag && argument == tagEpoch && !open:
		return d.item(depth + 1)
	case major == majorSimple:
		return simple(first, argument)
	}
	return nil, fmt.Errorf("cbor: an item that begins with %#x is not part of the protocol", first)
}

// bytes decodes a string, or joins the strings of an indefinite one up to its
// break.
func (d *decoder) bytes(major byte, n uint64, open bool) ([]byte, error) {
	if !open {
		return d.take(n)
	}
	all := []byte{}
	for !d.ended() {
		first, n, err := d.head()
		if err != nil {
			return nil, err
		}
		if first>>5 != major || first&0x1f == indefinite {
			return nil, fmt.Errorf("cbor: a part of a string begins with %#x", first)
		}
		part, err := d.take(n)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

func (d *decoder) text(n uint64, open bool) (string, error) {
	b, err := d.bytes(majorText, n, open)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", errors.New("cbor: a text is not valid UTF-8")
	}
	return string(b), nil
}

// ended consumes the break of an indefinite item, if it is next, and reports
// whether it was.
func (d *decoder) ended() bool {
	if len(d.data) == 0 || d.data[0] != breakCode {
		return false
	}
	d.data = d.data[1:]
	return true
}

// more reports whether an array or a map has another element.
func (d *decoder) more(left *uint64, open bool) bool {
	if open {
		return !d.ended()
	}
	*left--
	return *left != math.MaxUint64
}

func (d *decoder) array(n uint64, open bool, depth int) ([]any, error) {
	all := []any{}
	for d.more(&n, open) {
		v, err := d.item(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (d *decoder) object(n uint64, open bool, depth int) (map[string]any, error) {
	all := map[string]any{}
	for d.more(&n, open) {
		key, err := d.item(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("cbor: the key %v of a map is no text", key)
		}
		if all[name], err = d.item(depth + 1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func simple(first byte, bits uint64) (any, error) {
	switch first {
	case simpleFalse, simpleTrue:
		return first == simpleTrue, nil
	case simpleNull, simpleUndefined:
		return nil, nil
	case simpleFloat16:
		return number(half(uint16(bits))), nil
	case simpleFloat32:
		return number(float64(math.Float32frombits(uint32(bits)))), nil
	case simpleFloat64:
		return number(math.Float64frombits(bits)), nil
	}
	return nil, fmt.Errorf("cbor: the simple value %#x is not part of the protocol", first)
}

// number returns the JSON value for a float.
func number(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}

// half converts a float of 16 bits: 1 bit for the sign, 5 for the exponent, 10
// for the fraction.
func half(bits uint16) float64 {
	sign := 1.0
	if bits>>15 == 1 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
