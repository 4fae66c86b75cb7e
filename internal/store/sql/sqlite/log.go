package sqlite

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// How a write-ahead log is laid out: a header, and frames of a header and a page each.
const (
	logHeader   = 32
	frameHeader = 24
)

// logWatch watches the log of an open database for what was taken from it. SQLite relies on its index
// of the log, which stays in memory: it would write behind the hole that another program left, and
// the next start would end its reading of the log at that hole. SQLite takes no locks on the log,
// so that it can be opened beside it.
type logWatch struct {
	file    *os.File
	path    string
	page    int64   // the size of a page
	size    int64   // when it was last looked at
	headers []int64 // where headers stood then: that of the log and that of its last whole frame
}

func watchLog(path string, page int64) (*logWatch, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &logWatch{file: file, path: path, page: page}
	if err := l.checkLog(nil); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// checkLog returns an error if the log lacks what it had. indexed is how many frames the index of the
// log has: it is asked only where the log has become shorter, which is right when all of it was
// copied into the database.
func (l *logWatch) checkLog(indexed func() (int64, error)) error {
	size, err := l.readSize()
	if err != nil {
		return err
	}
	if size < l.size {
		if size, err = l.checkShorter(indexed); err != nil {
			return err
		}
	}
	for _, at := range l.headers {
		if err := l.checkHeader(at); err != nil {
			return err
		}
	}
	l.size = size
	l.headers = l.headers[:0]
	for _, at := range []int64{0, l.frameOffset((size - logHeader) / (frameHeader + l.page))} {
		// A log that a crash left may have holes, which SQLite knows of.
		if at >= 0 && at < size && l.checkHeader(at) == nil {
			l.headers = append(l.headers, at)
		}
	}
	return nil
}

func (l *logWatch) readSize() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// frameOffset returns where a frame begins; they are counted from 1.
func (l *logWatch) frameOffset(frame int64) int64 { return logHeader + (frame-1)*(frameHeader+l.page) }

// checkShorter judges a log that has become shorter, and returns its size. Another program may be
// copying it meanwhile, so that only what stays the same is believed.
func (l *logWatch) checkShorter(indexed func() (int64, error)) (size int64, err error) {
	before := int64(0)
	after := int64(-1)
	for before != after {
		if before, err = indexed(); err == nil {
			size, err = l.readSize()
		}
		if err == nil {
			after, err = indexed()
		}
		if err != nil {
			return 0, err
		}
	}
	if before > 0 && l.frameOffset(before+1) > size {
		return 0, displacedError("%s was emptied or cut short: it has %d bytes, and its index knows of %d", l.path, size,
			l.frameOffset(before+1))
	}
	for frame := int64(1); frame <= before; frame++ {
		if err := l.checkHeader(l.frameOffset(frame)); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// checkHeader returns an error if a header, of the log or of a frame, is a hole: none begins with zeros.
func (l *logWatch) checkHeader(at int64) error {
	var first [4]byte
	n, err := l.file.ReadAt(first[:], at)
	switch {
	case errors.Is(err, io.EOF) && n < len(first):
		return nil // the log became shorter this moment; the next look judges it
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.Equal(first[:], make([]byte, len(first))):
		return displacedError("%s was emptied or cut short: there is nothing at byte %d", l.path, at)
	}
	return nil
}
