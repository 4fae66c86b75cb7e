package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"github.com/scrollback-ai/scrollback/internal/seal"
)

// The seal ends a backup: a frame that zstd skips, with the SHA-256 of everything before the hash. The sums of entries
// see what was unpacked; of the bits of compressed data some change nothing there.
const (
	sealMagic  = 0x184D2A5E
	sealLength = 8 + sha256.Size
)

// sealHead begins the frame.
func sealHead() []byte {
	head := binary.LittleEndian.AppendUint32(nil, sealMagic)
	return binary.LittleEndian.AppendUint32(head, sha256.Size)
}

// writeSeal ends what was written to w.
func writeSeal(w *seal.Writer) error {
	if _, err := w.Write(sealHead()); err != nil {
		return err
	}
	_, err := w.Write(w.Sum())
	return err
}

// sealReader reads what comes before a seal. Where the seal does not fit, its end is an error.
type sealReader struct {
	r    io.Reader
	err  error // of r
	sum  hash.Hash
	buf  []byte
	held []byte // of buf: what was read, and not handed on

	checked bool
}

func newSealReader(r io.Reader) *sealReader {
	return &sealReader{r: r, sum: sha256.New(), buf: make([]byte, 64<<10)}
}

// Read implements io.Reader.
func (s *sealReader) Read(p []byte) (int, error) {
	for len(s.held) <= sealLength && s.err == nil {
		kept := copy(s.buf, s.held)
		var n int
		n, s.err = s.r.Read(s.buf[kept:])
		s.held = s.buf[:kept+n]
	}
	if ready := len(s.held) - sealLength; ready > 0 {
		n := copy(p, s.held[:ready])
		s.sum.Write(p[:n])
		s.held = s.held[n:]
		return n, nil
	}
	if s.err == io.EOF && !s.checked { //nolint:errorlint // an end that is wrapped is none
		s.checked = true
		if err := s.check(); err != nil {
			s.err = err
		}
	}
	return 0, s.err
}

// check compares the seal.
func (s *sealReader) check() error {
	head := sealHead()
	if len(s.held) < sealLength || !bytes.Equal(s.held[:len(head)], head) {
		return damaged(errors.New("its seal is missing"))
	}
	s.sum.Write(head)
	if !bytes.Equal(s.held[len(head):], s.sum.Sum(nil)) {
		return damaged(errors.New("its seal does not match"))
	}
	return nil
}
