package attribute_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func number(t testing.TB, s string) attribute.Number {
	t.Helper()
	n, err := attribute.ParseNumber(s)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", s, err)
	}
	return n
}

// wantInvalid checks that err is a ValidationException with that message.
func wantInvalid(t testing.TB, err error, message string) {
	t.Helper()
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Code != "ValidationException" || !strings.Contains(refusal.Message, message) {
		t.Fatalf("got %v, want a ValidationException with %q", err, message)
	}
}

func TestNumbersAreFormattedWithoutExponent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0":                                      "0",
		"-0":                                     "0",
		"0.000":                                  "0",
		"0E999":                                  "0",
		"1.0":                                    "1",
		"+7":                                     "7",
		"007":                                    "7",
		"-12.50":                                 "-12.5",
		".5":                                     "0.5",
		"5.":                                     "5",
		"1E3":                                    "1000",
		"1e+3":                                   "1000",
		"25e-4":                                  "0.0025",
		"1200":                                   "1200",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
		"1234567890123456789012345678901234567800":      "1234567890123456789012345678901234567800",
		"0.00012345678901234567890123456789012345678":   "0.00012345678901234567890123456789012345678",
		"9.9999999999999999999999999999999999999E+125":  strings.Repeat("9", 38) + strings.Repeat("0", 88),
		"-9.9999999999999999999999999999999999999E+125": "-" + strings.Repeat("9", 38) + strings.Repeat("0", 88),
		"1E-130": "0." + strings.Repeat("0", 129) + "1",
	} {
		if got := number(t, in).String(); got != want {
			t.Errorf("ParseNumber(%q) is %s, want %s", in, got, want)
		}
	}
}

func TestParseNumberRefusesInvalidNumbers(t *testing.T) {
	t.Parallel()
	const (
		noNumber  = "cannot be converted to a numeric value"
		overflow  = "Number overflow"
		underflow = "Number underflow"
		digits    = "more than 38 significant digits"
	)
	for in, message := range map[string]string{
		"":                                   noNumber,
		".":                                  noNumber,
		"-":                                  noNumber,
		"abc":                                noNumber,
		"1\u0020":                            noNumber,
		"1,5":                                noNumber,
		"1.2.3":                              noNumber,
		"--1":                                noNumber,
		"1-2":                                noNumber,
		"1e":                                 noNumber,
		"1e1.5":                              noNumber,
		"0x10":                               noNumber,
		"NaN":                                noNumber,
		"Infinity":                           noNumber,
		"1_000":                              noNumber,
		"1e99999999999999":                   noNumber,
		"1E126":                              overflow,
		"-1E126":                             overflow,
		"1E-131":                             underflow,
		strings.Repeat("1", 39):              digits,
		"1." + strings.Repeat("0", 37) + "1": digits,
	} {
		_, err := attribute.ParseNumber(in)
		wantInvalid(t, err, message)
	}
}

func TestArithmeticIsExactOrRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, sum, difference string }{
		{"1", "2", "3", "-1"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"9007199254740993", "1", "9007199254740994", "9007199254740992"},
		{"1E20", "1E-10", "100000000000000000000.0000000001", "99999999999999999999.9999999999"},
		{"5", "0", "5", "5"},
		{"0", "0", "0", "0"},
		{"5", "5", "10", "0"},
		{"-5", "5", "0", "-10"},
	} {
		a, b := number(t, c.a), number(t, c.b)
		sum, err := a.Add(b)
		if err != nil || sum.String() != c.sum {
			t.Errorf("%s + %s is %s, %v; want %s", c.a, c.b, sum, err, c.sum)
		}
		difference, err := a.Sub(b)
		if err != nil || difference.String() != c.difference {
			t.Errorf("%s - %s is %s, %v; want %s", c.a, c.b, difference, err, c.difference)
		}
	}

	_, err := number(t, "1E125").Add(number(t, "1"))
	wantInvalid(t, err, "more than 38 significant digits")
	_, err = number(t, "9E125").Add(number(t, "9E125"))
	wantInvalid(t, err, "Number overflow")
}

func TestNumbersBehaveAsRationals(t *testing.T) {
	t.Parallel()
	decimal := rapid.StringMatching(`-?[0-9]{1,15}(\.[0-9]{1,15})?`)
	rapid.Check(t, func(t *rapid.T) {
		x, y := decimal.Draw(t, "x"), decimal.Draw(t, "y")
		a, errA := attribute.ParseNumber(x)
		b, errB := attribute.ParseNumber(y)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		p, _ := new(big.Rat).SetString(x)
		q, _ := new(big.Rat).SetString(y)
		if a.Cmp(b) != p.Cmp(q) {
			t.Fatalf("Cmp(%s, %s) is %d", x, y, a.Cmp(b))
		}
		sum, err := a.Add(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := new(big.Rat).SetString(sum.String()); got.Cmp(new(big.Rat).Add(p, q)) != 0 {
			t.Fatalf("%s + %s is %s", x, y, sum)
		}
		difference, err := a.Sub(b)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := difference.Add(b); err != nil || back.Cmp(a) != 0 {
			t.Fatalf("%s - %s + %s is %s, %v", x, y, y, back, err)
		}
	})
}

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "1E125", "1E-130", ".5e+3", "1e", "--1", strings.Repeat("9", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := attribute.ParseNumber(s)
		if err != nil {
			wantInvalid(t, err, "")
			return
		}
		again := number(t, n.String())
		if again.Cmp(n) != 0 || again.String() != n.String() {
			t.Fatalf("%q is %s, and that is %s", s, n, again)
		}
	})
}
