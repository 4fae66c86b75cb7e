package geminicli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Tool reads sessions where Gemini CLI keeps them. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool.
func (Tool) Homes(m transcript.Machine) []string {
	home := m.Home
	if named := m.Getenv("GEMINI_CLI_HOME"); filepath.IsAbs(named) {
		home = named
	}
	return []string{filepath.Join(home, filepath.FromSlash(Folder))}
}

// Sniff implements transcript.Tool.
func (Tool) Sniff(name string, head []byte) bool {
	return (strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json")) && Format{}.Sniff(head)
}

// Sessions implements transcript.Tool.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		names, err := listSessions(p)
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				yield(transcript.Session{}, err)
				return
			}
			info, err := fs.Stat(p.FS, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was removed meanwhile
			}
			s := transcript.Session{ID: name, Name: name}
			if err != nil {
				s.Bad = explainError(err)
			} else {
				s.Bytes = info.Size()
				s.Changed = info.ModTime().UnixMilli()
				s.Stamp = fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano())
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// explainError returns why a file could not be used, without its name.
func explainError(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// listSessions lists the files of a place, oldest first: a home of the tool, one of the
// folders in it, or a single file.
func listSessions(p transcript.Place) ([]string, error) {
	if p.Name != "." {
		return []string{p.Name}, nil
	}
	for _, folder := range []string{Folder, path.Base(Folder)} {
		if info, err := fs.Stat(p.FS, folder); err == nil && info.IsDir() {
			return listFiles(p.FS, folder, nil)
		}
	}
	if strings.HasSuffix(filepath.ToSlash(p.Path), "/"+Folder) {
		return listFiles(p.FS, ".", nil)
	}
	return listFiles(p.FS, ".", func(name string) bool { // another tool's folder may look like this one
		head, err := readHead(p.FS, name)
		return err == nil && Format{}.Sniff(head)
	})
}

// headBytes is how much of a file is looked at to recognise it.
const headBytes = 64 << 10

func readHead(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, headBytes))
}

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		f, err := p.FS.Open(s.Name)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		in := &countingReader{ctx: ctx, r: f}
		r := &entryReading{place: p, session: s, live: p.IsLive(s), in: in, yield: yield}
		for e, err := range (Format{}).Read(in) {
			if !r.takeEntry(e, err) {
				return
			}
		}
		r.endReading()
	}
}

// entryReading passes the entries of a file on to the reader of a session.
type entryReading struct {
	place   transcript.Place
	session transcript.Session
	live    bool
	in      *countingReader
	yield   func(transcript.Entry, error) bool

	source  string
	began   bool
	held    bool
	pending []transcript.Entry // a reply whose calls may still get results
}

func (r *entryReading) takeEntry(e transcript.Entry, err error) bool {
	switch {
	case err != nil:
		r.yield(e, err)
		return false
	case e.Bad != nil && r.live && r.in.isTorn(e.Bad.Line):
		r.held = true // it is being written
		return true
	case e.Bad != nil:
		return r.yield(e, nil)
	}
	if e.Source == "" {
		e.Source = r.session.Name // a checkpoint has no id
	}
	if e.Conversation != nil {
		r.began = true
		r.source = e.Source
		e.Origin = &scrollback.Origin{ID: e.Source, Folder: r.workFolder(e.Conversation.Meta)}
		return r.yield(e, nil)
	}
	if e.Rewind == nil && e.Message.Role == scrollback.RoleTool && len(r.pending) > 0 {
		r.pending = append(r.pending, e)
		return true
	}
	if !r.flushHeld() {
		return false
	}
	if r.live && e.Rewind == nil && len(e.Message.Parts.Calls()) > 0 {
		r.pending = append(r.pending, e)
		return true
	}
	return r.yield(e, nil)
}

func (r *entryReading) flushHeld() bool {
	for _, e := range r.pending {
		if !r.yield(e, nil) {
			return false
		}
	}
	r.pending = nil
	return true
}

// endReading says that nothing more follows. What a live session may still add to is left for
// the next time.
func (r *entryReading) endReading() {
	if r.began {
		r.yield(transcript.Entry{Source: r.source, End: &transcript.End{Held: r.held || len(r.pending) > 0}}, nil)
	}
}

// maxRoot bounds the file that says which folder a project is.
const maxRoot = 4 << 10

// workFolder returns the one that was worked in: the session says so, or a file of the project that it is in.
func (r *entryReading) workFolder(meta json.RawMessage) string {
	var m map[string]struct {
		Header struct{ Directories []string }
	}
	// A header of another shape names no folder.
	if json.Unmarshal(meta, &m) == nil {
		if named := m[metaKey].Header.Directories; len(named) > 0 && filepath.IsAbs(named[0]) {
			return named[0]
		}
	}
	project, _, _ := strings.Cut(r.session.Name, "/chats/")
	if project == r.session.Name {
		project = path.Dir(project)
	}
	f, err := r.place.FS.Open(path.Join(project, ".project_root"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	root, err := io.ReadAll(io.LimitReader(f, maxRoot))
	if named := strings.TrimSpace(string(root)); err == nil && filepath.IsAbs(named) && utf8.ValidString(named) {
		return named
	}
	return ""
}

// countingReader knows on which line of a file a reader is, and ends when its context does.
type countingReader struct {
	ctx   context.Context
	r     io.Reader
	lines int // that ended
	open  bool
	eof   bool
}

func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if n > 0 {
		c.lines += strings.Count(string(p[:n]), "\n")
		c.open = p[n-1] != '\n'
	}
	c.eof = c.eof || transcript.IsEnd(err)
	return n, err
}

// isTorn reports whether a line is the last one, and does not end.
func (c *countingReader) isTorn(line int) bool { return c.eof && c.open && line == c.lines+1 }
