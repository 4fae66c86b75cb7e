package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/scrollback-ai/scrollback/internal/seal"
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

// writeSeal ends the file. Content that compresses better than a reader accepts is padded.
func writeSeal(s *seal.Writer, unpacked int64, l Limits) error {
	pad := max(0, (unpacked-l.RatioFrom)/l.Ratio-s.Len())
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
	_, err := s.Write(s.Sum())
	return err
}

// checkSeal checks a file against its seal, and returns how many bytes come before it;
// r is at the beginning afterwards.
func checkSeal(r io.ReadSeeker, size int64) (int64, error) {
	broken := newDamageError("it was cut off or changed: its seal does not match")
	if size < sealHead+sealTail {
		return 0, broken
	}
	tail := make([]byte, sealTail)
	if err := seal.ReadAt(r, size-sealTail, tail); err != nil {
		return 0, wrapWriteError(err)
	}
	length := int64(min(binary.LittleEndian.Uint64(tail), uint64(size)+1))
	if length < sealHead+sealTail || length > size {
		return 0, broken
	}
	head := make([]byte, sealHead)
	if err := seal.ReadAt(r, size-length, head); err != nil {
		return 0, wrapWriteError(err)
	}
	if binary.LittleEndian.Uint32(head) != sealMagic || int64(binary.LittleEndian.Uint32(head[4:])) != length-sealHead {
		return 0, broken
	}
	sum, err := seal.SumOf(r, size-sha256.Size)
	if err != nil {
		return 0, wrapWriteError(err)
	}
	if !bytes.Equal(sum, tail[8:]) {
		return 0, broken
	}
	_, err = r.Seek(0, io.SeekStart)
	return size - length, wrapWriteError(err)
}
