// Package seal hashes whole files: what is written, and what is read again to be compared with
// a hash at its end. Where the hash stands, and what a difference means, each format says.
package seal

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// Writer hashes what it writes.
type Writer struct {
	w   io.Writer
	sum hash.Hash
	n   int64
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, sum: sha256.New()} }

// Write implements io.Writer.
func (s *Writer) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.sum.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// Sum returns the SHA-256 of what was written.
func (s *Writer) Sum() []byte { return s.sum.Sum(nil) }

// Len returns how many bytes were written.
func (s *Writer) Len() int64 { return s.n }

// ReadAt fills p with what stands at a place of a file. A file that ends before is an error,
// io.ErrUnexpectedEOF.
func ReadAt(r io.ReadSeeker, at int64, p []byte) error {
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// SumOf returns the SHA-256 of the first n bytes of a file. One that has fewer is an error,
// io.ErrUnexpectedEOF.
func SumOf(r io.ReadSeeker, n int64) ([]byte, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.CopyN(sum, r, n); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return sum.Sum(nil), nil
}
