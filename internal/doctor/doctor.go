// Package doctor reads everything that is stored, checks that it is consistent, and
// repairs what follows from the rest.
//
// Words it adds: problem (something that is wrong), note (something worth knowing
// that is not a fault), work (what a repair has to try).
//
// Invariants: a check writes nothing; it keeps one page of rows in memory, however
// long the log. A repair never touches messages and segments, and removes nothing
// that somebody might want while anything is wrong.
//
// It may not know models, HTTP or SQL.
package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Checkup is what a check of everything stored found. There are at most [maxProblems]
// Problems; More counts the rest. Notes are worth knowing, but not faults. Copy is where
// the database was copied to before a repair, if there was one.
type Checkup struct {
	OK       bool      `json:"ok"`
	Checked  Checked   `json:"checked"`
	Problems []Problem `json:"problems"`
	More     int64     `json:"more,omitempty"`
	Notes    []Problem `json:"notes,omitempty"`
	Copy     string    `json:"copy,omitempty"`

	work repairWork
}

// Checked counts what was checked.
type Checked struct {
	Conversations int64 `json:"conversations"`
	Branches      int64 `json:"branches"`
	Messages      int64 `json:"messages"`
	Segments      int64 `json:"segments"`
	Artifacts     int64 `json:"artifacts"`
	Objects       int64 `json:"objects"`
	Bytes         int64 `json:"bytes"` // of artifacts
}

// Problem is one thing that is wrong. Kind is one of damage, orphan, index, seq,
// sum, head, path, view, hash, file, rollup, artifact, usage; of a note lease,
// artifact, object, purge, hash, index, vectors or branch. Where names the thing, such as "message <id>".
type Problem struct {
	Kind     string `json:"kind"`
	Where    string `json:"where"`
	Detail   string `json:"detail"`
	Repaired bool   `json:"repaired"`
}

// maxProblems bounds the list of problems, and that of notes.
const maxProblems = 1000

// Progress is told what is being read and how far that is; a total of 0 is unknown.
type Progress func(what string, done, total int64)

// Check reads everything that s and a store. It writes nothing. progress may be nil.
func Check(ctx context.Context, s *store.Store, a *archive.Archive, progress Progress) (Checkup, error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	d := &checkRun{store: s, archive: a, progress: progress, gone: map[scrollback.ConversationID]bool{},
		begins: map[leftAt][]scrollback.Message{}}
	d.out.Problems = []Problem{}
	next, stop := iter.Pull2(a.Artifacts(ctx))
	defer stop()
	d.objects = next
	err := s.Audit.Walk(ctx, store.AuditWalk{
		Total:        func(n int64) error { d.total = n; return nil },
		Conversation: func(c scrollback.Conversation) error { d.beginConversation(c); return ctx.Err() },
		Branch:       func(b scrollback.Branch) error { return d.checkBranch(ctx, b) },
		Message:      func(m scrollback.Message) error { return d.checkMessage(ctx, m) },
		Unhashed:     func(messages int64) error { d.unhashed += messages; return nil },
		Segment:      func(s scrollback.Segment) error { return d.checkSegment(ctx, s) },
		Artifact:     func(a scrollback.Artifact, mentions int64) error { return d.checkArtifact(ctx, a, mentions) },
		Turn:         func(t scrollback.Turn) error { d.checkTurn(t); return nil },
		Flaw:         func(f store.Flaw) error { d.addFlaw(f); return nil },
	})
	if err == nil {
		d.endConversation()
		d.noteUnhashed()
		err = d.passObjects("")
	}
	if err == nil {
		err = d.checkIndex(ctx)
	}
	if err == nil {
		err = d.noteVectors(ctx)
	}
	if err != nil {
		return Checkup{}, err
	}
	if lost := d.total - d.out.Checked.Messages; lost != 0 && len(d.out.Problems) == 0 {
		d.addProblem("orphan", "messages", "%d of %d are on no branch of a conversation", lost, d.total)
	}
	d.out.OK = len(d.out.Problems) == 0
	return d.out, nil
}

// checkRun is a check under way. It remembers only the current conversation and branch, and how the others of it begin.
type checkRun struct {
	store    *store.Store
	archive  *archive.Archive
	progress Progress
	out      Checkup
	total    int64 // messages
	unhashed int64 // messages that have no hash yet
	objects  func() (archive.Object, error, bool)
	waiting  *archive.Object // listed, and not yet matched

	conv *scrollback.Conversation
	head bool                               // its current branch was seen
	gone map[scrollback.ConversationID]bool // purges that were interrupted: half of it is rightly gone
	at   *scrollback.Branch
	seq  int64             // the last one seen on the branch
	sum  scrollback.Weight // up to there

	begins map[leftAt][]scrollback.Message // imported ones of the conversation, that begin branches
	masked int                             // how many of them are the same but for masks
}

