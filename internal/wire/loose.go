package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Word is a text that some servers write as a number.
type Word string

// UnmarshalJSON reads a text, a number or null.
func (w *Word) UnmarshalJSON(b []byte) error {
	s, err := readLoose(b)
	*w = Word(s)
	return err
}

// readLoose returns a JSON text's content, nothing for null, and any other value as its JSON.
func readLoose(b []byte) (s string, err error) {
	switch b = bytes.TrimSpace(b); {
	case len(b) > 0 && b[0] == '"':
		err = json.Unmarshal(b, &s)
	case !bytes.Equal(b, []byte("null")):
		s = string(b)
	}
	return s, err
}

// Number is a whole number that some servers write as a fraction, a text or null.
// One that cannot be a number of tokens is the nearest that can.
type Number int64

// UnmarshalJSON never fails: what is not a number is 0.
func (n *Number) UnmarshalJSON(b []byte) error {
	text, err := readLoose(b)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !math.IsInf(f, 0):
		*n = 0
	case math.IsNaN(f): // it was meant to be a number, and is less than any
		*n = math.MinInt64
	case f >= math.MaxInt64:
		*n = math.MaxInt64
	case f <= math.MinInt64:
		*n = math.MinInt64
	default:
		*n = Number(math.Round(f))
	}
	return nil
}

// Real is an amount that some servers write as a text or null. One that is endless is
// the nearest that is not.
type Real float64

// UnmarshalJSON never fails: what is not a number is 0.
func (r *Real) UnmarshalJSON(b []byte) error {
	text, err := readLoose(b)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(f, 0):
		f = math.Copysign(math.MaxFloat64, f)
	case math.IsNaN(f):
		f = -math.MaxFloat64
	case err != nil:
		f = 0
	}
	*r = Real(f)
	return nil
}

// Inner is JSON within a text, which some servers write as it is.
type Inner string

// UnmarshalJSON reads a text, or any other value as its JSON.
func (i *Inner) UnmarshalJSON(b []byte) error {
	s, err := readLoose(b)
	*i = Inner(s)
	return err
}
