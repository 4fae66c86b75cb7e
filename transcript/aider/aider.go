// Package aider reads the histories of Aider: one file a working folder, to which each
// start of the program adds a section in Markdown.
//
// Words it adds: section (what was said between two starts: a conversation), banner (what
// the program says before the first prompt), output (what it says later: edits, commits,
// commands), marked (a line that ends in two spaces, as Aider writes prompts and output,
// and models hardly ever write theirs).
//
// Invariants: sections have no ids, so that one is known by its start, its folder and how
// many began in the same second before it; a message by its position and its words. Times
// are those of the section, in the zone of this machine: the file has no others. What
// follows a prompt waits, while the file is live, until the next prompt or section. One
// turn is held in memory at a time.
//
// It may not know the store or the network.
package aider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "aider"
	metaKey = "aider"
)

// file is the name that Aider gives a history.
const file = ".aider.chat.history.md"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool.
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	if name := m.Getenv("AIDER_CHAT_HISTORY_FILE"); name != "" && path.IsAbs(strings.ReplaceAll(name, `\`, "/")) {
		out = append(out, name)
	}
	for _, dir := range append([]string{m.Home}, m.Folders...) {
		out = append(out, path.Join(dir, file))
	}
	return out
}

var started = lazyregexp.New(`^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$`)

// Sniff implements transcript.Tool.
func (Tool) Sniff(name string, head []byte) bool {
	if path.Base(name) == file {
		return true
	}
	head = bytes.TrimLeft(head, "\x00")
	line, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF"))), []byte("\n"))
	return started().Match(line)
}

// Sessions implements transcript.Tool: a history is one.
func (Tool) Sessions(_ context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		name := p.Name
		info, err := fs.Stat(p.FS, name)
		if err == nil && info.IsDir() {
			name = path.Join(name, file)
			if info, err = fs.Stat(p.FS, name); errors.Is(err, fs.ErrNotExist) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		known, err := isHistory(p.FS, name)
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		if !known {
			return
		}
		at := max(0, info.ModTime().UnixMilli())
		yield(transcript.Session{
			ID: strings.ToValidUTF8(path.Base(name), "�"), Name: name, Bytes: info.Size(), Changed: at,
			Stamp: fmt.Sprintf("%d@%d", info.Size(), at),
		}, nil)
	}
}

// isHistory reports whether a file is one of Aider's, by its name or its first line. Where that cannot
// be read, nothing says that it is none.
func isHistory(files fs.FS, name string) (bool, error) {
	if path.Base(name) == file {
		return true, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	head, err := io.ReadAll(io.LimitReader(f, 512))
	if (Tool{}).Sniff(name, head) {
		return true, nil
	}
	return false, err
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
		r := &historyReader{yield: yield, live: p.IsLive(s), seen: map[string]int{}, changed: s.Changed}
		if p.Path != "" {
			r.folder = strings.TrimSuffix(path.Join(strings.ReplaceAll(p.Path, `\`, "/"), path.Dir(s.Name)), "/")
			if strings.Contains(p.Path, `\`) {
				r.folder = strings.ReplaceAll(r.folder, "/", `\`)
			}
		}
		r.beginSection("")
		r.readLines(ctx, bufio.NewReaderSize(f, 64<<10))
	}
}
