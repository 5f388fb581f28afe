package sqs

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Limits of a message (AWS limits).
const (
	maxSize       = 1 << 20 // bytes of a message, and of all messages of a batch
	maxAttributes = 10
	maxNameLength = 256 // of the name and the type of an attribute
)

const legalCharacters = "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"

// illegal returns a character that SQS does not accept, if there is one.
func illegal(text string) (r rune, found bool) {
	for _, r := range text {
		legal := r == '\t' || r == '\n' || r == '\r' ||
			(r >= 0x20 && r <= 0xD7FF) || (r >= 0xE000 && r <= 0xFFFD) || r >= 0x10000
		if !legal {
			return r, true
		}
	}
	return 0, false
}

// checkContent returns an error for a body or message attributes that SQS does
// not accept.
func checkContent(body string, attributes map[string]Attribute) error {
	if r, found := illegal(body); found {
		return refusal("InvalidMessageContents", "Invalid binary character '#x%X' was found in the message body, "+
			"the set of allowed characters is %s", r, legalCharacters)
	}
	if n := len(attributes); n > maxAttributes {
		return invalidParameter("Number of message attributes [%d] exceeds the allowed maximum [%d].", n, maxAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if err := checkAttribute(name, attributes[name]); err != nil {
			return err
		}
	}
	return nil
}

// size computes the size as SQS does: the body and the names, types and values
// of the attributes.
func size(body string, attributes map[string]Attribute) int {
	n := len(body)
	for name, a := range attributes {
		n += len(name) + len(a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}

var (
	attributeNames = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reservedNames  = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
	numbers        = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)
)

// checkNoLists returns the error of SQS for list values. The API reference has them, and
// says that SQS refuses them.
func checkNoLists(attributes map[string]Attribute) error {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if a := attributes[name]; a.hasList() {
			return refusal("UnsupportedOperation", "The message attribute '%s' has StringListValues or "+
				"BinaryListValues, which SQS does not implement.", name)
		}
	}
	return nil
}

func checkAttribute(name string, a Attribute) error {
	kind, _, _ := strings.Cut(a.DataType, ".")
	switch {
	case reservedNames.MatchString(name):
		return invalidParameter("The message attribute name '%s' starts with a reserved prefix, AWS. or Amazon.", name)
	case len(name) > maxNameLength || !attributeNames.MatchString(name):
		return invalidParameter("The message attribute name '%s' is invalid. Attribute name can contain "+
			"A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.) characters.", name)
	case kind != "String" && kind != "Number" && kind != "Binary":
		return invalidParameter("The message attribute '%s' has an invalid message attribute type, "+
			"the set of supported type prefixes is Binary, Number, and String.", name)
	case len(a.DataType) > maxNameLength:
		return invalidParameter("The type of the message attribute '%s' is longer than 256 bytes.", name)
	case kind == "Binary" && (len(a.BinaryValue) == 0 || a.StringValue != nil),
		kind != "Binary" && (a.StringValue == nil || *a.StringValue == "" || a.BinaryValue != nil):
		return invalidParameter("Message (user) attribute '%s' must contain a non-empty value of type '%s'.",
			name, a.DataType)
	case kind == "Binary":
		return nil
	case kind == "Number" && !isNumber(*a.StringValue):
		return invalidParameter("Can't cast the value of message attribute '%s' to a number.", name)
	}
	if r, found := illegal(*a.StringValue); found {
		return invalidParameter("Invalid binary character '#x%X' was found in the message attribute '%s' value, "+
			"the set of allowed characters is %s", r, name, legalCharacters)
	}
	return nil
}

// isNumber reports whether text is a number of at most 38 digits.
func isNumber(text string) bool {
	mantissa := text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
	}
	digits := strings.Trim(strings.NewReplacer("+", "", "-", "", ".", "").Replace(mantissa), "0")
	return numbers.MatchString(text) && len(digits) <= 38
}

func bodyDigest(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// attributesDigest returns the MD5 digest that clients verify: of names, types
// and values in the order of the names, each with its length before it. It is
// empty without attributes.
func attributesDigest(attributes map[string]Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	h := md5.New()
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		digestPart(h, name)
		digestPart(h, a.DataType)
		if a.StringValue != nil {
			h.Write([]byte{1})
			digestPart(h, *a.StringValue)
		} else {
			h.Write([]byte{2})
			digestPart(h, string(a.BinaryValue))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digestPart(h hash.Hash, part string) {
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
	h.Write([]byte(part))
}
