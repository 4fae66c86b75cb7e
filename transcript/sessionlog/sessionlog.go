// Package sessionlog reads what agents write down as they work: a file a session, with a JSON
// record on each line, or one document that is written again whole.
//
// Words it adds: talk (one conversation of a file), format (how a tool's files are told from
// others, and the records of one become talks), record (a line of a file that is whole).
//
// Invariants: a session is held in memory, about three times the size of its file; a node whose
// parent is not in the file follows the one before it there; a result has the name of the call
// that it answers on its path; a talk in which nothing is said is none.
//
// It may not know the store, the network or any one tool.
package sessionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Format is one tool's.
type Format struct {
	// Sniff is [transcript.Tool]'s.
	Sniff func(name string, head []byte) bool

	// Named reports by its path in a place whether a file may be one of a session. Only those are
	// opened, but for a file that was named itself.
	Named func(name string) bool

	// Identify returns what the tool calls the session of a file that begins with head; nil or
	// empty for the file's name.
	Identify func(name string, head []byte) string

	// Beside lists the files that a session's file is read with. May be nil.
	Beside func(p transcript.Place, name string) []string

	// Document returns, for a file that is one JSON document, in how many containers of it a message is: of one
	// that is damaged the whole ones are kept. It is 0 for a file of lines. May be nil.
	Document func(name string) int

	// Depth is in how many folders below a place sessions may be; 0 for ten.
	Depth int

	// Talks makes the conversations of a session, a sub-agent's after that which started it.
	Talks func(f *File) []*Talk
}

// File is a session's file while it is read.
type File struct {
	Place   transcript.Place
	Name    string // in the place
	ID      string // of the session
	Changed int64  // Unix ms
	Live    bool   // somebody may still be writing it
	Records []Record
	Torn    bool // the end is still to be written

	faults []transcript.Bad
}

// Record is a record of a file.
type Record struct {
	JSON json.RawMessage
	Line int // from 1
}

// Talk is one conversation of a file.
type Talk struct {
	ID                string
	About             scrollback.Conversation // Title, Model, times and Meta
	Folder, GitBranch string
	Agent             *transcript.AgentOf
	Nodes             []tree.Node
	Leaf              string // where the current path ends; the last node if it is not there
	Held              bool   // something is not complete yet
	Left              map[string]int
}

// maxKinds bounds the kinds of what was left out that are told apart.
const maxKinds = 100

// CountLeft counts one more of a kind that was left out.
func (t *Talk) CountLeft(kind string) {
	if t.Left == nil {
		t.Left = map[string]int{}
	}
	if kind = CleanWord(kind); len(t.Left) >= maxKinds && t.Left[kind] == 0 {
		kind = "other"
	}
	t.Left[kind]++
}

// Read implements [transcript.Tool].
func (f Format) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		file := &File{Place: p, Name: s.Name, ID: s.ID, Changed: s.Changed, Live: p.IsLive(s)}
		depth := 0
		if f.Document != nil {
			depth = f.Document(s.Name)
		}
		var err error
		if depth > 0 {
			err = file.readDocument(depth)
		} else {
			file.Records, err = file.readRecords(ctx, s.Name)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		torn := file.Torn
		talks := f.Talks(file)
		for _, bad := range file.faults {
			if !yield(transcript.Entry{Bad: &bad}, nil) {
				return
			}
		}
		for _, t := range talks {
			t.Held = t.Held || torn
		}
		YieldTalks(ctx, talks, yield)
	}
}

