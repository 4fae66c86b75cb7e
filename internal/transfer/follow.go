package transfer

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/transcript"
)

// FollowRequest says which path a conversation is brought onto: that of the messages of
// Entries, from the first. With Look nothing is written.
type FollowRequest struct {
	Conversation scrollback.ConversationID
	Entries      iter.Seq2[transcript.Entry, error]
	Look         bool
	Progress     func(messages int64) // newly written; may be nil
}

// Followed says where a path ends. Same counts the messages that were there and Written the
// new ones; Seq is the newest message of the path, 0 if it is empty. Behind counts the
// messages that the conversation had after it, if the path is the beginning of its current
// one, and is -1 if that is another. Entire says that all entries are there.
type Followed struct {
	scrollback.Conversation
	Same    int64
	Written int64
	Seq     int64
	Behind  int64
	Entire  bool
}

// FollowPath makes the path of some messages the current one of a conversation, and the last of
// them its head: it goes along the branches that say the same, begins a new one where none
// does, and goes back if the path ends earlier than the conversation. What was there before
// stays on its branch. The same entries again change nothing.
//
// Messages are the same if they say the same: their times, models, reasoning, references and
// the ids of their calls are not compared, and reports of a changed environment are passed
// over. It is conflict while a turn is being answered.
func (t *Transfer) FollowPath(ctx context.Context, v *engine.View, q FollowRequest) (Followed, error) {
	w := &followedPath{importer: &importer{Transfer: t, view: v, cells: true, q: ImportRequest{Progress: q.Progress}},
		importing: &importing{firsts: map[pathPoint]*storedMessage{}}}
	if err := w.openPath(ctx, q); err != nil {
		return Followed{}, err
	}
	c := w.importing
	var err error
	out := Followed{Conversation: c.head.Conversation, Entire: true}
	for entry, err := range q.Entries {
		if err == nil {
			out.Entire, err = w.takeNext(ctx, entry, q.Look)
		}
		if err != nil {
			return out, errors.Join(err, w.importer.writing.waitWritten(w.importer))
		}
		if !out.Entire {
			break
		}
		if !c.fresh {
			out.Same++
		}
	}
	if !q.Look {
		err = w.moveHead(ctx)
	}
	out.Conversation = c.head.Conversation
	out.Written = c.Messages
	out.Seq = c.newestSeq()
	if err == nil {
		out.Behind, err = w.countBehind(ctx)
	}
	return out, err
}

// followedPath is one path being followed.
type followedPath struct {
	importer  *importer
	importing *importing
}

// openPath begins at the beginning of the conversation.
func (w *followedPath) openPath(ctx context.Context, q FollowRequest) (err error) {
	im := w.importer
	c := w.importing
	if c.ID = q.Conversation; q.Look {
		c.head, err = im.view.Bulk().Head(ctx, c.ID, scrollback.AccessRead)
		c.at = c.head.Branch
		return err
	}
	running, err := im.view.Turns().Running(ctx, c.ID)
	if err == nil && running != nil {
		err = scrollback.Errorf(scrollback.Conflict, "transfer.Follow", i18n.TurnIsBeingAnswered)
	}
	if err != nil {
		return err
	}
	if c.backlog, err = im.view.Bulk().Backlog(ctx, c.ID); err != nil {
		return err
	}
	c.head = c.backlog.Begin
	if last, err := im.store.Turns.GetLast(ctx, c.ID); err == nil && im.store.Turns.IsExpired(last) {
		closed, err := im.store.AppendMessages(ctx, c.head, nil) // what it had written becomes a message
		if err != nil {
			return err
		}
		c.head = closed.Head
	} else if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return err
	}
	c.at = c.head.Branch
	c.Total = c.head.Messages
	im.order = append(im.order, c)
	return nil
}

// takeNext takes the next message of a path, and reports whether it is there, or now is.
func (w *followedPath) takeNext(ctx context.Context, entry transcript.Entry, look bool) (bool, error) {
	if !look {
		return true, w.importer.takeMessage(ctx, w.importing, entry)
	}
	mark, err := transcript.ImportMark(entry)
	if err != nil {
		return false, err
	}
	return w.importer.followPath(ctx, w.importing, &fileMessage{Entry: entry, mark: transcript.MarkOf(mark)})
}

// moveHead makes the end of the path the head of the conversation.
func (w *followedPath) moveHead(ctx context.Context) error {
	c := w.importing
	if err := w.importer.flushBatch(ctx, c); err != nil || c.fresh {
		return err
	}
	if c.head.Branch.ID == c.at.ID && c.head.Branch.HeadSeq == c.newestSeq() {
		return nil
	}
	head, err := w.importer.moveHead(ctx, c.head, c.at.ID, c.newestSeq(), "")
	if err == nil {
		c.noteHead(head)
	}
	return err
}