func (d *checkRun) addProblem(kind, where, detail string, args ...any) {
	if len(d.out.Problems) == maxProblems {
		d.out.More++
		return
	}
	d.out.Problems = append(d.out.Problems, Problem{Kind: kind, Where: where, Detail: fmt.Sprintf(detail, args...)})
}

// addFlaw is what the database itself found.
func (d *checkRun) addFlaw(f store.Flaw) {
	d.addProblem(f.Kind, f.Where, "%s", f.Detail)
	w := &d.out.work
	w.index = w.index || f.Kind == store.FlawIndex
	switch m := f.Repair; {
	case f.Whole:
		w.whole = true
	case m == nil:
	case m.Sweep != nil:
		for _, s := range m.Sweep {
			addOnce(&w.strays, s)
		}
	case m.Heads != "":
		addOnce(&w.heads, m.Heads)
	case m.Usage != nil:
		addOnce(&w.usage, *m.Usage)
	default:
		addOnce(&w.lost, m)
	}
}

func (d *checkRun) addNote(kind, where, detail string) {
	if len(d.out.Notes) < maxProblems {
		d.out.Notes = append(d.out.Notes, Problem{Kind: kind, Where: where, Detail: detail})
	}
}

// noteUnhashed says how many messages an older program stored without a hash: until they have one, a
// change of them is not noticed.
func (d *checkRun) noteUnhashed() {
	if d.unhashed == 0 {
		return
	}
	d.addNote(store.FlawHash, "messages",
		fmt.Sprintf("%d have no hash yet; a running server makes them, and so does a repair", d.unhashed))
	d.out.work.hashes = true
}

// noteVectors says how far the vectors of messages have come, where there are some.
func (d *checkRun) noteVectors(ctx context.Context) error {
	s, err := d.store.Vectors.ReadState(ctx)
	if err == nil && s.Model != "" && s.Watermark < s.Newest {
		d.addNote("vectors", "messages", fmt.Sprintf("%d have their vectors by %s; a running server makes the rest",
			s.Vectors, s.Model))
	}
	return err
}

func (d *checkRun) beginConversation(c scrollback.Conversation) {
	d.endConversation()
	d.conv = &c
	d.head = false
	d.out.Checked.Conversations++
	if c.PurgedAt < 0 {
		d.addNote("purge", "conversation "+string(c.ID), "its purge was interrupted")
		addOnce(&d.out.work.purges, c.ID)
		d.gone[c.ID] = true
	}
}

func (d *checkRun) endConversation() {
	d.endBranch()
	if d.conv != nil && !d.head && d.conv.PurgedAt == 0 {
		d.addProblem("head", "conversation "+string(d.conv.ID), "its current branch, %s, is missing", d.conv.Branch)
		addOnce(&d.out.work.heads, d.conv.ID)
	}
	d.endMasked()
	d.conv = nil
}

func (d *checkRun) checkBranch(ctx context.Context, b scrollback.Branch) error {
	d.endBranch()
	d.at = &b
	d.seq = b.AtSeq
	d.sum = scrollback.Weight{}
	d.out.Checked.Branches++
	where := "branch " + string(b.ID)
	if d.conv != nil && b.ID == d.conv.Branch {
		d.head = true
		if d.conv.Messages != b.HeadSeq && d.conv.PurgedAt == 0 {
			d.addProblem("head", "conversation "+string(d.conv.ID), "it counts %d messages, its branch %d", d.conv.Messages,
				b.HeadSeq)
			addOnce(&d.out.work.heads, d.conv.ID)
		}
	}
	var err error
	if d.sum, err = d.store.Audit.WeighBase(ctx, b); err != nil {
		if scrollback.CodeOf(err) != scrollback.Internal {
			return err
		}
		d.addProblem("path", where, "%s", causeText(err))
		addOnce(&d.out.work.misplaced, b.ID)
	}
	if d.gone[b.Conversation] {
		return nil
	}
	return d.checkView(ctx, where, b)
}

// checkView compares what a branch shows with what is there.
func (d *checkRun) checkView(ctx context.Context, where string, b scrollback.Branch) error {
	if b.View.Boundary > b.HeadSeq {
		d.addProblem("view", where, "it hides up to #%d, and ends at #%d", b.View.Boundary, b.HeadSeq)
		addOnce(&d.out.work.views, b.ID)
	}
	shown := map[scrollback.SegmentID]string{}
	ids := []scrollback.SegmentID{}
	for _, v := range b.View.Segments {
		ids = append(ids, v.ID)
		shown[v.ID] = "it shows segment"
	}
	if v := b.View.Summary; v != nil && shown[v.Segment] == "" {
		ids = append(ids, v.Segment)
		shown[v.Segment] = "it shows the summary of segment"
	}
	for _, id := range ids {
		if _, err := d.store.ReadSegments(ctx, []scrollback.SegmentID{id}); err != nil {
			if ctx.Err() != nil {
				return err
			}
			d.addProblem("view", where, "%s %s: %s", shown[id], id, causeText(err))
			addOnce(&d.out.work.views, b.ID)
		}
	}
	return nil
}

