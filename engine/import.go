package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of one write of an import.
const (
	importBatch = 256
	importBytes = 1 << 20
	sniffBytes  = 64 << 10
	maxSkipped  = 1000 // bad lines that are listed; more are counted
)

// ImportRequest says how to read a file. Format empty means by its content; Into
// adds everything to one conversation that exists.
type ImportRequest struct {
	Format   string
	Project  string
	Into     scrollback.ConversationID
	Progress func(messages int64) // may be nil
}

// ImportResult says what an import brought. Messages counts those newly written,
// Total those the conversation has now.
type ImportResult struct {
	Conversations []Imported       `json:"conversations"`
	Skipped       []transcript.Bad `json:"skipped"`
	MoreSkipped   int              `json:"more_skipped,omitempty"`
}

// Imported is one conversation of an import.
type Imported struct {
	ID       scrollback.ConversationID `json:"id"`
	Created  bool                      `json:"created"`
	Messages int64                     `json:"messages"`
	Total    int64                     `json:"total"`
}

// Import reads a file of another tool into conversations, folding as it goes. The
// same file again changes nothing, one that grew extends. r is read twice.
func (e *Engine) Import(ctx context.Context, r io.ReadSeeker, q ImportRequest) (ImportResult, error) {
	im := &importer{e: e, q: q, open: map[string]*importing{}}
	im.out = ImportResult{Conversations: []Imported{}, Skipped: []transcript.Bad{}}
	format, err := e.format(r, q.Format)
	if err != nil {
		return im.out, err
	}
	if q.Into == "" {
		if im.file, err = fileHash(r); err != nil {
			return im.out, err
		}
	}
	im.format = format.Name()
	read := 0
	for entry, err := range format.Read(&ctxReader{ctx, r}) {
		if err == nil && entry.Bad != nil {
			im.skip(*entry.Bad)
			continue
		}
		if err == nil {
			read++
			err = im.take(ctx, entry)
		}
		if err != nil {
			// What was read before the fault is good, and the next try goes on from it.
			return im.result(), errors.Join(scrollback.Wrap(scrollback.Unavailable, "engine.Import", err), im.flushAll(context.WithoutCancel(ctx)))
		}
	}
	if read == 0 {
		reason := "the file is empty"
		if len(im.out.Skipped) > 0 {
			reason = im.out.Skipped[0].Reason
			return im.out, scrollback.ParamErrorf("engine.Import", "file", "nothing could be read; line %d: %s", im.out.Skipped[0].Line, reason)
		}
		return im.out, scrollback.ParamErrorf("engine.Import", "file", "%s", reason)
	}
	err = im.flushAll(ctx)
	return im.result(), err
}

// format chooses the reader of a file.
func (e *Engine) format(r io.ReadSeeker, name string) (transcript.Importer, error) {
	head, err := bufio.NewReaderSize(r, sniffBytes).Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return nil, scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
	}
	var names []string
	for _, f := range e.o.Importers {
		if f.Name() == name || name == "" && f.Sniff(head) {
			return f, nil
		}
		names = append(names, f.Name())
	}
	if name != "" {
		return nil, scrollback.ParamErrorf("engine.Import", "from", "unknown format %q (%v)", name, names)
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return nil, scrollback.ParamErrorf("engine.Import", "file", "the file is of no format that can be read (%v); line 1 is: %s", names, clipBytes(string(bytes.ToValidUTF8(line, []byte("?"))), 80))
}

func fileHash(r io.ReadSeeker) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
	}
	_, err := r.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, scrollback.Wrap(scrollback.Canceled, "engine.Import", err)
	}
	return c.r.Read(p)
}

type importer struct {
	e      *Engine
	q      ImportRequest
	format string
	file   string // its SHA-256
	open   map[string]*importing
	order  []*importing
	out    ImportResult
	count  int64

	pending int // messages in all batches
}

// importing is one conversation on its way in. Messages up to old were there
// before; next is the one the file's next message is compared with, and known a
// page of them.
type importing struct {
	Imported
	shape     shape
	batch     []store.Incoming
	size      int
	old, next int64
	known     []scrollback.Message
}

func (im *importer) skip(b transcript.Bad) {
	if len(im.out.Skipped) == maxSkipped {
		im.out.MoreSkipped++
		return
	}
	im.out.Skipped = append(im.out.Skipped, b)
}

// result is what was done so far.
func (im *importer) result() ImportResult {
	im.out.Conversations = im.out.Conversations[:0]
	for _, c := range im.order {
		im.out.Conversations = append(im.out.Conversations, c.Imported)
	}
	return im.out
}

