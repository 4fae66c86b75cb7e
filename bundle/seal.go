package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
)

// tarOverhead is at most what an entry takes besides its bytes.
const tarOverhead = 1024

// The seal is a skippable frame of zstd: magic, size, padding, its own whole length
// in eight bytes, and the SHA-256 of everything before that.
const (
	sealMagic = 0x184D2A5E
	sealHead  = 8
	sealTail  = 8 + sha256.Size
)

// sealWriter hashes what it writes.
type sealWriter struct {
	w   io.Writer
	sum hash.Hash
	n   int64
}

// Write implements io.Writer.
func (s *sealWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.sum.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// seal ends the file. Content that compresses better than a reader accepts is padded.
func (s *sealWriter) seal(unpacked int64, l Limits) error {
	pad := max(0, (unpacked-l.RatioFrom)/l.Ratio-s.n)
	head := binary.LittleEndian.AppendUint32(nil, sealMagic)
	head = binary.LittleEndian.AppendUint32(head, uint32(pad+sealTail))
	if _, err := s.Write(head); err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	for left := pad; left > 0; left -= int64(len(zeros)) {
		if _, err := s.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	if _, err := s.Write(binary.LittleEndian.AppendUint64(nil, uint64(sealHead+pad+sealTail))); err != nil {
		return err
	}
	_, err := s.w.Write(s.sum.Sum(nil))
	return err
}

// unsealed checks a file against its seal, and returns how many bytes come before it;
// r is at the beginning afterwards.
func unsealed(r io.ReadSeeker, size int64) (int64, error) {
	broken := damaged("it was cut off or changed: its seal does not match")
	if size < sealHead+sealTail {
		return 0, broken
	}
	tail := make([]byte, sealTail)
	if err := readAt(r, size-sealTail, tail); err != nil {
		return 0, err
	}
	length := int64(min(binary.LittleEndian.Uint64(tail), uint64(size)+1))
	if length < sealHead+sealTail || length > size {
		return 0, broken
	}
	head := make([]byte, sealHead)
	if err := readAt(r, size-length, head); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(head) != sealMagic || int64(binary.LittleEndian.Uint32(head[4:])) != length-sealHead {
		return 0, broken
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return 0, failed(err)
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(r, size-sha256.Size)); err != nil || n != size-sha256.Size {
		return 0, failed(errors.Join(err, io.ErrUnexpectedEOF))
	}
	if !bytes.Equal(sum.Sum(nil), tail[8:]) {
		return 0, broken
	}
	_, err := r.Seek(0, io.SeekStart)
	return size - length, failed(err)
}

func readAt(r io.ReadSeeker, at int64, p []byte) error {
	_, err := r.Seek(at, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(r, p)
	}
	return failed(err)
}
