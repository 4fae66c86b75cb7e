package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// virtual is what SQLite believes the database is called.
const virtual = "db"

// errMoved means that the files changed while they were opened, or that a change of the
// database is not complete.
var errMoved = errors.New("the database is being changed")

// magic is how a database begins, and hot how a journal that matters does.
var (
	magic = []byte("SQLite format 3\x00")
	hot   = []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}
)

// headerLen is the length of a database's header.
const headerLen = 100

// databaseFiles are a database and the log beside it, open for reading. As an [fs.FS] they are
// one file.
type databaseFiles struct {
	path string
	db   *os.File
	wal  *os.File // nil without a log
	at   fileState
	log  walLog
	size int64
}

// openFiles opens the database at path, and lays its log over it.
func openFiles(path string) (*databaseFiles, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a file", ErrNot)
	}
	o := &databaseFiles{path: real}
	if o.at, err = readState(real); err != nil {
		return nil, err
	}
	if o.at.journal {
		return nil, errMoved
	}
	if o.db, err = os.Open(real); err == nil && o.at.log {
		o.wal, err = os.Open(real + "-wal")
	}
	if err == nil {
		err = o.overlayLog()
	}
	if err != nil {
		o.closeAll()
		return nil, err
	}
	if !o.isUnmoved() {
		o.closeAll()
		return nil, errMoved
	}
	return o, nil
}

// overlayLog reads where the log has pages.
func (o *databaseFiles) overlayLog() error {
	switch h := o.at.header; {
	case o.at.size == 0:
		return fmt.Errorf("%w: the file is empty", ErrNot)
	case o.at.size < headerLen, !bytes.HasPrefix(h[:], magic):
		return ErrNot
	case h[18] > 2 || h[19] > 2:
		return fmt.Errorf("%w: its format is newer than this program's SQLite", ErrUnknown)
	}
	o.size = o.at.size
	if o.wal == nil {
		return nil
	}
	var err error
	if o.log, err = readLog(o.wal); err == nil && o.log.pages > 0 {
		o.size = o.log.pages * o.log.pageSize
	}
	return err
}

func (o *databaseFiles) closeAll() {
	if o.db != nil {
		o.db.Close()
	}
	if o.wal != nil {
		o.wal.Close()
	}
}

// isUnmoved reports whether nothing has happened to the files that could have mixed two
// states: the log may have grown, since what is read of it is known.
func (o *databaseFiles) isUnmoved() bool {
	now, err := readState(o.path)
	return err == nil && !now.journal && now.isSame(o.at)
}

// fileState is what tells states of the files apart, without the log's growth.
type fileState struct {
	file    os.FileInfo
	size    int64
	changed time.Time
	header  [headerLen]byte
	journal bool // a change is not complete
	log     bool
	salt    [32]byte // how the log begins
	filled  [8]byte  // how much of the log is in the database
}

// readState reads the state. The journal comes first: a change that is complete by then shows in
// the header.
func readState(path string) (s fileState, err error) {
	var start [8]byte
	n, _ := readFileAt(path+"-journal", start[:], 0)
	s.journal = n == len(hot) && bytes.Equal(start[:], hot)
	if _, err = readFileAt(path, s.header[:], 0); err != nil {
		return s, err
	}
	if s.header[18] == 2 { // it keeps a log
		n, err = readFileAt(path+"-wal", s.salt[:], 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		s.log = n == len(s.salt)
		// The index of the log tells how far it was copied, and how far that was begun; it
		// may be missing, or locked.
		_, _ = readFileAt(path+"-shm", s.filled[:4], 96)
		_, _ = readFileAt(path+"-shm", s.filled[4:], 128)
	}
	if s.file, err = os.Stat(path); err == nil {
		s.size = s.file.Size()
		s.changed = s.file.ModTime()
	}
	return s, err
}

func (s fileState) isSame(o fileState) bool {
	return os.SameFile(s.file, o.file) && s.size == o.size && s.changed.Equal(o.changed) && s.header == o.header &&
		s.log == o.log && s.salt == o.salt && s.filled == o.filled
}

// readFileAt reads what a file has at a place; fewer bytes are not an error.
func readFileAt(path string, into []byte, at int64) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(into, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Open implements [fs.FS].
func (o *databaseFiles) Open(name string) (fs.File, error) {
	if name != virtual {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &fileView{SectionReader: io.NewSectionReader(o, 0, o.size), of: o}, nil
}

// ReadAt implements [io.ReaderAt]: SQLite reads within one page.
func (o *databaseFiles) ReadAt(b []byte, at int64) (int, error) {
	if size := o.log.pageSize; size > 0 {
		if from, in := o.log.at[uint32(at/size)+1]; in && at%size+int64(len(b)) <= size {
			return o.wal.ReadAt(b, from+at%size)
		}
	}
	return o.db.ReadAt(b, at)
}

// fileView is the one file.
type fileView struct {
	*io.SectionReader
	of *databaseFiles
}

// Stat implements [fs.File].
func (v *fileView) Stat() (fs.FileInfo, error) { return sizedInfo{v.of.at.file, v.of.size}, nil }

// Close implements [fs.File].
func (*fileView) Close() error { return nil }

// sizedInfo is a file of another size.
type sizedInfo struct {
	fs.FileInfo
	size int64
}

func (s sizedInfo) Size() int64 { return s.size }

// FolderBeside returns a folder of this machine that a tool keeps files in beside the place that is read.
func FolderBeside(path string) fs.FS { return os.DirFS(path) }
