package postings

import "encoding/binary"

// numberReader reads numbers until one cannot be read.
type numberReader struct {
	b   []byte
	bad bool
}

func (r *numberReader) readNumber() uint64 {
	v, n := binary.Uvarint(r.b)
	return v & r.advanceBy(n)
}

// skipNumbers passes n numbers.
func (r *numberReader) skipNumbers(n int) {
	at := 0
	for ; n > 0 && at < len(r.b); at++ {
		if r.b[at] < 0x80 {
			n--
		}
	}
	r.b = r.b[at:]
}

func (r *numberReader) readSigned() int64 {
	v, n := binary.Varint(r.b)
	return v & int64(r.advanceBy(n))
}

// advanceBy goes on, and is the mask of a number that could be read.
func (r *numberReader) advanceBy(n int) uint64 {
	if n <= 0 {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return ^uint64(0)
}

func (r *numberReader) readBytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
