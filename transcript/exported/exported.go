// Package exported reads what chat services hand out when somebody asks for their data:
// files of JSON with many conversations, each a tree, and attachments beside them, in a
// folder or a zip.
//
// Words it adds: talk (one conversation of a file), format (how a service's files are told
// from others, and an item of one becomes a talk).
//
// Invariants: a file is read item by item, and never held whole; what is of another type
// than expected is as if it were not there; a conversation that comes twice in a file is
// read once. Foreign ids never become paths: an attachment is a file of the place whose
// name begins with the id.
//
// It may not know the store, the network or any one service.
package exported

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// MaxTalk bounds one conversation of a file, in bytes.
const MaxTalk = 256 << 20

// Format is one service's.
type Format struct {
	// Sniff is [transcript.Tool]'s.
	Sniff func(name string, head []byte) bool

	// Named reports whether a file of this base name has conversations, if it is the
	// service's at all: that it cannot be opened is then said.
	Named func(base string) bool

	// Never reports whether a file of this base name must not be opened. May be nil.
	Never func(base string) bool

	// Depth is in how many containers a message of an item is, of which an item that is
	// damaged at its end keeps the whole ones.
	Depth int

	// Lists are the fields of an item that are lists of messages: of a file that is one item
	// and damaged, the whole ones are kept. May be nil.
	Lists []string

	// Field is the field of the object that a file is, whose list has the items; empty for a file
	// that is the list, an item, or lines with one each.
	Field string

	// Talk makes a talk of an item of a file; nil if nothing is said in it. An error says
	// what is wrong with the item.
	Talk func(a *Assets, item json.RawMessage) (*Talk, error)
}

// ErrOther says that an item is not a conversation of the service.
var ErrOther = errors.New("this is not a conversation")

// Talk is one conversation of a file.
type Talk struct {
	ID    string
	About scrollback.Conversation // Title, Model, times and KeepMeta
	Nodes []tree.Node
	Leaf  string // where the current path ends
	Held  bool   // something is not complete yet
	Left  Left
}

// Left counts what is not talk and was left out, by kind.
type Left map[string]int

// CountLeft counts one more of a kind.
func (t *Talk) CountLeft(kind string) {
	if t.Left == nil {
		t.Left = Left{}
	}
	if len(t.Left) >= 100 && t.Left[kind] == 0 {
		kind = "other"
	}
	t.Left[kind]++
}

// Entries returns the entries of a talk, from its description to its End; none if nothing is
// said in it.
func (t *Talk) Entries() iter.Seq[transcript.Entry] {
	return func(yield func(transcript.Entry) bool) {
		described := false
		for e := range tree.WalkEntries(t.ID, t.Nodes, t.Leaf) {
			if !described {
				about := t.About
				if !yield(transcript.Entry{Source: t.ID, Conversation: &about,
					Origin: &scrollback.Origin{ID: t.ID, Root: string(e.Message.ID)}}) {
					return
				}
				described = true
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

// Read implements [transcript.Tool].
func (f Format) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		file, err := p.FS.Open(s.Name)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		seen := map[string]bool{}
		assets := FilesBeside(p, s.Name)
		first := true
		for item, err := range f.readItems(file) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(transcript.Entry{}, err)
				return
			}
			if p.IsLive(s) {
				item.torn = nil // it is being written, perhaps
			} else if first && item.fault != "" && f.yieldSalvaged(p, s, assets, yield) {
				return
			}
			first = false
			if !f.yieldItem(item, assets, seen, yield) {
				return
			}
		}
	}
}

// yieldItem yields one item, and reports whether to go on.
func (f Format) yieldItem(it fileItem, assets *Assets, seen map[string]bool,
	yield func(transcript.Entry, error) bool) bool {
	bad := func(reason string) bool {
		return yield(transcript.Entry{Bad: &transcript.Bad{Line: it.line, Reason: reason}}, nil)
	}
	if it.fault != "" {
		return bad(it.fault) && f.yieldMended(it, assets, seen, yield)
	}
	t, err := f.Talk(assets, it.raw)
	switch {
	case err != nil:
		return bad(err.Error())
	case t == nil:
		return true
	case t.ID == "":
		return bad("a conversation without an id")
	case seen[t.ID]:
		return bad(fmt.Sprintf("the conversation %.80q is there twice", t.ID))
	}
	seen[t.ID] = true
	return yieldTalk(it, t, yield)
}

// yieldSalvaged yields what is whole of a file that is one damaged item, and reports whether it is
// that and has some.
func (f Format) yieldSalvaged(p transcript.Place, s transcript.Session, assets *Assets,
	yield func(transcript.Entry, error) bool) bool {
	if len(f.Lists) == 0 {
		return false
	}
	file, err := p.FS.Open(s.Name)
	if err != nil {
		return false // what was read already counts
	}
	defer func() { _ = file.Close() }()
	d := transcript.NewDocument(file, MaxTalk)
	fields := map[string]any{}
	var faults []transcript.Bad
	for len(faults) == 0 { // nothing can be read behind the first list that is damaged
		name, err := d.Next()
		if err != nil {
			break
		}
		if !slices.Contains(f.Lists, name) {
			if fields[name], err = d.Value(); err != nil {
				delete(fields, name)
				break
			}
			continue
		}
		items := []json.RawMessage{}
		for raw, err := range d.Items() {
			if err == nil {
				items = append(items, raw)
				continue
			}
			bad, ours := d.ExplainFault(err)
			if !ours {
				return false
			}
			faults = append(faults, bad)
			if whole := transcript.MendValue(d.TornItem(), f.Depth-1); whole != nil {
				items = append(items, whole)
			}
		}
		fields[name] = items
	}
	raw, err := json.Marshal(fields)
	if err != nil || len(faults) == 0 {
		return false
	}
	t, err := f.Talk(assets, raw)
	if err != nil || t == nil || len(t.Nodes) == 0 {
		return false
	}
	for _, bad := range faults {
		if !yield(transcript.Entry{Bad: &bad}, nil) {
			return true
		}
	}
	yieldTalk(fileItem{line: 1}, t, yield)
	return true
}

