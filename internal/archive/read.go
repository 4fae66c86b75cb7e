package archive

import (
	"bytes"
	"context"
	"os"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

const (
	tailBytes = 1 << 20 // the most a tail returns
	headBytes = 512     // looked at to tell text from the rest
	readSlack = 8       // bytes around a page, to find the ends of characters
)

// refBody is the readable bytes behind a ref. At returns n of them from off, both
// within the size.
type refBody struct {
	size  int64
	at    func(ctx context.Context, off int64, n int) ([]byte, error)
	close func() error
}

func memoryBody(b []byte) *refBody {
	return &refBody{
		size:  int64(len(b)),
		at:    func(_ context.Context, off int64, n int) ([]byte, error) { return b[off : off+int64(n)], nil },
		close: func() error { return nil },
	}
}

func fileBody(f *os.File, size int64) *refBody {
	return &refBody{size: size, close: f.Close, at: func(_ context.Context, off int64, n int) ([]byte, error) {
		b := make([]byte, n)
		// One that has become shorter is no end.
		if got, err := f.ReadAt(b, off); got < n {
			return nil, scrollback.Wrap(scrollback.Unavailable, "archive.Read", err)
		}
		return b, nil
	}}
}

// openEntry returns what a resolved ref points at; binary content is invalid.
func (a *Archive) openEntry(ctx context.Context, e scrollback.RefEntry) (*refBody, error) {
	kind, id, err := e.Ref.Split()
	if err != nil {
		return nil, scrollback.ParamErrorf("archive.open", "ref", "%w", err)
	}
	if kind == scrollback.RefArtifact {
		return a.openTextArtifact(ctx, scrollback.ArtifactID(id), e.MediaType)
	}
	seg, err := a.readSegment(ctx, scrollback.SegmentID(id))
	if err != nil {
		return nil, err
	}
	return a.openSegment(ctx, seg)
}

// Read returns at most limit bytes from offset; limit 0 means the default. An
// offset within a character moves on to the next, and the page says so; a page
// holds at least one character.
func (a *Archive) Read(ctx context.Context, e scrollback.RefEntry, offset int64, limit int) (scrollback.Page, error) {
	return a.readPage(ctx, e, a.openEntry, offset, limit)
}

// bodyOpener opens what an entry points at.
type bodyOpener func(ctx context.Context, e scrollback.RefEntry) (*refBody, error)

func (a *Archive) readPage(ctx context.Context, e scrollback.RefEntry, open bodyOpener, offset int64,
	limit int) (scrollback.Page, error) {
	const op = "archive.Read"
	if limit == 0 {
		limit = scrollback.ReadDefault
	}
	if limit < 0 || limit > scrollback.ReadMax {
		return scrollback.Page{}, scrollback.ParamErrorf(op, "limit", i18n.ByteLimitOutOfRange, scrollback.ReadMax)
	}
	if offset < 0 {
		return scrollback.Page{}, scrollback.ParamErrorf(op, "offset", i18n.OffsetMustNotBeNegative)
	}
	b, err := open(ctx, e)
	if err != nil {
		return scrollback.Page{}, err
	}
	defer func() { _ = b.close() }() // read-only
	if offset > b.size {
		return scrollback.Page{}, scrollback.ParamErrorf(op, "offset", i18n.OffsetPastEnd, offset, b.size)
	}
	from := max(0, offset-readSlack)
	win, err := b.at(ctx, from, int(min(b.size, offset+int64(limit)+readSlack)-from))
	if err != nil {
		return scrollback.Page{}, err
	}
	_, start := characterAt(win, int(offset-from))
	end := len(win)
	if start+limit < end {
		end, _ = characterAt(win, start+limit)
		if end <= start {
			_, end = characterAt(win, start+1)
		}
	}
	page := scrollback.Page{Ref: e.Ref, Offset: from + int64(start), NextOffset: from + int64(end), Bytes: b.size,
		Content: string(win[start:end])}
	page.Done = page.NextOffset == b.size
	return page, a.checkText(e, win[start:end])
}

// Tail returns the last lines; 0 means the default. What would exceed 1 MiB is
// cut to its last whole lines (a single line to its end), and Lines counts them.
func (a *Archive) Tail(ctx context.Context, e scrollback.RefEntry, lines int) (scrollback.Tail, error) {
	return a.readTail(ctx, e, a.openEntry, lines)
}

func (a *Archive) readTail(ctx context.Context, e scrollback.RefEntry, open bodyOpener,
	lines int) (scrollback.Tail, error) {
	if lines == 0 {
		lines = scrollback.TailDefault
	}
	if lines < 0 || lines > scrollback.TailMax {
		return scrollback.Tail{}, scrollback.ParamErrorf("archive.Tail", "lines", i18n.LinesOutOfRange, scrollback.TailMax)
	}
	b, err := open(ctx, e)
	if err != nil {
		return scrollback.Tail{}, err
	}
	defer func() { _ = b.close() }() // read-only
	tail := scrollback.Tail{Ref: e.Ref, Lines: lines}
	for n := int64(64 << 10); ; n *= 4 {
		n = min(n, b.size, tailBytes)
		buf, err := b.at(ctx, b.size-n, int(n))
		if err != nil {
			return scrollback.Tail{}, err
		}
		cut, whole := lastLines(buf, lines)
		if !whole && n < b.size {
			if n < tailBytes {
				continue
			}
			cut = firstWholeLine(buf)
			tail.Lines = countLines(buf[cut:])
		}
		tail.Content = string(buf[cut:])
		return tail, a.checkText(e, buf[cut:])
	}
}

// checkText refuses a stretch of an artifact that is not text. A segment's file
// is served as it is.
func (a *Archive) checkText(e scrollback.RefEntry, b []byte) error {
	if kind, _, _ := e.Ref.Split(); kind == scrollback.RefArtifact && !utf8.Valid(b) {
		return newNotTextError(e.MediaType, e.Bytes)
	}
	return nil
}

// characterAt returns where the character around b[i] begins and ends, or i and i
// if i is between two (or in invalid bytes).
func characterAt(b []byte, i int) (from, to int) {
	for k := 1; k < utf8.UTFMax && k <= i; k++ {
		if utf8.RuneStart(b[i-k]) {
			if _, n := utf8.DecodeRune(b[i-k:]); n > k {
				return i - k, i - k + n
			}
			break
		}
	}
	return i, i
}

// lastLines returns where the last n lines of b begin, and whether b holds them all.
// A final newline ends the last line and does not begin another.
func lastLines(b []byte, n int) (int, bool) {
	i := len(bytes.TrimSuffix(b, []byte("\n")))
	for ; n > 0; n-- {
		if i = bytes.LastIndexByte(b[:i], '\n'); i < 0 {
			return 0, false
		}
	}
	return i + 1, true
}

// firstWholeLine returns where the first whole line of a cut b begins, or else its first
// whole character.
func firstWholeLine(b []byte) int {
	if i := bytes.IndexByte(b, '\n') + 1; i > 0 && i < len(b) {
		return i
	}
	i := 0
	for i < len(b) && i < utf8.UTFMax && !utf8.RuneStart(b[i]) {
		i++
	}
	return i
}

func countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
