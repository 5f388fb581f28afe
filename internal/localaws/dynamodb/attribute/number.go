package attribute

import (
	"math/big"
	"strconv"
	"strings"
)

// The range of a number: up to 38 significant digits, and the magnitude of its
// first digit from 1E-130 to 9.9…E+125.
const (
	maxDigits    = 38
	maxMagnitude = 125
	minMagnitude = -130
)

// Number is an exact decimal number. Equal numbers have the same
// representation, however they were written: the coefficient has no trailing
// zeros. The zero Number is 0.
type Number struct {
	coefficient *big.Int // nil means 0
	exponent    int
}

// ParseNumber parses a decimal number such as "-12.50" or "1E3". It returns an
// error for text that is not a number, and for numbers outside of DynamoDB's
// range or precision.
func ParseNumber(s string) (Number, error) {
	digits, exponent, negative, ok := scanNumber(s)
	switch {
	case s == "":
		return Number{}, Invalidf("The parameter cannot be converted to a numeric value")
	case !ok:
		return Number{}, Invalidf("The parameter cannot be converted to a numeric value: %s", s)
	}
	if digits == "" {
		return Number{}, nil
	}
	if err := checkRange(len(digits), exponent); err != nil {
		return Number{}, err
	}
	c, _ := new(big.Int).SetString(digits, 10)
	if negative {
		c.Neg(c)
	}
	return Number{coefficient: c, exponent: exponent}, nil
}

// scanNumber splits a decimal number into its significant digits (none for 0)
// and the power of ten of the last digit.
func scanNumber(s string) (digits string, exponent int, negative, ok bool) {
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e < -1<<20 || e > 1<<20 {
			return "", 0, false, false
		}
		mantissa, exponent = s[:i], e
	}
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		negative, mantissa = mantissa[0] == '-', mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false, false
	}
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	return strings.TrimLeft(trimmed, "0"), exponent, negative, true
}

func checkRange(digits, exponent int) error {
	switch magnitude := exponent + digits - 1; {
	case magnitude > maxMagnitude:
		return Invalidf("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case magnitude < minMagnitude:
		return Invalidf("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	case digits > maxDigits:
		return Invalidf("Attempting to store more than %d significant digits in a Number", maxDigits)
	}
	return nil
}

// String returns the number without an exponent, as DynamoDB does.
func (n Number) String() string {
	if n.coefficient == nil {
		return "0"
	}
	digits, sign := n.coefficient.String(), ""
	if digits[0] == '-' {
		digits, sign = digits[1:], "-"
	}
	if n.exponent >= 0 {
		return sign + digits + strings.Repeat("0", n.exponent)
	}
	point := len(digits) + n.exponent
	if point <= 0 {
		return sign + "0." + strings.Repeat("0", -point) + digits
	}
	return sign + digits[:point] + "." + digits[point:]
}

// Cmp returns -1, 0 or 1 if n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	if n.exponent == m.exponent && n.coefficient != nil && m.coefficient != nil {
		return n.coefficient.Cmp(m.coefficient)
	}
	a, b, _ := align(n, m)
	return a.Cmp(b)
}

// Add returns n + m, or an error if the sum is out of range or would have to be
// rounded.
func (n Number) Add(m Number) (Number, error) {
	a, b, exponent := align(n, m)
	return reduce(new(big.Int).Add(a, b), exponent)
}

// Sub returns n - m, or an error as Add does.
func (n Number) Sub(m Number) (Number, error) {
	a, b, exponent := align(n, m)
	return reduce(new(big.Int).Sub(a, b), exponent)
}

// align returns the coefficients of both numbers for the smaller of their
// exponents.
func align(n, m Number) (a, b *big.Int, exponent int) {
	exponent = min(n.exponent, m.exponent)
	return n.scaled(exponent), m.scaled(exponent), exponent
}

func (n Number) scaled(exponent int) *big.Int {
	if n.coefficient == nil {
		return new(big.Int)
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.exponent-exponent)), nil)
	return shift.Mul(shift, n.coefficient)
}

func reduce(c *big.Int, exponent int) (Number, error) {
	return ParseNumber(c.String() + "E" + strconv.Itoa(exponent))
}

// size returns the bytes that DynamoDB counts: one for the magnitude, one for
// each digit to the base of 100, and one for the sign of a negative number.
func (n Number) size() int {
	if n.coefficient == nil {
		return 1
	}
	digits, sign := len(n.coefficient.String()), 0
	if n.coefficient.Sign() < 0 {
		digits, sign = digits-1, 1
	}
	if (n.exponent+digits)%2 != 0 {
		digits++ // the first digit to the base of 100 has only one decimal digit
	}
	return (digits+1)/2 + 1 + sign
}
