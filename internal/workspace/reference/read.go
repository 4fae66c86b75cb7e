package reference

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

const (
	maxListed = 10_000   // entries of a folder that are looked at
	maxSkip   = 64 << 20 // bytes of a file that are read to find a line
	maxSkips  = 4        // such files in one prompt
	sniffed   = 8 << 10  // bytes that tell what a file is
)

var errUnreadable = errors.New("not readable")

// listFolder lists a folder.
func (r *resolver) listFolder(f *Found, m Mark, dir *workspace.File) {
	f.Kind = scrollback.ReferenceFolder
	if m.First > 0 {
		f.Error = "a folder has no lines"
		return
	}
	entries, err := dir.List(maxListed + 1)
	if err != nil {
		f.Error = err.Error()
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	total := strconv.Itoa(len(entries))
	if len(entries) > maxListed {
		total = fmt.Sprintf("more than %d", maxListed)
	}
	if n := r.limits.Entries; len(entries) > n {
		f.Note = fmt.Sprintf("cut: %d of %s entries", n, total)
		entries = entries[:n]
	}
	var w strings.Builder
	for _, e := range entries {
		kind := "[FILE] "
		if dir.IsDir(e) {
			kind = "[DIR] "
		}
		w.WriteString(kind + quoteInLine(e.Name()) + "\n")
	}
	f.Content = w.String()
}

// quoteInLine returns a name as it stands in a line: quoted if it could look like more than one.
func quoteInLine(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// readText reads a file, or the lines of it that a mark names. One that is an image becomes
// an image.
func (r *resolver) readText(f *Found, m Mark, file *workspace.File) {
	in := bufio.NewReaderSize(file, sniffed)
	start, err := in.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Error = errUnreadable.Error()
		return
	}
	switch {
	case isImage(start):
		r.imageFile(f, m, file.Size, in)
		return
	case byteOrder(start) == nil && bytes.IndexByte(start, 0) >= 0:
		f.Error = fmt.Sprintf("a binary file of %s", formatBytes(file.Size))
		return
	}
	f.Language = fenceLanguage(file.Source)
	if m.First > 0 && byteOrder(start) == nil {
		err = r.someLines(f, m, in)
	} else {
		err = r.readWhole(f, m, file.Size, in)
	}
	if err != nil {
		f.Error = err.Error()
		f.Content = ""
		f.Note = ""
	}
}

// readWhole reads a file to its end, if it is not too large.
func (r *resolver) readWhole(f *Found, m Mark, size int64, in io.Reader) error {
	if size > r.limits.FileBytes {
		return newTooLargeError(size, r.limits.FileBytes)
	}
	raw, err := io.ReadAll(io.LimitReader(in, r.limits.FileBytes+1))
	if err != nil {
		return errUnreadable
	}
	if n := int64(len(raw)); n > r.limits.FileBytes { // it grew
		return newTooLargeError(n, r.limits.FileBytes)
	}
	if o := byteOrder(raw); o != nil {
		raw = decodeUTF16(raw, o)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if bytes.IndexByte(raw, 0) >= 0 {
		return fmt.Errorf("a binary file of %s", formatBytes(size))
	}
	if m.First > 0 {
		return r.someLines(f, m, bufio.NewReader(bytes.NewReader(raw)))
	}
	f.Content = string(raw)
	return checkUTF8(f.Content, 1)
}

func newTooLargeError(size, most int64) error {
	return fmt.Errorf("too large: %s, and at most %s are read; name lines of it, as in @[path:1:200]", formatBytes(size),
		formatBytes(most))
}

// someLines reads the lines that a mark names; those behind the end are left out, but not
// all of them.
func (r *resolver) someLines(f *Found, m Mark, in *bufio.Reader) error {
	last := cmp.Or(m.Last, m.First)
	if last < m.First {
		return fmt.Errorf("lines %d to %d are in reverse", m.First, last)
	}
	s := lineReader{in: in, left: min(maxSkip, maxSkips*maxSkip-r.skipped)}
	before := s.left
	defer func() { r.skipped += before - s.left }()
	for range m.First - 1 {
		if err := s.skipLine(); err != nil {
			return s.pastError(m.First, err)
		}
	}
	var w strings.Builder
	for n := m.First; n <= last && f.Note == ""; n++ {
		more, err := s.readLine(&w, r.limits.FileBytes)
		if errors.Is(err, io.EOF) && n > m.First {
			break
		}
		if err != nil {
			return s.pastError(m.First, err)
		}
		if more {
			f.Note = fmt.Sprintf("cut in line %d: at most %s are read", n, formatBytes(r.limits.FileBytes))
		}
	}
	content := strings.TrimPrefix(w.String(), "\ufeff")
	if f.Note != "" {
		content = dropPartial(content)
	} else {
		content = strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r")
	}
	if strings.IndexByte(content, 0) >= 0 {
		return errors.New("these lines are not text")
	}
	f.Content = content
	return checkUTF8(content, m.First)
}

// dropPartial drops a character that was cut in two at the end.
func dropPartial(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// lineReader reads lines and counts them.
type lineReader struct {
	in   *bufio.Reader
	left int64 // bytes that may still be skipped
	read int   // lines
}

var errFar = errors.New("too far")

// skipLine reads one line; its error is io.EOF where there is none.
func (l *lineReader) skipLine() error {
	for begun := false; ; begun = true {
		part, err := l.in.ReadSlice('\n')
		l.left -= int64(len(part))
		switch {
		case l.left < 0:
			return errFar
		case err == nil, errors.Is(err, io.EOF) && (begun || len(part) > 0):
			l.read++
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// readLine adds one line to w, which holds at most limit bytes; more reports that it is
// longer. Its error is io.EOF where there is none.
func (l *lineReader) readLine(w *strings.Builder, limit int64) (more bool, err error) {
	for begun := false; ; begun = true {
		part, err := l.in.ReadSlice('\n')
		if room := limit - int64(w.Len()); int64(len(part)) > room {
			w.Write(part[:room])
			return true, nil
		}
		w.Write(part)
		switch {
		case err == nil, errors.Is(err, io.EOF) && (begun || len(part) > 0):
			l.read++
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}

// pastError returns the error where the first line that is wanted was not reached.
func (l *lineReader) pastError(first int, err error) error {
	switch {
	case errors.Is(err, errFar):
		return fmt.Errorf("too large: line %d is not within its first %s", first, formatBytes(maxSkip))
	case errors.Is(err, io.EOF) && l.read == 1:
		return fmt.Errorf("line %d is past the end: the file has 1 line", first)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("line %d is past the end: the file has %d lines", first, l.read)
	}
	return errUnreadable
}

// byteOrder returns how the bytes of UTF-16 are ordered, by the mark it begins with, or nil.
func byteOrder(start []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	return nil
}

func decodeUTF16(raw []byte, o binary.ByteOrder) []byte {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = o.Uint16(raw[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// checkUTF8 refuses what is not UTF-8; first is the number of its first line.
func checkUTF8(s string, first int) error {
	if utf8.ValidString(s) {
		return nil
	}
	line := first
	at := 0
	for i, c := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); c == utf8.RuneError && n == 1 {
			at = i
			break
		}
		if c == '\n' {
			line++
		}
	}
	return fmt.Errorf("not UTF-8 text: the byte 0x%02x in line %d", s[at], line)
}

// formatBytes returns a number of bytes for a person, exactly.
func formatBytes(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n == 1 {
		return "1 byte"
	}
	return digits + " bytes"
}