// yieldMended yields what is whole of an item that is damaged.
func (f Format) yieldMended(it fileItem, assets *Assets, seen map[string]bool,
	yield func(transcript.Entry, error) bool) bool {
	whole := transcript.MendAround(it.torn, f.Depth)
	if whole == nil {
		return true
	}
	t, err := f.Talk(assets, whole)
	if err != nil || t == nil || len(t.Nodes) == 0 {
		return true // that it is damaged was said
	}
	if t.ID == "" { // it stands behind the damage
		t.ID = t.Nodes[0].ID
	}
	if t.ID == "" || seen[t.ID] {
		return true
	}
	seen[t.ID] = true
	known := map[string]bool{}
	for i := range t.Nodes {
		known[t.Nodes[i].ID] = true
	}
	for i := range t.Nodes[1:] { // what follows a message that is lost follows the one before that
		if n := &t.Nodes[i+1]; n.Parent != "" && !known[n.Parent] {
			n.Parent = t.Nodes[i].ID
		}
	}
	return yieldTalk(it, t, yield)
}

// yieldTalk yields a talk, and reports whether to go on.
func yieldTalk(it fileItem, t *Talk, yield func(transcript.Entry, error) bool) bool {
	for e := range t.Entries() {
		if e.Conversation == nil && e.End == nil && e.Rewind == nil {
			e.Line = it.line
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// fileItem is one of a file, or what is wrong there.
type fileItem struct {
	line  int
	raw   json.RawMessage
	fault string
	torn  []byte // what is damaged
}

// readItems yields the items of a file. An error is not the file's.
func (f Format) readItems(r io.Reader) iter.Seq2[fileItem, error] {
	if f.Field == "" {
		return readItems(r)
	}
	return func(yield func(fileItem, error) bool) {
		d := transcript.NewDocument(r, MaxTalk)
		for {
			name, err := d.Next()
			if transcript.IsEnd(err) {
				return
			}
			if err == nil && name != f.Field {
				_, err = d.Value()
			}
			if err != nil {
				yieldFault(d, err, yield)
				return
			}
			if name == f.Field && !yieldItems(d, yield) {
				return
			}
		}
	}
}

// yieldFault yields what is wrong with a document, and reports whether to go on.
func yieldFault(d *transcript.Document, err error, yield func(fileItem, error) bool) bool {
	bad, ours := d.ExplainFault(err)
	if !ours {
		yield(fileItem{}, err)
		return false
	}
	return yield(fileItem{line: bad.Line, fault: bad.Reason, torn: d.TornItem()}, nil)
}

// yieldItems yields the items of a document's list, and reports whether more can be read.
func yieldItems(d *transcript.Document, yield func(fileItem, error) bool) bool {
	damaged := false
	for raw, err := range d.Items() {
		if err != nil {
			damaged = true
			if !yieldFault(d, err, yield) {
				return false
			}
			continue
		}
		if !yield(fileItem{raw: raw, line: d.CurrentLine()}, nil) {
			return false
		}
	}
	return !damaged
}

// readItems yields the items of a file that is a list, one object, or lines with one each. An
// error is not the file's.
func readItems(r io.Reader) iter.Seq2[fileItem, error] {
	in := bufio.NewReaderSize(transcript.DecodeUTF8(r), headBytes)
	if head, _ := in.Peek(headBytes); isLines(head) {
		return readLines(in)
	}
	return func(yield func(fileItem, error) bool) {
		d := transcript.NewList(in, MaxTalk)
		for raw, err := range d.Items() {
			it := fileItem{raw: raw}
			if err != nil {
				bad, ok := d.ExplainFault(err)
				if !ok {
					yield(fileItem{}, err)
					return
				}
				it = fileItem{line: bad.Line, fault: bad.Reason, torn: d.TornItem()}
			} else {
				it.line = d.CurrentLine()
			}
			if !yield(it, nil) {
				return
			}
		}
		if _, err := io.Copy(io.Discard, in); err != nil { // a zip knows at the end whether it is whole
			yield(fileItem{}, err)
		}
	}
}

// isLines reports whether the first line of a file is an object, and others follow.
func isLines(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n")
	line, rest, more := bytes.Cut(head, []byte("\n"))
	return more && bytes.HasPrefix(line, []byte("{")) && json.Valid(line) && len(bytes.TrimSpace(rest)) > 0
}

func readLines(in *bufio.Reader) iter.Seq2[fileItem, error] {
	return func(yield func(fileItem, error) bool) {
		for n := 1; ; n++ {
			line, long, err := readLine(in)
			if err != nil && !transcript.IsEnd(err) {
				yield(fileItem{}, err)
				return
			}
			it := fileItem{line: n, raw: bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF")))}
			switch {
			case long:
				it.fault = fmt.Sprintf("longer than %d bytes", MaxTalk)
			case len(it.raw) > 0 && !json.Valid(it.raw):
				it.fault = "malformed JSON"
			}
			if (long || len(it.raw) > 0) && !yield(it, nil) || err != nil {
				return
			}
		}
	}
}

// readLine reads a line of at most MaxTalk bytes; a longer one is passed over.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxTalk; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