func (d *checkRun) endBranch() {
	if d.at == nil || d.gone[d.at.Conversation] {
		d.at = nil
		return
	}
	where := "branch " + string(d.at.ID)
	if d.seq != d.at.HeadSeq || d.sum != d.at.Sum {
		addOnce(&d.out.work.heads, d.at.Conversation)
	}
	switch {
	case d.seq != d.at.HeadSeq:
		d.addProblem("head", where, "it says that it ends at #%d; its last message is #%d", d.at.HeadSeq, d.seq)
	case d.sum != d.at.Sum:
		d.addProblem("sum", where, "it says that its path weighs %v; its messages add up to %v", d.at.Sum, d.sum)
	}
	d.at = nil
}

func (d *checkRun) checkMessage(ctx context.Context, m scrollback.Message) error {
	where := fmt.Sprintf("message %s (#%d)", m.ID, m.Seq)
	sum := d.sum.Add(m.Weight)
	switch {
	case m.Seq != d.seq+1:
		d.addProblem("seq", "branch "+string(d.at.ID), "#%d comes after #%d", m.Seq, d.seq)
		if d.seq == d.at.AtSeq { // its first one: it may be the branch that is wrong
			addOnce(&d.out.work.misplaced, d.at.ID)
		}
	case sum != m.Sum:
		d.addProblem("sum", where, "it says that its path weighs %v; with what is before, it adds up to %v", m.Sum, sum)
	}
	d.seq = m.Seq
	d.sum = m.Sum
	if m.ConversationID != d.at.Conversation {
		d.addProblem("orphan", where, "it says that it belongs to conversation %s", m.ConversationID)
	}
	in := []scrollback.ConversationID{m.ConversationID}
	if d.conv != nil {
		in = append(in, d.conv.Ancestors...)
	}
	for id := range m.Parts.Artifacts() {
		_, err := d.store.Refs.GetIn(ctx, in, scrollback.ArtifactRef(id))
		if scrollback.CodeOf(err) == scrollback.NotFound {
			d.addProblem("artifact", where, "it mentions an unknown artifact, %s", id)
			addOnce(&d.out.work.artifacts, mentionIn(m, id))
		} else if err != nil && ctx.Err() != nil {
			return err
		}
	}
	if err := d.noteMasked(ctx, m); err != nil {
		return err
	}
	if d.out.Checked.Messages++; d.out.Checked.Messages%256 == 0 || d.out.Checked.Messages == d.total {
		d.progress("messages", d.out.Checked.Messages, d.total)
	}
	return ctx.Err()
}

// checkIndex checks that search finds the messages that the index says it has. An index that
// cannot be read is no reason not to check the rest.
func (d *checkRun) checkIndex(ctx context.Context) error {
	left, err := d.store.Audit.CheckIndex(ctx, func(done, total int64) { d.progress("index", done, total) },
		func(m scrollback.Message, detail string) error {
			d.addProblem(store.FlawIndex, fmt.Sprintf("message %s (#%d)", m.ID, m.Seq), "%s", detail)
			d.out.work.index = true
			return ctx.Err()
		})
	switch {
	case err != nil && scrollback.CodeOf(err) == scrollback.Internal:
		d.addProblem(store.FlawIndex, "the search index", "it cannot be read: %s", causeText(err))
		d.out.work.index = true
	case err != nil:
		return err
	case left > 0:
		d.addNote(store.FlawIndex, "the search index",
			fmt.Sprintf("it has not forgotten the words of %d messages that were purged", left))
		d.out.work.forget = true
	}
	return nil
}

// checkSegment compares a segment with what it covers, and its file, rendered again, with
// the one that was folded.
func (d *checkRun) checkSegment(ctx context.Context, s scrollback.Segment) error {
	where := "segment " + string(s.ID)
	d.out.Checked.Segments++
	d.progress("segments", d.out.Checked.Segments, 0)
	if d.gone[s.Conversation] {
		return ctx.Err()
	}
	file := sha256.New()
	size := &counter{w: file}
	covers := d.checkLeaf
	if len(s.Children) > 0 {
		covers = d.checkRollup
	}
	if !covers(ctx, where, s, size) || ctx.Err() != nil {
		return ctx.Err()
	}
	if sum := hex.EncodeToString(file.Sum(nil)); size.n != s.Bytes || sum != s.SHA256 {
		d.addProblem("file", where, "its file, rendered again, has %d bytes and SHA-256 %s; it was made with %d bytes, %s",
			size.n, sum, s.Bytes, s.SHA256)
	}
	return nil
}

