package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Lengths in a log, in bytes.
const (
	logHeader   = 32
	frameHeader = 24
)

// walLog is what a log has, up to its last complete commit.
type walLog struct {
	pageSize int64
	pages    int64            // of the database, after that commit; 0 without one
	at       map[uint32]int64 // where the newest version of a page is
}

// readLog reads a log as SQLite recovers one: frames count as long as their salt is the
// header's and their checksums continue, and only those before a commit.
func readLog(f *os.File) (walLog, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 1<<20)
	var h [logHeader]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return walLog{}, ignoreEnd(err)
	}
	mark := binary.BigEndian.Uint32(h[:])
	size := int64(binary.BigEndian.Uint32(h[8:]))
	if mark&^1 != 0x377f0682 || size < 512 || size > 65536 || size&(size-1) != 0 {
		return walLog{}, nil // as if it were not there, which is what SQLite does
	}
	if v := binary.BigEndian.Uint32(h[4:]); v != 3007000 {
		return walLog{}, fmt.Errorf("%w: its log has the format %d, known is 3007000", ErrUnknown, v)
	}
	sum := logChecksum{order: binary.LittleEndian}
	if mark&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.addBytes(h[:24])
	if !sum.matches(h[24:]) {
		return walLog{}, nil
	}
	l := walLog{pageSize: size, at: map[uint32]int64{}}
	fresh := map[uint32]int64{} // since the last commit
	frame := make([]byte, frameHeader+size)
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); err != nil {
			return l, ignoreEnd(err)
		}
		if string(frame[8:16]) != string(h[16:24]) {
			return l, nil
		}
		sum.addBytes(frame[:8])
		sum.addBytes(frame[frameHeader:])
		page := binary.BigEndian.Uint32(frame)
		if !sum.matches(frame[16:24]) || page == 0 {
			return l, nil
		}
		fresh[page] = at + frameHeader
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 {
			l.pages = int64(pages)
			for p, where := range fresh {
				l.at[p] = where
			}
			clear(fresh)
		}
	}
}

// ignoreEnd returns an error that is not only the end of a file.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// logChecksum is that of a log, which goes on from frame to frame.
type logChecksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// addBytes takes a multiple of 8 bytes.
func (c *logChecksum) addBytes(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
}

// matches compares with what is written, always the higher byte first.
func (c *logChecksum) matches(b []byte) bool {
	return binary.BigEndian.Uint32(b) == c.s0 && binary.BigEndian.Uint32(b[4:]) == c.s1
}
