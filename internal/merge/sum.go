package merge

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256. As text it is hex.
type Hash [sha256.Size]byte

// String returns the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("merge: a hash has %d digits, not %d", hex.EncodedLen(len(h)), len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Sum is the hash of a set of elements: what is added to it can be taken out again, in any order, and no element need
// be read again for another to be added. It finds what differs; it is no protection against somebody who looks for
// two sets with one sum. As text it is hex.
type Sum [4]uint64

// Add returns the sum of the set with an element more.
func (s Sum) Add(element Hash) Sum {
	for i := range s {
		s[i] += binary.LittleEndian.Uint64(element[8*i:])
	}
	return s
}

// Remove returns the sum of the set with an element less.
func (s Sum) Remove(element Hash) Sum {
	for i := range s {
		s[i] -= binary.LittleEndian.Uint64(element[8*i:])
	}
	return s
}

// Join returns the sum of two sets that have nothing in common.
func (s Sum) Join(o Sum) Sum {
	for i := range s {
		s[i] += o[i]
	}
	return s
}

// Bytes returns the sum as it is stored and hashed: 32 bytes.
func (s Sum) Bytes() []byte {
	out := make([]byte, 0, sha256.Size)
	for _, lane := range s {
		out = binary.LittleEndian.AppendUint64(out, lane)
	}
	return out
}

// ParseSum reads the bytes of a sum.
func ParseSum(b []byte) (s Sum, err error) {
	if len(b) != sha256.Size {
		return s, fmt.Errorf("merge: a sum has %d bytes, not %d", sha256.Size, len(b))
	}
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return s, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s.Bytes()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil {
		*s, err = ParseSum(b)
	}
	return err
}

// element is the text that one record hashes to: its kind, and its fields behind their lengths, so that no two
// records give the same text.
type element []byte

func newElement(kind byte) element { return append(make(element, 0, 256), kind) }

func (e element) text(s string) element {
	return append(binary.AppendUvarint(e, uint64(len(s))), s...)
}

func (e element) bytes(b []byte) element {
	return append(binary.AppendUvarint(e, uint64(len(b))), b...)
}

func (e element) number(n int64) element { return binary.AppendVarint(e, n) }

func (e element) hash() Hash { return sha256.Sum256(e) }
