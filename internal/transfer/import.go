package transfer

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/title"
	"github.com/scrollback-ai/scrollback/transcript"
)

type importer struct {
	*Transfer
	view   *engine.View
	q      ImportRequest
	format string
	file   string          // its SHA-256
	tool   transcript.Tool // of a file that is one's, or nil
	place  transcript.Place
	from   *sessionImport // of a tool, or nil
	open   map[string]*importing
	order  []*importing
	slots  []Imported   // of all conversations, in the order in which they were begun
	asked  engine.Asked // for those that have ended
	out    ImportResult
	count  int64
	cells  bool // of a notebook; see [Transfer.FollowPath]

	pending int         // messages in all batches
	writing *batchWrite // one batch at a time, or nil
}

// importing is one conversation being imported. What the file says is matched with what
// is there: the import follows an existing path as long as that says the same, and writes
// a new branch from where it differs.
type importing struct {
	Imported
	backlog *engine.Backlog
	head    store.Head // as the conversation stands
	batch   []store.IncomingMessage
	size    int

	at      scrollback.Branch            // the branch whose path the file is on
	base    int64                        // the newest message before the file's first
	seqs    []int64                      // of the messages on the file's path, before the batch
	without *[]int                       // what requests leave out of the file's path, if it says so: positions from 1
	decided int64                        // up to this message the branch's own list counts, not the file's
	gap     int64                        // the newest message behind the last of seqs, which the file has lost, or 0
	known   []scrollback.Message         // of at's path, that come next
	fresh   bool                         // the file is past what is there
	written scrollback.MessageID         // the newest message that was added there since, or empty
	firsts  map[pathPoint]*storedMessage // messages that begin another continuation
	forks   *store.Forks                 // the branches, once they were asked for
	asOf    pathPoint                    // where the conversation stood then, or where this import has brought it since
	stood   pathPoint                    // where the conversation stood before the import
	back    bool                         // that was before the end of a branch: something had been taken back
	left    scrollback.BranchID          // where the conversation stood when the file first left it
	own     bool                         // somebody had gone on there without the file
	newest  scrollback.MessageID         // of the conversation as it stood
	all     bool                         // the file has said all that the conversation says
	theirs  bool                         // an import brought the newest
	slot    int                          // in the result
	source  *sessionSource               // of a tool, or nil
	moved   bool                         // the source has changed since its last import
	goesOn  bool                         // and is where it was then: it is the tool's own, and no copy

	ends   map[scrollback.BranchID]int64 // the farthest that a path of the file came to on a branch
	latest int64                         // when that was said, if an import brought it, in Unix ms
	said   int64                         // when the newest of what was brought was said, in Unix ms
	dated  int64                         // when the file's last message with a time was said, in Unix ms

	beside *besidePath // of a conversation that requests of clients have made, or nil
	held   bool        // something is left for the next import

	calls   []store.ImportedCall // of its tool, to be entered in the books
	through *callSpan            // when its session asked this program, once it was looked for
	met     *scrollback.Message  // the last stored message that the file says again

	untitled bool   // made by this import, and its source gave no title
	title    string // the beginning of what is asked first
}

// storedMessage is a message that a file may say again.
type storedMessage struct {
	scrollback.Message
	mark     string               // of the import that brought it
	id       scrollback.MessageID // that its file gives it
	likeness string               // once it was asked for
}

// newStored returns a message that is compared with what a file says.
func newStored(m scrollback.Message) *storedMessage {
	return &storedMessage{Message: m, mark: transcript.MarkOf(m.Meta), id: transcript.IDOf(m.Meta)}
}

// pathPoint is a point on the path of a branch, where the log never changes.
type pathPoint struct {
	branch scrollback.BranchID
	seq    int64
}

// newestSeq returns the newest message on the file's path, or 0 before the first.
func (c *importing) newestSeq() int64 {
	if c.gap > 0 {
		return c.gap
	}
	if n := len(c.seqs); n > 0 {
		return c.seqs[n-1]
	}
	return c.base
}

func (im *importer) skipBad(b transcript.Bad) {
	if len(im.out.Skipped) == maxSkipped {
		im.out.MoreSkipped++
		return
	}
	im.out.Skipped = append(im.out.Skipped, b)
}

