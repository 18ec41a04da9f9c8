package domain

import (
	"fmt"
	"math/big"
)

// Decimal is an exact number. Two that are equal are equal by ==, so it can be a key; the zero value is zero.
type Decimal struct{ exact string }

// NewDecimal reads one from its digits, such as "12.50".
func NewDecimal(text string) (Decimal, error) {
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return Decimal{}, fmt.Errorf("%q is no number", text)
	}
	return decimal(value), nil
}

// DecimalOf is a whole number.
func DecimalOf(value int) Decimal { return decimal(new(big.Rat).SetInt64(int64(value))) }

func decimal(value *big.Rat) Decimal {
	if value.Sign() == 0 {
		return Decimal{}
	}
	return Decimal{value.RatString()}
}

func (d Decimal) rat() *big.Rat {
	value := new(big.Rat)
	if d.exact != "" {
		value.SetString(d.exact)
	}
	return value
}

// Add is the sum of both.
func (d Decimal) Add(other Decimal) Decimal { return decimal(d.rat().Add(d.rat(), other.rat())) }

// Sub is what is left.
func (d Decimal) Sub(other Decimal) Decimal { return decimal(d.rat().Sub(d.rat(), other.rat())) }

// Mul is the product of both.
func (d Decimal) Mul(other Decimal) Decimal { return decimal(d.rat().Mul(d.rat(), other.rat())) }

// Quo is the quotient; it panics where other is zero.
func (d Decimal) Quo(other Decimal) Decimal { return decimal(d.rat().Quo(d.rat(), other.rat())) }

// Neg is the number with the other sign.
func (d Decimal) Neg() Decimal { return decimal(d.rat().Neg(d.rat())) }

// Abs is the number without its sign.
func (d Decimal) Abs() Decimal { return decimal(d.rat().Abs(d.rat())) }

// Cmp is -1, 0 or 1, as d is less than, equal to or greater than other.
func (d Decimal) Cmp(other Decimal) int { return d.rat().Cmp(other.rat()) }

// Floor is the greatest whole number that is not greater.
func (d Decimal) Floor() Decimal {
	value := d.rat()
	quotient, remainder := new(big.Int).DivMod(value.Num(), value.Denom(), new(big.Int))
	_ = remainder
	return decimal(new(big.Rat).SetInt(quotient))
}

// Int is the whole part, towards zero.
func (d Decimal) Int() int {
	value := d.rat()
	return int(new(big.Int).Quo(value.Num(), value.Denom()).Int64())
}

// String is the number with its digits.
func (d Decimal) String() string {
	value := d.rat()
	if value.IsInt() {
		return value.Num().String()
	}
	return value.FloatString(6)
}
