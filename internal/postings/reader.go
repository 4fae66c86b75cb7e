package postings

import "encoding/binary"

// reader reads numbers until one cannot be read.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	return v & r.took(n)
}

// skip passes n numbers.
func (r *reader) skip(n int) {
	at := 0
	for ; n > 0 && at < len(r.b); at++ {
		if r.b[at] < 0x80 {
			n--
		}
	}
	r.b = r.b[at:]
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.b)
	return v & int64(r.took(n))
}

// took goes on, and is the mask of a number that could be read.
func (r *reader) took(n int) uint64 {
	if n <= 0 {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return ^uint64(0)
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
