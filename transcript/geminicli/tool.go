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
		names, err := sessionsOf(p)
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
				s.Bad = reason(err)
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

// reason is why a file could not be used, without its name.
func reason(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// sessionsOf lists the files of a place, oldest first: a home of the tool, one of the
// folders in it, or a single file.
func sessionsOf(p transcript.Place) ([]string, error) {
	if p.Name != "." {
		return []string{p.Name}, nil
	}
	for _, folder := range []string{Folder, path.Base(Folder)} {
		if info, err := fs.Stat(p.FS, folder); err == nil && info.IsDir() {
			return files(p.FS, folder, nil)
		}
	}
	if strings.HasSuffix(filepath.ToSlash(p.Path), "/"+Folder) {
		return files(p.FS, ".", nil)
	}
	return files(p.FS, ".", func(name string) bool { // another tool's folder may look like this one
		head, err := headOf(p.FS, name)
		return err == nil && Format{}.Sniff(head)
	})
}

// headBytes is how much of a file is looked at to recognise it.
const headBytes = 64 << 10

func headOf(fsys fs.FS, name string) ([]byte, error) {
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
		in := &counting{ctx: ctx, r: f}
		r := &reading{place: p, session: s, live: p.Live(s), in: in, yield: yield}
		for e, err := range (Format{}).Read(in) {
			if !r.take(e, err) {
				return
			}
		}
		r.end()
	}
}

// reading passes the entries of a file on to the reader of a session.
type reading struct {
	place   transcript.Place
	session transcript.Session
	live    bool
	in      *counting
	yield   func(transcript.Entry, error) bool

	source  string
	began   bool
	held    bool
	pending []transcript.Entry // a reply whose calls may still get results
}

func (r *reading) take(e transcript.Entry, err error) bool {
	switch {
	case err != nil:
		r.yield(e, err)
		return false
	case e.Bad != nil && r.live && r.in.torn(e.Bad.Line):
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
		e.Origin = &scrollback.Origin{ID: e.Source, Folder: r.folder(e.Conversation.Meta)}
		return r.yield(e, nil)
	}
	if e.Rewind == nil && e.Message.Role == scrollback.RoleTool && len(r.pending) > 0 {
		r.pending = append(r.pending, e)
		return true
	}
	if !r.flush() {
		return false
	}
	if r.live && e.Rewind == nil && len(e.Message.Parts.Calls()) > 0 {
		r.pending = append(r.pending, e)
		return true
	}
	return r.yield(e, nil)
}

func (r *reading) flush() bool {
	for _, e := range r.pending {
		if !r.yield(e, nil) {
			return false
		}
	}
	r.pending = nil
	return true
}

// end says that nothing more follows. What a live session may still add to is left for
// the next time.
func (r *reading) end() {
	if r.began {
		r.yield(transcript.Entry{Source: r.source, End: &transcript.End{Held: r.held || len(r.pending) > 0}}, nil)
	}
}

// maxRoot bounds the file that says which folder a project is.
const maxRoot = 4 << 10

// folder is the one that was worked in: the session says so, or a file of the project that it is in.
func (r *reading) folder(meta json.RawMessage) string {
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

// counting knows on which line of a file a reader is, and ends when its context does.
type counting struct {
	ctx   context.Context
	r     io.Reader
	lines int // that ended
	open  bool
	eof   bool
}

func (c *counting) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if n > 0 {
		c.lines += strings.Count(string(p[:n]), "\n")
		c.open = p[n-1] != '\n'
	}
	c.eof = c.eof || transcript.Ended(err)
	return n, err
}

// torn reports whether a line is the last one, and does not end.
func (c *counting) torn(line int) bool { return c.eof && c.open && line == c.lines+1 }