// currentResult returns what has been done so far.
func (im *importer) currentResult() ImportResult {
	im.out.Conversations = append(im.out.Conversations[:0], im.slots...)
	asked := im.asked
	for _, c := range im.order {
		im.out.Conversations[c.slot] = c.Imported
		asked = addAsked(asked, c.backlog.Asked)
	}
	if im.q.Summarize {
		im.out.Asked = &asked
	}
	return im.out
}

func addAsked(a, b engine.Asked) engine.Asked {
	return engine.Asked{Calls: a.Calls + b.Calls, Summaries: a.Summaries + b.Summaries, Cost: a.Cost + b.Cost,
		Held: a.Held + b.Held}
}

// maySummarize returns why models may not be asked for the summaries that were wanted, before
// anything is written.
func (im *importer) maySummarize(ctx context.Context) error {
	if !im.q.Summarize {
		return nil
	}
	project := im.q.Project
	if im.q.Into != "" {
		head, err := im.view.Bulk().Head(ctx, im.q.Into, scrollback.AccessWrite)
		if err != nil {
			return err
		}
		project = head.Project
	}
	return im.view.Bulk().MaySummarize(ctx, project, im.q.Quota)
}

// eachConversation does something with all conversations, and returns the first error.
func (im *importer) eachConversation(ctx context.Context, do func(context.Context, *importing) error) (first error) {
	for _, c := range im.order {
		if err := do(ctx, c); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (im *importer) takeEntry(ctx context.Context, entry transcript.Entry) error {
	c, err := im.findConversation(ctx, entry)
	if err != nil || entry.Conversation != nil {
		return err
	}
	if entry.Rewind != nil {
		return im.rewindPath(ctx, c, *entry.Rewind)
	}
	if entry.Without != nil {
		return im.markLeftOut(ctx, c, *entry.Without)
	}
	return im.takeMessage(ctx, c, entry)
}

// takeMessage takes a message of a conversation's file.
func (im *importer) takeMessage(ctx context.Context, c *importing, entry transcript.Entry) error {
	m, e, err := readMessage(entry)
	if err != nil {
		return err
	}
	m.CreatedAt = c.messageTime(m, cmp.Or(entry.Near, im.q.Changed))
	if c.beside != nil && !c.fresh {
		e.Message.CreatedAt = m.CreatedAt
		return im.takeBeside(ctx, c, e, entry)
	}
	if entry.Gap && !c.fresh {
		found, err := im.crossGap(ctx, c, e)
		if err == nil && found {
			err = im.noteCall(ctx, c, e, c.met)
		}
		if err != nil || found {
			return err
		}
	}
	if !c.fresh {
		found, err := im.followPath(ctx, c, e)
		if err == nil && !found && hasGrown(ctx, im, c) {
			found, err = im.followPath(ctx, c, e)
		}
		if err == nil && found { // it is there
			err = im.noteCall(ctx, c, e, c.met)
		}
		if err != nil || found {
			return err
		}
	}
	return im.addMessage(ctx, c, m, e, entry)
}

// addMessage adds a message that is not there.
func (im *importer) addMessage(ctx context.Context, c *importing, m scrollback.Message, e *fileMessage,
	entry transcript.Entry) error {
	if c.untitled && c.title == "" && m.Role == scrollback.RoleUser {
		if c.title = title.FromPrompt(m.Parts); c.source != nil && c.source.Copy {
			c.title = title.CopyTitle(title.CopyOf, c.title)
		}
	}
	for range m.Parts.Artifacts() { // of a message before this one, perhaps
		if err := im.writing.waitWritten(im); err != nil {
			return err
		}
		break
	}
	in, err := c.backlog.Admit(ctx, m, entry.Bytes)
	if code := scrollback.CodeOf(err); !im.cells && (code == scrollback.Invalid || code == scrollback.NotFound) {
		im.skipBad(transcript.Bad{Line: entry.Line, Reason: scrollback.PublicMessage(err)})
		err = im.flushBatch(ctx, c)
		c.seqs = append(c.seqs, c.newestSeq()) // it counts as a message of the file
		return err
	}
	if err == nil {
		in.ID, err = im.deriveID(ctx, c, e)
	}
	if err == nil && !c.fresh {
		err = im.leavePath(ctx, c, in.ID)
	}
	if err != nil {
		return err
	}
	c.written = in.ID
	if err := im.noteCall(ctx, c, e, nil); err != nil {
		return err
	}
	c.said = max(c.said, m.CreatedAt)
	c.batch = append(c.batch, in)
	if im.pending++; im.pending >= 4*importBatch {
		return im.eachConversation(ctx, im.flushBatch)
	}
	if c.size += in.Parts.Bytes(); len(c.batch) >= importBatch || c.size >= importBytes {
		return im.startWrite(ctx, c)
	}
	return nil
}

// messageTime returns the time of a file's message. One without was said when the one before it was, or near
// the time that is given, or when the conversation began; never when it was imported, if anything
// is known.
func (c *importing) messageTime(m scrollback.Message, near int64) int64 {
	switch {
	case m.CreatedAt != 0:
		c.dated = m.CreatedAt
	case c.dated == 0 && near != 0:
		c.dated = near
	case c.dated == 0 && c.Created:
		c.dated = c.head.Conversation.CreatedAt
	}
	return c.dated
}

// readMessage returns a message of a file as it is stored, and as it is looked for.
func readMessage(entry transcript.Entry) (scrollback.Message, *fileMessage, error) {
	said, err := transcript.HashSaid(entry)
	if err != nil {
		return scrollback.Message{}, nil, err
	}
	mark, err := transcript.MarkSaid(entry, said)
	m := entry.Message
	m.ID = ""
	m.Meta = mark
	if m.Role == scrollback.RoleUser && len(m.Parts) > 0 && len(m.Parts.Results()) == len(m.Parts) {
		m.Role = scrollback.RoleTool
	}
	e := &fileMessage{Entry: transcript.Entry{Message: m, Bytes: entry.Bytes, Clipped: entry.Clipped},
		mark: transcript.MarkOf(mark), id: entry.Message.ID,
		said: ids.Said{Hash: said, Status: m.Status, At: m.CreatedAt}}
	if m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusInterrupted {
		e.draft = scrollback.TurnID(entry.Message.ID)
	}
	return m, e, err
}

// rewindPath goes back to the first n messages of the file's path.
func (im *importer) rewindPath(ctx context.Context, c *importing, n int) error {
	if err := im.addWaiting(ctx, c); err != nil {
		return err
	}
	if err := im.flushBatch(ctx, c); err != nil {
		return err
	}
	if n < 0 || n > len(c.seqs) {
		return scrollback.Errorf(scrollback.Internal, "transfer.Import", i18n.ReaderGoesBack, n,
			len(c.seqs))
	}
	c.notePathEnd()
	c.seqs = c.seqs[:n]
	c.gap = 0
	c.known = nil
	c.fresh = false
	c.beside.leavePoint()
	if c.without != nil {
		at, _ := slices.BinarySearch(*c.without, n+1)
		*c.without = (*c.without)[:at]
	}
	return nil
}

// fileMessage is a message of a file that may be there already.
type fileMessage struct {
	transcript.Entry
	mark     string
	id       scrollback.MessageID // that the file gives it
	said     ids.Said
	likeness string            // once it was asked for
	draft    scrollback.TurnID // of an answer that was cut off: its turn, if the file is an export of ours
}

// followPath looks for the file's next message among those that come next, on whichever
// branch, and goes there.
func (im *importer) followPath(ctx context.Context, c *importing, e *fileMessage) (bool, error) {
	at := c.newestSeq()
	for after := at; len(c.known) == 0 && after < c.at.HeadSeq; after += scrollback.ListDefault {
		page, err := im.store.ReadMessages(ctx, c.at.ID, after+1, min(after+scrollback.ListDefault, c.at.HeadSeq))
		if err != nil {
			return false, err
		}
		c.known = dropReports(page, im.cells)
	}
	step := func() (bool, error) {
		c.all = c.all || c.known[0].ID == c.newest
		c.seqs = append(c.seqs, c.known[0].Seq)
		c.met = &c.known[0]
		c.gap = 0
		c.known = c.known[1:]
		return true, nil
	}
	if len(c.known) > 0 {
		same, err := im.matchesStored(ctx, newStored(c.known[0]), e)
		if err != nil {
			return false, err
		}
		if same {
			return step()
		}
	}
	if c.forks == nil {
		var err error
		if c.forks, err = im.store.Branches.ReadForks(ctx, c.ID); err != nil {
			return false, err
		}
		c.asOf = pathPoint{c.head.Branch.ID, c.head.Branch.HeadSeq}
	}
	for b, err := range c.forks.WalkContinuations(ctx, c.at, at) {
		if err != nil {
			return false, err
		}
		place := pathPoint{b.ID, at + 1}
		if c.firsts[place] == nil {
			page, err := im.store.ReadMessages(ctx, b.ID, at+1, min(at+2, b.HeadSeq))
			if err != nil {
				return false, err
			}
			if first := dropReports(page, im.cells); len(first) > 0 {
				page = first
			}
			c.firsts[place] = newStored(page[0])
		}
		first := c.firsts[place]
		same, err := im.matchesStored(ctx, first, e)
		if err != nil {
			return false, err
		}
		if same {
			c.at = b
			c.known = []scrollback.Message{first.Message}
			return step()
		}
	}
	return im.matchesDraft(ctx, c, e)
}

// matchesDraft reports whether what a file has as a message is the draft of a turn that nobody
// has closed yet. It becomes a message when somebody goes on.
func (im *importer) matchesDraft(ctx context.Context, c *importing, e *fileMessage) (bool, error) {
	if e.draft == "" {
		return false, nil
	}
	t, err := im.store.Turns.Get(ctx, e.draft)
	if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Invalid {
		return false, nil
	}
	if err != nil || t.Conversation != c.ID || t.LastSeq != c.newestSeq() || t.Draft.IsEmpty() {
		return false, err
	}
	c.seqs = append(c.seqs, c.newestSeq()) // it counts as a message of the file
	c.met = &scrollback.Message{TurnID: t.ID}
	return true, nil
}

// matchesStored reports whether a message is what a file says: an earlier import wrote it, or it
// was exported and comes back.
func (im *importer) matchesStored(ctx context.Context, m *storedMessage, e *fileMessage) (bool, error) {
	if m.mark != "" && m.mark == e.mark {
		return true, nil
	}
	if im.cells {
		return saysSame(ctx, im.Transfer, m.Message, e.Entry)
	}
	if e.draft != "" && e.draft == m.TurnID && m.Role == scrollback.RoleAssistant {
		return true, nil // what the draft became
	}
	again := im.from != nil && e.id != "" && m.id == e.id // perhaps replayed with another time
	at := e.Message.CreatedAt
	if m.Role != e.Message.Role || !again && at != 0 && at != m.CreatedAt {
		return false, nil
	}
	if (again || at != 0 && m.mark != "") && transcript.IsBeginning(m.Message, e.Entry) {
		return true, nil // the copy was made while it was being written
	}
	if m.likeness == "" {
		whole, err := im.restoreArtifacts(ctx, m.Message)
		if err != nil {
			return false, err
		}
		if m.likeness, err = transcript.HashLikeness(whole); err != nil {
			return false, err
		}
	}
	if e.likeness == "" {
		var err error
		if e.likeness, err = transcript.HashLikeness(e.Entry); err != nil {
			return false, err
		}
	}
	return m.likeness == e.likeness, nil
}

// hasGrown reports whether the conversation has changed since it was looked at: another import of
// the same file may have written what comes next.
func hasGrown(ctx context.Context, im *importer, c *importing) bool {
	head, err := im.view.Bulk().Head(ctx, c.ID, scrollback.AccessWrite)
	if err != nil {
		return false // it comes again when the file is left
	}
	now := pathPoint{head.Branch.ID, head.Branch.HeadSeq}
	changed := c.forks != nil && c.asOf != now
	if changed {
		c.forks = nil
	}
	if head.Branch.ID == c.at.ID && head.Branch.HeadSeq > c.at.HeadSeq {
		c.at = head.Branch
		c.known = nil
		changed = true
	}
	return changed
}

// noteHead notes where this import has brought the conversation.
func (c *importing) noteHead(h store.Head) {
	c.head = h
	c.at = h.Branch
	if c.forks != nil {
		c.forks.Put(h.Branch)
		c.asOf = pathPoint{h.Branch.ID, h.Branch.HeadSeq}
	}
}

// leavePath makes the file's position the head: what it says next, beginning with a message of that id, is not there.
func (im *importer) leavePath(ctx context.Context, c *importing, first scrollback.MessageID) error {
	// somebody may have continued while the file was followed
	head, err := im.view.Bulk().Head(ctx, c.ID, scrollback.AccessWrite)
	if err != nil {
		return err
	}
	if head.Branch.ID == c.at.ID && head.Branch.HeadSeq > c.at.HeadSeq {
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import",
			i18n.ContinuedWhileImported, c.ID)
	}
	c.head = head
	c.fresh = true
	c.written = ""
	c.known = nil
	if c.Messages == 0 && c.left == "" {
		c.stood = pathPoint{head.Branch.ID, head.Branch.HeadSeq}
	}
	c.decided = c.newestSeq()
	if head.Branch.ID == c.at.ID && head.Branch.HeadSeq == c.newestSeq() && mayBegin(head, first) {
		return nil
	}
	if n := head.Branch.HeadSeq; n > 0 && c.left == "" {
		last, err := im.store.ReadMessageAt(ctx, head.Branch, n)
		if err != nil {
			return err
		}
		c.left = head.Branch.ID
		c.own = transcript.MarkOf(last.Meta) == "" && !(c.all && last.ID == c.newest)
	}
	if head, err = im.moveHead(ctx, head, c.at.ID, c.newestSeq(), branchOf(first)); err == nil {
		c.noteHead(head)
		c.decided = 0
		err = im.applyLeftOut(ctx, c)
	}
	return err
}

// moveHead makes a point on a branch the head of a conversation. What is said next begins the branch with
// the id next, unless that is empty or the point is the end of a branch.
func (im *importer) moveHead(ctx context.Context, head store.Head, branch scrollback.BranchID, seq int64,
	next scrollback.BranchID) (store.Head, error) {
	b, err := im.store.Branches.Find(ctx, head, branch) // as it is now: it may have been compacted meanwhile
	if err != nil {
		return head, err
	}
	return im.store.Branches.RewindTo(ctx, head, b, seq, next, (*scrollback.Conversation).RepeatEnvironment)
}

// setTitle gives a conversation that has no title the beginning of what is asked first.
func (im *importer) setTitle(ctx context.Context, c *importing) error {
	if c.title == "" || c.Messages == 0 {
		return nil
	}
	_, err := im.store.PatchConversation(ctx, c.ID, 0, func(v *scrollback.Conversation) error {
		if v.Title == "" {
			if v.Title = c.title; c.source != nil { // until its tool gives it one
				v.TitleBy = scrollback.TitleTool
			}
		}
		return nil
	})
	return err
}

// endConversation leaves the conversation where [importer.whereToEnd] says.
func (im *importer) endConversation(ctx context.Context, c *importing) error {
	failed := errors.Join(im.addWaiting(ctx, c), im.flushBatch(ctx, c), im.setTitle(ctx, c))
	if failed != nil && (c.left == "" || !c.own && c.Messages > 0) {
		return failed // the next attempt goes on from there
	}
	c.notePathEnd()
	to, err := im.whereToEnd(ctx, c)
	if err != nil || to == c.stood && c.Messages == 0 && c.left == "" {
		return errors.Join(failed, err)
	}
	now, err := im.view.Bulk().Head(ctx, c.ID, scrollback.AccessWrite)
	if err != nil || now.Branch.ID != c.head.Branch.ID || now.Branch.HeadSeq != c.head.Branch.HeadSeq {
		return errors.Join(failed, err) // somebody has continued there meanwhile
	}
	same, err := im.samePoint(ctx, now.Branch, to)
	if err != nil || same {
		return errors.Join(failed, err)
	}
	head, err := im.moveHead(ctx, now, to.branch, to.seq, "")
	if err == nil {
		c.head = head
		c.Total = head.Messages
		if c.Created && to == (pathPoint{c.at.ID, c.newestSeq()}) {
			c.decided = 0
			err = im.applyLeftOut(ctx, c)
		}
	}
	return errors.Join(failed, err)
}

// samePoint reports whether a branch ends at a point, which may be named by another branch
// that has the same message there.
func (im *importer) samePoint(ctx context.Context, b scrollback.Branch, p pathPoint) (bool, error) {
	if b.HeadSeq != p.seq || b.ID == p.branch || p.seq == 0 {
		return b.HeadSeq == p.seq, nil
	}
	here, err := im.store.ReadMessageAt(ctx, b, p.seq)
	if err != nil {
		return false, err
	}
	there, err := im.store.ReadMessages(ctx, p.branch, p.seq, p.seq)
	return err == nil && len(there) == 1 && there[0].ID == here.ID, err
}