// YieldTalks yields the conversations of a session, each once, until the caller stops.
func YieldTalks(ctx context.Context, talks []*Talk, yield func(transcript.Entry, error) bool) {
	seen := map[string]bool{}
	for _, t := range talks {
		if t.ID == "" || seen[t.ID] {
			continue
		}
		if t.Agent != nil && !seen[t.Agent.Source] {
			t.Agent = nil // what started it says nothing
		}
		for e := range t.entries() {
			seen[t.ID] = true
			if !yield(e, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

// readRecords reads a file, and notes what is damaged there.
func (f *File) readRecords(ctx context.Context, name string) (out []Record, err error) {
	file, err := f.Place.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	in := transcript.NewRecords(file)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := in.Next()
		switch {
		case transcript.IsEnd(err):
			return out, nil
		case err != nil:
			return nil, err
		case r.Reason != "" && r.Torn && f.Live:
			f.Torn = true
		case r.Reason != "":
			f.faults = append(f.faults, transcript.Bad{Line: r.Line, Reason: r.Reason})
		default:
			out = append(out, Record{bytes.Clone(r.JSON), r.Line})
		}
	}
}

// readDocument reads a file that is one document, or what is whole of it.
func (f *File) readDocument(depth int) error {
	file, err := f.Place.FS.Open(f.Name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(transcript.DecodeUTF8(file), transcript.MaxLine+1))
	if err != nil {
		return err
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	switch {
	case len(raw) > transcript.MaxLine:
		f.faults = append(f.faults, transcript.Bad{Reason: fmt.Sprintf("longer than %d bytes", transcript.MaxLine)})
		return nil
	case json.Valid(raw):
	case f.Live:
		f.Torn = true // it is being written, perhaps
		return nil
	default:
		f.faults = append(f.faults, explainDamage(raw))
		if raw = transcript.MendAround(raw, depth); raw == nil {
			return nil
		}
	}
	f.Records = []Record{{JSON: raw, Line: 1}}
	return nil
}

// explainDamage returns what is wrong with a document that is not JSON.
func explainDamage(raw []byte) transcript.Bad {
	d := transcript.NewDocument(bytes.NewReader(raw), transcript.MaxLine)
	for {
		_, err := d.Next()
		if err == nil {
			_, err = d.Value()
		}
		if err == nil {
			continue
		}
		bad, _ := d.ExplainFault(err)
		return bad
	}
}

// ReadRecords reads another file of the session; one that cannot be read has none.
func (f *File) ReadRecords(name string) []Record {
	out, err := f.readRecords(context.Background(), name)
	if err != nil {
		f.faults = append(f.faults, transcript.Bad{Reason: explainError(err), Source: path.Base(name)})
	}
	return out
}

// entries yields a talk, from its description to its End; nothing if nothing is said in it.
func (t *Talk) entries() iter.Seq[transcript.Entry] {
	return func(yield func(transcript.Entry) bool) {
		described := false
		calls := &callPath{names: map[string][]string{}}
		for e := range tree.WalkEntries(t.ID, t.linkNodes(), t.Leaf) {
			if !described {
				described = true
				about := t.About
				if !yield(transcript.Entry{Source: t.ID, Conversation: &about, Agent: t.Agent, Origin: &scrollback.Origin{
					ID: t.ID, Root: string(e.Message.ID), Folder: t.Folder, GitBranch: t.GitBranch,
				}}) {
					return
				}
			}
			if e.Rewind != nil {
				calls.rewindTo(*e.Rewind)
			} else {
				calls.follow(&e)
			}
			if !yield(e) {
				return
			}
		}
		if described {
			yield(transcript.Entry{Source: t.ID, End: &transcript.End{Held: t.Held, Left: t.Left}})
		}
	}
}

// linkNodes returns the nodes, each below one that is there or at a root.
func (t *Talk) linkNodes() []tree.Node {
	known := map[string]bool{}
	for _, n := range t.Nodes {
		known[n.ID] = true
	}
	out := make([]tree.Node, len(t.Nodes))
	for i, n := range t.Nodes {
		if n.Parent != "" && !known[n.Parent] && i > 0 {
			n.Parent = t.Nodes[i-1].ID
		}
		out[i] = n
	}
	return out
}

// callPath is the calls of a path.
type callPath struct {
	depth int
	made  []madeCall
	names map[string][]string // by id, the newest last
}

type madeCall struct {
	depth int
	id    string
}

func (c *callPath) rewindTo(depth int) {
	c.depth = depth
	for n := len(c.made); n > 0 && c.made[n-1].depth >= depth; n-- {
		id := c.made[n-1].id
		c.names[id] = c.names[id][:len(c.names[id])-1]
		c.made = c.made[:n-1]
	}
}

// follow takes the next message, and gives its results the names of their calls.
func (c *callPath) follow(e *transcript.Entry) {
	parts := make(scrollback.Parts, len(e.Message.Parts))
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.ToolCall:
			c.made = append(c.made, madeCall{c.depth, p.ID})
			c.names[p.ID] = append(c.names[p.ID], p.Name)
		case scrollback.ToolResult:
			if names := c.names[p.CallID]; len(names) > 0 {
				p.Name = names[len(names)-1]
			}
			parts[i] = p
			continue
		case scrollback.Text, scrollback.Image, scrollback.File, scrollback.Reasoning:
		}
		parts[i] = p
	}
	e.Message.Parts = parts
	c.depth++
}

// ReadBeside returns a small file beside a session's, or nil.
func (f *File) ReadBeside(name string) []byte {
	file, err := f.Place.FS.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it was only read
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxBeside {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxBeside))
	if err != nil {
		return nil
	}
	return raw
}

// maxBeside bounds a file beside a session's.
const maxBeside = 16 << 20
