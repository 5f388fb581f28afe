package attribute

import "math/big"

// KeyBytes returns the bytes of a string, number or binary from which DynamoDB
// computes the hash of a partition key. They are the same for equal values.
func KeyBytes(v Value) []byte {
	switch v := v.(type) {
	case String:
		return []byte(v)
	case Binary:
		return []byte(v)
	case Number:
		return v.keyBytes()
	}
	return nil
}

// Numbers as keys: a byte for the power of 100, and a byte for each two digits.
// All bytes of a negative number count down, so that the order of the bytes is
// the order of the numbers; the last one is greater than any digits.
const (
	keyZero       = 0x80
	keyMiddle     = 64 // the byte of the power 0, before the sign bit is set
	keyNegative   = 101
	keyTerminator = 102
)

func (n Number) keyBytes() []byte {
	if n.coefficient == nil {
		return []byte{keyZero}
	}
	digits := new(big.Int).Abs(n.coefficient).String()
	power := n.exponent + len(digits) // the number is 0.digits × 10^power
	if power%2 != 0 {
		digits, power = "0"+digits, power+1
	}
	if len(digits)%2 != 0 {
		digits += "0"
	}
	negative := n.coefficient.Sign() < 0
	first := byte(power/2 - keyMiddle)
	if negative {
		first = ^first
	}
	b := []byte{first}
	for i := 0; i < len(digits); i += 2 {
		pair := 10*(digits[i]-'0') + digits[i+1] - '0'
		if negative {
			b = append(b, keyNegative-pair)
		} else {
			b = append(b, pair+1)
		}
	}
	if negative && len(digits) < maxDigits+2 {
		b = append(b, keyTerminator)
	}
	return b
}