func (im *importer) flushAll(ctx context.Context) error {
	for _, c := range im.order {
		if err := im.flush(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) take(ctx context.Context, entry transcript.Entry) error {
	c, err := im.conversation(ctx, entry)
	if err != nil || entry.Conversation != nil {
		return err
	}
	mark, err := sourceMark(entry)
	if err != nil {
		return err
	}
	if c.next <= c.old {
		m, err := im.e.knownAt(ctx, c)
		if err == nil && markOf(m.Meta) != markOf(mark) {
			err = scrollback.Errorf(scrollback.Conflict, "engine.Import",
				"conversation %s differs from the file at message %d: it went on by itself, or the file changed its past", c.ID, m.Seq)
		}
		return err // nil: an earlier import wrote it
	}
	m := entry.Message
	m.ID, m.Meta = "", mark
	if m.Role == scrollback.RoleUser && len(m.Parts) > 0 && len(m.Parts.Results()) == len(m.Parts) {
		m.Role = scrollback.RoleTool
	}
	in, err := im.e.admitParts(ctx, c.ID, m, c.shape, entry.Bytes)
	if code := scrollback.CodeOf(err); code == scrollback.Invalid || code == scrollback.NotFound {
		im.skip(transcript.Bad{Line: entry.Line, Reason: scrollback.Shown(err)})
		return nil
	}
	if err != nil {
		return err
	}
	c.batch = append(c.batch, in)
	if im.pending++; im.pending >= 4*importBatch {
		return im.flushAll(ctx)
	}
	for _, p := range in.Parts.Results() {
		c.size += len(p.Text)
	}
	if c.size += len(in.Parts.Text()); len(c.batch) >= importBatch || c.size >= importBytes {
		return im.flush(ctx, c)
	}
	return nil
}

// conversation finds or makes the conversation of an entry.
func (im *importer) conversation(ctx context.Context, entry transcript.Entry) (*importing, error) {
	key := entry.Source
	if im.q.Into != "" {
		key = ""
	}
	if c := im.open[key]; c != nil {
		return c, nil
	}
	var want scrollback.Conversation
	if entry.Conversation != nil {
		want = *entry.Conversation
	}
	if im.q.Project != "" {
		want.Project = im.q.Project
	}
	c := &importing{}
	if im.q.Into != "" {
		c.ID = im.q.Into
	} else {
		identity := im.format + "\x00" + key + "\x00" + want.Project
		if key == "" {
			identity = "file\x00" + im.file + "\x00" + want.Project
		}
		want.ID = scrollback.ConversationID(uuid.NewSHA1(uuid.NameSpaceOID, []byte(identity)).String())
		if want.Model != "" {
			if _, err := im.e.o.Models(want.Model); err != nil {
				want.Model = "" // made by a model that is not set up here
			}
		}
		want.Title = clipLine(want.Title, 400)
		if want.Title == "" && entry.Message.Role == scrollback.RoleUser {
			want.Title = titleOf(entry.Message.Parts.Text())
		}
		made, created, err := im.e.Create(ctx, want)
		if err != nil {
			return nil, err
		}
		c.ID, c.Created = made.ID, created
	}
	head, err := im.e.store.Head(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	if c.shape, err = im.e.shape(ctx, head.Conversation, Shape{}); err != nil {
		return nil, err
	}
	if head.DeletedAt != 0 {
		return nil, scrollback.Errorf(scrollback.Conflict, "engine.Import", "conversation %s is in the trash: restore it first", c.ID)
	}
	c.Total = head.Messages
	c.next = 1
	if im.q.Into == "" {
		c.old = head.Messages
	}
	im.open[key] = c
	im.order = append(im.order, c)
	return c, nil
}

// knownAt is the next message that was there before.
func (e *Engine) knownAt(ctx context.Context, c *importing) (scrollback.Message, error) {
	if len(c.known) == 0 {
		after := c.next - 1
		page, _, err := e.store.Page(ctx, c.ID, PageQuery{After: &after, Limit: scrollback.ListDefault})
		if err == nil && len(page) == 0 {
			err = scrollback.Errorf(scrollback.Conflict, "engine.Import", "conversation %s changed while it was read", c.ID)
		}
		if err != nil {
			return scrollback.Message{}, err
		}
		c.known = page
	}
	m := c.known[0]
	c.known = c.known[1:]
	c.next++
	return m, nil
}

// flush writes a batch and folds what has become too much.
func (im *importer) flush(ctx context.Context, c *importing) error {
	if len(c.batch) == 0 {
		return nil
	}
	// Nobody may have added anything since it was read: two imports at once of the
	// same file would double it.
	done, err := im.e.store.Append(ctx, c.ID, c.Total, c.batch)
	if err != nil {
		return err
	}
	im.pending -= len(c.batch)
	c.Messages += int64(len(c.batch))
	c.Total = done.Head.Messages
	im.count += int64(len(c.batch))
	if im.q.Progress != nil {
		im.q.Progress(im.count)
	}
	c.batch, c.size = c.batch[:0], 0
	head := done.Head
	_, err = im.e.fit(ctx, &head, c.shape, 0, func(scrollback.Receipt) {})
	if scrollback.CodeOf(err) == scrollback.OverBudget {
		return nil // what is stored is stored; the next turn judges what it can send
	}
	return err
}

// sourceMark is the meta of an imported message: the file's own, and under
// "source" the file's id of it and a hash by which it is known again.
func sourceMark(entry transcript.Entry) (json.RawMessage, error) {
	m := entry.Message
	body, err := json.Marshal([]any{m.Role, m.Name, m.Parts, m.Model, m.CreatedAt})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "engine.Import", err)
	}
	h := sha256.New()
	h.Write(body)
	for _, i := range sortedKeys(entry.Bytes) {
		h.Write(entry.Bytes[i])
	}
	meta := map[string]json.RawMessage{}
	if len(m.Meta) > 0 && json.Unmarshal(m.Meta, &meta) != nil {
		meta = map[string]json.RawMessage{"value": m.Meta}
	}
	source, err := json.Marshal(struct {
		ID   scrollback.MessageID `json:"id,omitempty"`
		Hash string               `json:"hash"`
	}{m.ID, hex.EncodeToString(h.Sum(nil)[:12])})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "engine.Import", err)
	}
	meta["source"] = source
	return json.Marshal(meta)
}

func sortedKeys(m map[int][]byte) []int {
	keys := make([]int, 0, len(m))
	for i := range m {
		keys = append(keys, i)
	}
	slices.Sort(keys)
	return keys
}

func markOf(meta json.RawMessage) string {
	var m struct {
		Source struct{ Hash string }
	}
	if json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Source.Hash
}