// countBehind counts what the conversation's current path has after the one that was followed;
// -1 if that is not its beginning.
func (w *followedPath) countBehind(ctx context.Context) (int64, error) {
	c := w.importing
	seq := w.importing.newestSeq()
	if c.head.Branch.HeadSeq < seq {
		return -1, nil
	}
	if seq == 0 || c.head.Branch.ID == c.at.ID {
		return c.head.Branch.HeadSeq - seq, nil
	}
	here, err := w.importer.store.ReadMessageAt(ctx, c.head.Branch, seq)
	if err != nil {
		return 0, err
	}
	there, err := w.importer.store.ReadMessageAt(ctx, c.at, seq)
	if err != nil || here.ID != there.ID {
		return -1, err
	}
	return c.head.Branch.HeadSeq - seq, nil
}

// dropReports returns the messages of a page that a file has: a notebook has no reports of a changed
// environment.
func dropReports(page []scrollback.Message, cells bool) []scrollback.Message {
	if !cells {
		return page
	}
	return slices.DeleteFunc(page, func(m scrollback.Message) bool {
		return m.Role == scrollback.RoleSystem && m.Name == scrollback.EnvironmentName
	})
}

// saysSame reports whether a stored message says what a cell of a notebook says. The stored one
// may show more images than the cell brings, because its text may name some.
func saysSame(ctx context.Context, t *Transfer, m scrollback.Message, e transcript.Entry) (bool, error) {
	if m.Role != e.Message.Role || len(m.Parts.Calls()) != len(e.Message.Parts.Calls()) ||
		len(m.Parts.Results()) != len(e.Message.Parts.Results()) {
		return false, nil
	}
	whole := transcript.Entry{Message: m}
	if hasAttachments(m.Parts) {
		var err error
		if whole, err = t.restoreArtifacts(ctx, m); err != nil {
			return false, err
		}
	}
	a := listSayings(whole)
	b := listSayings(e)
	for i, call := range a.calls {
		if call.Name != b.calls[i].Name || !reflect.DeepEqual(transcript.NormalizeJSON(call.Arguments),
			transcript.NormalizeJSON(b.calls[i].Arguments)) {
			return false, nil
		}
	}
	for i, r := range a.results {
		if strings.TrimSpace(r.Text) != strings.TrimSpace(b.results[i].Text) {
			return false, nil
		}
	}
	for _, image := range b.images {
		if !slices.ContainsFunc(a.images, func(o []byte) bool { return bytes.Equal(o, image) }) {
			return false, nil
		}
	}
	return slices.Contains(a.texts, b.texts[0]), nil
}

// hasAttachments reports whether parts have bytes elsewhere.
func hasAttachments(ps scrollback.Parts) bool {
	return slices.ContainsFunc(ps, func(p scrollback.Part) bool {
		switch p := p.(type) {
		case scrollback.Image, scrollback.File:
			return true
		case scrollback.ToolResult:
			return p.Artifact != ""
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
		return false
	})
}

// messageSaying is what a message says: its text, or any of those that may be meant by a
// stored one, because a long text is kept as a file.
type messageSaying struct {
	texts   []string
	images  [][]byte
	calls   []scrollback.ToolCall
	results []scrollback.ToolResult
}

func listSayings(e transcript.Entry) messageSaying {
	said := thoughts.Said(e.Message.Parts.Text())
	s := messageSaying{texts: []string{strings.TrimSpace(said)}, calls: e.Message.Parts.Calls(),
		results: e.Message.Parts.Results()}
	for i, p := range e.Message.Parts {
		switch p.(type) {
		case scrollback.Image:
			s.images = append(s.images, e.Bytes[i])
		case scrollback.File:
			if b := e.Bytes[i]; utf8.Valid(b) {
				s.texts = append(s.texts, strings.TrimSpace(string(b)))
			}
		case scrollback.Text, scrollback.ToolCall, scrollback.ToolResult, scrollback.Reasoning:
		}
	}
	return s
}

// EntriesSince yields what the current path of a conversation has after message seq, whole: the
// messages, and as an interrupted one what a turn has written that is not one yet. Reports of a
// changed environment are left out.
func (t *Transfer) EntriesSince(ctx context.Context, v *engine.View, id scrollback.ConversationID,
	seq int64) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		c, err := v.Get(ctx, id)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		for entry, err := range t.pathEntries(ctx, v, c, max(seq-1, 0)) {
			m := entry.Message
			if err == nil && (m.Seq > 0 && m.Seq <= seq ||
				m.Role == scrollback.RoleSystem && m.Name == scrollback.EnvironmentName) {
				continue
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}
