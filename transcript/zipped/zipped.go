// Package zipped opens a zip, such as what a chat service sends when somebody asks
// for their data, as a place: its files are read where they are and never unpacked to disk.
//
// Invariants: what a zip says of itself is checked before anything is unpacked. One
// whose names lead outside, whose entries share bytes, or that has more of anything than the
// bounds below is refused as a whole; an entry that is encrypted or packed in another way,
// or that unpacks to far more than it takes, is refused when it is opened. An entry never
// gives more bytes than it says it has.
//
// It may not know any tool, the store or the network.
package zipped

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of a zip.
const (
	maxDirectory = 64 << 20  // of the list of entries, in bytes
	maxEntries   = 200_000   // files and folders
	maxUnpacked  = 256 << 30 // of all entries, in bytes
	maxRatio     = 250       // of the bytes of an entry to those it takes …
	freeRatio    = 64 << 20  // … from this many bytes on
)

const zipOp = "zipped.Open"

// Sniff reports whether a file begins as a zip does.
func Sniff(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// Open makes a place of a zip of size bytes. It is read through r, also at once
// from several goroutines, for as long as the place is used. now is in Unix ms. It is
// invalid if the zip is damaged or has what is not accepted.
func Open(r io.ReaderAt, size, now int64) (transcript.Place, error) {
	metered := &unpackMeter{r: r, left: maxDirectory}
	z, err := zip.NewReader(metered, size)
	switch {
	case errors.Is(err, errLong):
		return transcript.Place{}, scrollback.ParamErrorf(zipOp, "file", i18n.ZipNamesTooLong,
			maxDirectory>>20)
	case err != nil && metered.err == nil:
		return transcript.Place{}, scrollback.ParamErrorf(zipOp, "file", i18n.ZipDamaged,
			err)
	case err != nil:
		return transcript.Place{}, scrollback.Wrap(scrollback.Unavailable, zipOp, err)
	}
	metered.done = true
	if err := checkEntries(z.File, size); err != nil {
		return transcript.Place{}, err
	}
	return transcript.Place{FS: zipFiles{z}, Name: ".", Now: now}, nil
}

// checkEntries holds what a zip says of its entries against the bounds.
func checkEntries(entries []*zip.File, size int64) error {
	if len(entries) > maxEntries {
		return scrollback.ParamErrorf(zipOp, "file", i18n.ZipHasTooManyFiles, maxEntries)
	}
	var packed, unpacked uint64
	for _, f := range entries {
		if name := strings.TrimSuffix(strings.ReplaceAll(f.Name, `\`, "/"), "/"); !fs.ValidPath(name) ||
			strings.Contains(name, ":") && len(name) > 1 && name[1] == ':' {
			return scrollback.ParamErrorf(zipOp, "file", i18n.ZipNameLeadsOutside, f.Name)
		}
		packed = packed + min(f.CompressedSize64, 1<<50)
		unpacked = unpacked + min(f.UncompressedSize64, 1<<50)
		if packed > uint64(max(size, 0)) {
			return scrollback.ParamErrorf(zipOp, "file", i18n.ZipFilesLargerThanZip)
		}
		if unpacked > maxUnpacked {
			return scrollback.ParamErrorf(zipOp, "file", i18n.ZipUnpacksTooLarge, maxUnpacked>>30)
		}
	}
	return nil
}

// zipFiles are those of a zip.
type zipFiles struct{ z *zip.Reader }

// Open implements fs.FS.
func (a zipFiles) Open(name string) (fs.File, error) {
	f, err := a.z.Open(name)
	if err != nil {
		return nil, explainError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(explainError(name, err), f.Close())
	}
	h, ok := info.Sys().(*zip.FileHeader)
	if !ok || info.IsDir() {
		return f, nil
	}
	if err := checkEntry(h); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: err}, f.Close())
	}
	return &zipFile{f, name}, nil
}

// checkEntry returns why an entry is not read.
func checkEntry(h *zip.FileHeader) error {
	const encrypted = 1 // a flag of an entry
	switch {
	case h.Flags&encrypted != 0:
		return scrollback.ParamErrorf(zipOp, "file",
			i18n.ZipEntryEncrypted, h.Name)
	case h.UncompressedSize64 > freeRatio && h.UncompressedSize64/maxRatio > h.CompressedSize64:
		return scrollback.ParamErrorf(zipOp, "file", i18n.ZipEntryUnpacksTooLarge,
			h.Name, maxRatio)
	}
	return nil
}

// zipFile is an entry while it is read.
type zipFile struct {
	fs.File
	name string
}

// Read implements fs.File.
func (f *zipFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if err != nil && !transcript.IsEnd(err) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = explainError(f.name, err)
	}
	return n, err
}

// explainError returns an error of the library in words, if it is the zip's fault.
func explainError(name string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		err = scrollback.ParamErrorf(zipOp, "file",
			i18n.ZipEntryPackedUnknown, name)
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &corrupt):
		err = scrollback.ParamErrorf(zipOp, "file", i18n.ZipEntryDamaged, name, err)
	default:
		return err
	}
	return &fs.PathError{Op: "read", Path: name, Err: err}
}

var errLong = errors.New("the directory is too long")

// unpackMeter reads a bounded number of bytes, until it is done.
type unpackMeter struct {
	r    io.ReaderAt
	left int64
	done bool
	err  error // of r
}

// ReadAt implements io.ReaderAt.
func (m *unpackMeter) ReadAt(b []byte, at int64) (int, error) {
	if m.done {
		return m.r.ReadAt(b, at)
	}
	if m.left -= int64(len(b)); m.left < 0 {
		return 0, errLong
	}
	n, err := m.r.ReadAt(b, at)
	if err != nil && !transcript.IsEnd(err) {
		m.err = err
	}
	return n, err
}