// checkLeaf checks a leaf's hash and writes its file; false if there is no file to check.
func (d *checkRun) checkLeaf(ctx context.Context, where string, s scrollback.Segment, w io.Writer) bool {
	if n := s.LastSeq - s.FirstSeq + 1; n < 1 || n > scrollback.MaxSegmentMessages || n != int64(s.Messages) {
		d.addProblem("hash", where, "it covers #%d to #%d, and says that those are %d messages", s.FirstSeq, s.LastSeq,
			s.Messages)
		return false
	}
	ms, err := d.store.ReadMessages(ctx, s.Branch, s.FirstSeq, s.LastSeq)
	if err == nil && len(ms) != s.Messages {
		err = scrollback.Errorf(scrollback.Internal, "doctor.Check", i18n.MessagesMissing, s.Messages, len(ms))
	}
	if err != nil {
		d.addProblem("hash", where, "what it covers cannot be read: %s", causeText(err))
		return false
	}
	if hash, err := scrollback.HashMessages(ms); err != nil || hash != s.Hash {
		d.addProblem("hash", where, "its messages have the hash %s; it was made with %s", hash, s.Hash)
	}
	return d.checkRendered(where, archive.Render(w, s.Renderer, s, ms))
}

// checkRollup is leaf for a segment of segments.
func (d *checkRun) checkRollup(ctx context.Context, where string, s scrollback.Segment, w io.Writer) bool {
	children, err := d.store.ReadSegments(ctx, s.Children)
	if err != nil {
		d.addProblem("rollup", where, "its children cannot be read: %s", causeText(err))
		return false
	}
	var hashes []string
	for _, c := range children {
		hashes = append(hashes, c.Hash)
	}
	if hash := scrollback.HashChildren(hashes); hash != s.Hash {
		d.addProblem("rollup", where, "its children have the hash %s; it was made with %s", hash, s.Hash)
	}
	return d.checkRendered(where, archive.RenderTable(w, s.Renderer, s, children))
}

func (d *checkRun) checkRendered(where string, err error) bool {
	if err != nil {
		d.addProblem("file", where, "its file cannot be made: %s", causeText(err))
	}
	return err == nil
}

// checkArtifact reads the bytes of an artifact.
func (d *checkRun) checkArtifact(ctx context.Context, a scrollback.Artifact, mentions int64) error {
	where := "artifact " + string(a.ID)
	d.out.Checked.Artifacts++
	d.progress("artifacts", d.out.Checked.Artifacts, 0)
	if err := d.passObjects(a.ID); err != nil {
		return err
	}
	r, _, err := d.archive.OpenUnchecked(ctx, a.ID)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		d.addProblem("artifact", where, "its bytes cannot be read: %s", causeText(err))
		return nil
	}
	defer r.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, r)
	d.out.Checked.Bytes += size
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.addProblem("artifact", where, "its bytes cannot be read: %s", causeText(err))
	case got != string(a.ID):
		d.addProblem("artifact", where, "its bytes have the SHA-256 %s", got)
	case size != a.Size:
		d.addProblem("artifact", where, "it has %d bytes instead of %d", size, a.Size)
	case mentions == 0:
		d.addNote("artifact", where, "no conversation mentions it")
		addOnce(&d.out.work.unwanted, a.ID)
	}
	return nil
}

// passObjects goes over the objects up to that of an artifact, all of them for the
// empty id: both lists ascend. Those in between belong to nothing.
func (d *checkRun) passObjects(until scrollback.ArtifactID) error {
	for {
		if d.waiting == nil {
			o, err, ok := d.objects()
			if err != nil || !ok {
				return err
			}
			d.out.Checked.Objects++
			d.waiting = &o
		}
		switch id := d.waiting.ID; {
		case id != "" && id == until:
			d.waiting = nil
			return nil
		case until != "" && id > until:
			return nil
		}
		d.addNote("object", d.waiting.Key, "no artifact is known by it")
		if d.waiting.ID != "" {
			addOnce(&d.out.work.unwanted, d.waiting.ID)
		}
		d.waiting = nil
	}
}

func (d *checkRun) checkTurn(t scrollback.Turn) {
	if d.store.Turns.IsExpired(t) {
		d.addNote("lease", "turn "+string(t.ID), "its owner is gone; the next turn of conversation "+string(t.Conversation)+
			" closes it and keeps its draft")
		addOnce(&d.out.work.leases, t.ID)
	}
}

// causeText returns an error's text without its operation.
func causeText(err error) string {
	var known *scrollback.Error
	if errors.As(err, &known) && known.Err != nil {
		return known.Err.Error()
	}
	return err.Error()
}

// counter counts the bytes written through it.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
