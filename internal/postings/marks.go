package postings

import (
	"encoding/binary"
)

// Mark is what is kept of a document besides its terms: a word for its kind, a time, and how
// many terms it has.
type Mark struct {
	Kind   string
	Time   int64
	Length int
}

// AppendMarks encodes marks, column by column.
func AppendMarks(to []byte, marks []Mark) []byte {
	to = binary.AppendUvarint(to, uint64(len(marks)))
	var kinds []string
	number := map[string]uint64{}
	for _, m := range marks {
		if _, ok := number[m.Kind]; !ok {
			number[m.Kind] = uint64(len(kinds))
			kinds = append(kinds, m.Kind)
		}
	}
	to = binary.AppendUvarint(to, uint64(len(kinds)))
	for _, k := range kinds {
		to = append(binary.AppendUvarint(to, uint64(len(k))), k...)
	}
	for _, m := range marks {
		to = binary.AppendUvarint(to, number[m.Kind])
	}
	for _, m := range marks {
		to = binary.AppendUvarint(to, uint64(m.Length))
	}
	var last int64
	for _, m := range marks {
		to = binary.AppendVarint(to, m.Time-last)
		last = m.Time
	}
	return to
}

// ParseMarks reads what AppendMarks wrote.
func ParseMarks(b []byte) ([]Mark, error) {
	r := reader{b: b}
	n := r.number()
	kinds := make([]string, 0, 4)
	for range r.number() {
		kinds = append(kinds, string(r.bytes(r.number())))
		if r.bad {
			return nil, ErrDamaged
		}
	}
	if r.bad || n > uint64(len(r.b)) { // each takes bytes
		return nil, ErrDamaged
	}
	out := make([]Mark, n)
	for i := range out {
		k := r.number()
		if k >= uint64(len(kinds)) {
			return nil, ErrDamaged
		}
		out[i].Kind = kinds[k]
	}
	for i := range out {
		out[i].Length = int(r.number() & 0xffffffff)
	}
	var last int64
	for i := range out {
		last += r.signed()
		out[i].Time = last
	}
	if r.bad || len(r.b) > 0 {
		return nil, ErrDamaged
	}
	return out, nil
}

// reader reads numbers until one cannot be read.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	return v & r.took(n)
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.b)
	return v & int64(r.took(n))
}

// took goes on, and is the mask of a number that could be read.
func (r *reader) took(n int) uint64 {
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return ^uint64(0)
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
