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
	var column []byte
	for _, m := range marks {
		column = binary.AppendUvarint(column, number[m.Kind])
	}
	to = append(binary.AppendUvarint(to, uint64(len(column))), column...)
	column = column[:0]
	for _, m := range marks {
		column = binary.AppendUvarint(column, uint64(m.Length))
	}
	to = append(binary.AppendUvarint(to, uint64(len(column))), column...)
	var last int64
	for _, m := range marks {
		to = binary.AppendVarint(to, m.Time-last)
		last = m.Time
	}
	return to
}

// Marks are encoded marks.
type Marks struct {
	n                    int
	kinds                []string
	kind, lengths, times []byte
}

// ParseMarks reads what AppendMarks wrote, as far as it takes to find each.
func ParseMarks(b []byte) (Marks, error) {
	r := numberReader{b: b}
	m := Marks{n: int(r.readNumber() & 0xffffffff)}
	for range r.readNumber() {
		m.kinds = append(m.kinds, string(r.readBytes(r.readNumber())))
		if r.bad {
			return Marks{}, ErrDamaged
		}
	}
	m.kind = r.readBytes(r.readNumber())
	m.lengths = r.readBytes(r.readNumber())
	if m.times = r.b; r.bad || m.n > min(len(m.kind), len(m.lengths), len(m.times)) {
		return Marks{}, ErrDamaged
	}
	return m, nil
}

// Len returns how many there are.
func (m Marks) Len() int { return m.n }

// Append appends all of them.
func (m Marks) Append(to []Mark) ([]Mark, error) {
	kind := numberReader{b: m.kind}
	lengths := numberReader{b: m.lengths}
	times := numberReader{b: m.times}
	var last int64
	for range m.n {
		k := kind.readNumber()
		last += times.readSigned()
		length := lengths.readNumber()
		if k >= uint64(len(m.kinds)) || kind.bad || times.bad || lengths.bad {
			return to, ErrDamaged
		}
		to = append(to, Mark{Kind: m.kinds[k], Time: last, Length: int(length & 0xffffffff)})
	}
	return to, nil
}

// At returns the i-th.
func (m Marks) At(i int) (Mark, error) {
	walk := m.Walk()
	return walk.MoveTo(i)
}

// Walk goes over marks forward, decoding each at most once.
func (m Marks) Walk() Walk {
	return Walk{of: m, kind: numberReader{b: m.kind}, lengths: numberReader{b: m.lengths}, times: numberReader{b: m.times}}
}

// Walk is a way over marks.
type Walk struct {
	of                   Marks
	next                 int
	at                   int64
	kind, lengths, times numberReader
}

// MoveTo goes on to the i-th, which is none before.
func (w *Walk) MoveTo(i int) (Mark, error) {
	if i < w.next || i >= w.of.n {
		return Mark{}, ErrDamaged
	}
	w.kind.skipNumbers(i - w.next)
	w.lengths.skipNumbers(i - w.next)
	k := w.kind.readNumber()
	length := w.lengths.readNumber()
	for ; w.next <= i; w.next++ {
		w.at += w.times.readSigned()
	}
	if k >= uint64(len(w.of.kinds)) || w.kind.bad || w.times.bad || w.lengths.bad {
		return Mark{}, ErrDamaged
	}
	return Mark{Kind: w.of.kinds[k], Time: w.at, Length: int(length & 0xffffffff)}, nil
}
