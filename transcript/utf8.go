package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// DecodeUTF8 reads a file of text as UTF-8: one in UTF-16, as PowerShell writes what is redirected
// into a file, is decoded.
func DecodeUTF8(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	head, _ := in.Peek(4) // an error comes again when it is read
	if wide := wideEncoding(head); wide != nil {
		return transform.NewReader(in, wide.NewDecoder())
	}
	return in
}

// DecodeUTF8Head returns the beginning of a file as [DecodeUTF8] reads it.
func DecodeUTF8Head(head []byte) []byte {
	wide := wideEncoding(head)
	if wide == nil {
		return head
	}
	out, _, _ := transform.Bytes(wide.NewDecoder(), head[:len(head)&^1]) // the rest of half a character is not there
	return out
}

// wideEncoding returns the encoding of a file that begins so, if it is UTF-16; nil if not.
func wideEncoding(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case len(head) < 4:
	case isOpening(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case head[0] == 0 && isOpening(head[1]) && head[2] == 0 && head[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

func isOpening(c byte) bool { return c == '{' || c == '[' }

// DecodeUTF8FS returns a file system whose files in UTF-16 are read as UTF-8; see [DecodeUTF8].
func DecodeUTF8FS(files fs.FS) fs.FS { return decodedFS{files} }

type decodedFS struct{ fs.FS }

// Open implements fs.FS.
func (d decodedFS) Open(name string) (fs.File, error) {
	f, err := d.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return f, nil // reading it says what is wrong
	}
	var head [4]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && !IsEnd(err) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return f, nil // reading it says so again
	}
	if seeker, ok := f.(io.Seeker); ok && wideEncoding(head[:n]) == nil {
		_, err := seeker.Seek(0, io.SeekStart)
		return f, err
	}
	return &decodedFile{f, DecodeUTF8(io.MultiReader(bytes.NewReader(head[:n]), f))}, nil
}

// Stat implements fs.StatFS, ReadDir fs.ReadDirFS.
func (d decodedFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(d.FS, name) }
func (d decodedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.FS, name) }

type decodedFile struct {
	fs.File
	r io.Reader
}

func (f *decodedFile) Read(b []byte) (int, error) { return f.r.Read(b) }
