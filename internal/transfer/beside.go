package transfer

import (
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/transcript"
)

// A session of a tool whose requests came through the door is stored already. Its file says the same once more, but
// with other times and other borders of messages, without what was dropped on the way, and with what no request had. So
// the two are compared piece by piece, as requests are with a history, and only what follows behind the end is added.

const (
	besideAhead  = 256            // messages of a path among which a piece with an id of its own is looked for
	besideNear   = 8              // and among which one without is
	besideHeld   = 256            // messages that may be waited with for one that is there
	besideShort  = 24             // bytes of a text that may well be said twice
	besideClose  = 3              // messages among which that is looked for
	besideRecent = 2 * 60 * 1000  // ms in which a request still brings what the file has
	besideTurn   = 60 * 60 * 1000 // ms in which it does while its turn waits for tools
)

// besideLeft is what a result calls messages of a file that no request had, in the middle of what was asked.
const besideLeft = "unsent"

// besidePath is where the file of a session stands on a path that its requests have made.
type besidePath struct {
	used    int            // pieces of the newest message that the file has said
	waiting []*fileMessage // what is not there, or not there yet
	bytes   []map[int][]byte
	held    bool // the rest of the path is read again later
	apart   map[scrollback.MessageID][]threading.Atom
}

// takeBeside takes a message of such a file.
func (im *importer) takeBeside(ctx context.Context, c *importing, e *fileMessage, entry transcript.Entry) error {
	w := c.beside
	if w.held {
		c.seqs = append(c.seqs, c.newestSeq())
		return nil
	}
	found, ahead, err := im.findBeside(ctx, c, e)
	switch {
	case err != nil:
		return err
	case found:
		im.dropWaiting(c)
		return nil
	}
	w.waiting = append(w.waiting, e)
	w.bytes = append(w.bytes, entry.Bytes)
	c.seqs = append(c.seqs, c.newestSeq())
	if ahead && len(w.waiting) < besideHeld {
		return nil
	}
	return im.addWaiting(ctx, c)
}

// leavePoint notes that the file goes on from an earlier message, all of which it has said.
func (w *besidePath) leavePoint() {
	if w != nil {
		w.used = math.MaxInt
		w.held = false
	}
}

// dropWaiting leaves out what the file has between messages that are there: no request had it.
func (im *importer) dropWaiting(c *importing) {
	w := c.beside
	if n := len(w.waiting); n > 0 {
		if im.out.Left == nil {
			im.out.Left = map[string]int{}
		}
		im.out.Left[besideLeft] += n
	}
	w.waiting = nil
	w.bytes = nil
}

// addWaiting adds what waits: it is not there. What is so new that the next request may bring it is left for another
// time, and so is everything behind it.
func (im *importer) addWaiting(ctx context.Context, c *importing) error {
	w := c.beside
	if w == nil || len(w.waiting) == 0 {
		return nil
	}
	soon, err := im.mayBringSoon(ctx, c, w.waiting[len(w.waiting)-1])
	if err != nil {
		return err
	}
	all := w.waiting
	bytes := w.bytes
	w.waiting = nil
	w.bytes = nil
	if soon {
		w.held = true
		c.held = true
		return nil
	}
	c.seqs = c.seqs[:len(c.seqs)-len(all)]
	first, err := im.deriveID(ctx, c, all[0])
	if err != nil {
		return err
	}
	if err := im.leavePath(ctx, c, first); err != nil {
		return err
	}
	for i, e := range all {
		if err := im.addMessage(ctx, c, e.Message, e, transcript.Entry{Bytes: bytes[i]}); err != nil {
			return err
		}
	}
	return nil
}

// mayBringSoon reports whether a request may yet bring a message: it has just been written, or the newest turn waits
// for the client's tools.
func (im *importer) mayBringSoon(ctx context.Context, c *importing, e *fileMessage) (bool, error) {
	now := im.store.Now()
	if at := e.Message.CreatedAt; at > now-besideRecent && at <= now+besideRecent {
		return true, nil
	}
	last, err := im.store.Turns.GetLast(ctx, c.ID)
	if code := scrollback.CodeOf(err); code == scrollback.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	goesOn := last.State == scrollback.TurnWaiting || last.State == scrollback.TurnOpen && !im.store.Turns.IsExpired(last)
	return goesOn && max(last.StartedAt, last.EndedAt) > now-besideTurn, nil
}

// findBeside looks for what a message says on the path ahead, or on others that go on from here, and goes there. ahead
// says whether anything comes on any of them.
func (im *importer) findBeside(ctx context.Context, c *importing, e *fileMessage) (found, ahead bool, err error) {
	pieces := im.takeApart(e.Message)
	if len(pieces) == 0 && !hasAttachments(e.Message.Parts) { // it is told beside the history
		c.seqs = append(c.seqs, c.newestSeq())
		return true, true, nil
	}
	at := c.newestSeq()
	if len(pieces) == 0 {
		if found, err = im.isNext(ctx, c, e); found || err != nil {
			return found, true, err
		}
	}
	if found, ahead, err = im.findOn(ctx, c, c.at, pieces); found || err != nil {
		return found, true, err
	}
	if c.forks == nil {
		if c.forks, err = im.store.Branches.ReadForks(ctx, c.ID); err != nil {
			return false, false, err
		}
		c.asOf = pathPoint{c.head.Branch.ID, c.head.Branch.HeadSeq}
	}
	for b, err := range c.forks.WalkContinuations(ctx, c.at, at) {
		if err != nil {
			return false, false, err
		}
		found, more, err := im.findOn(ctx, c, b, pieces)
		if err != nil || found {
			c.at = b
			return found, true, err
		}
		ahead = ahead || more
	}
	return false, ahead, nil
}

// isNext reports whether an earlier import brought a message of pictures alone, which have no pieces, as the next one
// of the path, and goes behind it.
func (im *importer) isNext(ctx context.Context, c *importing, e *fileMessage) (bool, error) {
	next := c.newestSeq() + 1
	if c.at.HeadSeq < next {
		return false, nil
	}
	id, err := im.deriveID(ctx, c, e)
	if err != nil {
		return false, err
	}
	m, err := im.store.ReadMessageAt(ctx, c.at, next)
	if err != nil || m.ID != id {
		return false, err
	}
	c.seqs = append(c.seqs, next)
	c.beside.leavePoint()
	return true, nil
}

// findOn looks for pieces on one path, all of them in their order, and goes behind the last one.
func (im *importer) findOn(ctx context.Context, c *importing, b scrollback.Branch,
	pieces []threading.Atom) (found, ahead bool, err error) {
	at := c.newestSeq()
	from := max(at, 1)
	if b.HeadSeq < from {
		return false, false, nil
	}
	to := min(at+besideNear, b.HeadSeq)
	if slices.ContainsFunc(pieces, func(a threading.Atom) bool { return a.Call != (threading.Hash{}) }) {
		to = min(at+besideAhead, b.HeadSeq)
	}
	page, err := im.store.ReadMessages(ctx, b.ID, from, to)
	if err != nil {
		return false, false, err
	}
	var own []placedPiece
	for _, m := range page {
		said, err := im.takeApartStored(ctx, c, m)
		if err != nil {
			return false, false, err
		}
		begin := 0
		if m.Seq == at {
			begin = min(c.beside.used, len(said))
		}
		for k := begin; k < len(said); k++ {
			own = append(own, placedPiece{said[k], m.Seq, k + 1, m.Status == scrollback.StatusInterrupted})
		}
	}
	behind, found := findPieces(own, pieces, at)
	if !found || len(pieces) == 0 { // pictures alone are not compared: they wait for what follows them
		return false, len(own) > 0, nil
	}
	c.seqs = append(c.seqs, own[behind-1].seq)
	c.beside.used = own[behind-1].nth
	return true, true, nil
}

// placedPiece is a piece of a stored message: the nth of it, from 1.
type placedPiece struct {
	threading.Atom
	seq     int64
	nth     int
	partial bool // of an answer that was cut off
}

// findPieces returns how many of a path's pieces come up to the last of some that a message says, in their order. All
// must be there, but that a call or a result by its id is enough.
func findPieces(own []placedPiece, pieces []threading.Atom, at int64) (behind int, found bool) {
	isSure := false
	missing := 0
	for _, p := range pieces {
		i := slices.IndexFunc(own[behind:], func(o placedPiece) bool {
			return o.says(p) && (p.Call != (threading.Hash{}) || o.seq-at <= reach(p))
		})
		switch {
		case i >= 0:
			behind += i + 1
			at = own[behind-1].seq
			isSure = isSure || p.Call != (threading.Hash{})
		case p.Call != (threading.Hash{}):
			return 0, false
		default:
			missing++
		}
	}
	return behind, missing == 0 || isSure
}

// reach returns how many messages ahead a text is looked for: a short one may well be said again.
func reach(p threading.Atom) int64 {
	if len(p.Text) < besideShort {
		return besideClose
	}
	return besideNear
}

// says reports whether a stored piece is one of a file. Of an answer that was cut off each may have less.
func (o placedPiece) says(p threading.Atom) bool {
	if o.SaysSame(p) {
		return true
	}
	if !o.partial || o.Kind != threading.Text || p.Kind != threading.Text || o.Role != p.Role {
		return false
	}
	n := min(len(o.Text), len(p.Text))
	return n >= besideShort && o.Text[:n] == p.Text[:n]
}

// takeApartStored returns what a stored message says, with the texts that are kept elsewhere.
func (im *importer) takeApartStored(ctx context.Context, c *importing, m scrollback.Message) ([]threading.Atom, error) {
	if known, ok := c.beside.apart[m.ID]; ok {
		return known, nil
	}
	if hasAttachments(m.Parts) {
		whole, err := im.restoreArtifacts(ctx, m)
		if err != nil {
			return nil, err
		}
		for i, p := range whole.Message.Parts {
			if _, ok := p.(scrollback.File); ok && m.Role == scrollback.RoleUser {
				whole.Message.Parts[i] = scrollback.Text{Text: string(whole.Bytes[i])}
			}
		}
		m.Parts = whole.Message.Parts
	}
	out := im.takeApart(m)
	if c.beside.apart == nil || len(c.beside.apart) > 4*besideAhead {
		c.beside.apart = map[scrollback.MessageID][]threading.Atom{}
	}
	c.beside.apart[m.ID] = out
	return out, nil
}

// takeApart returns what a message says. Results are the tool's, whosever
// message they are in.
func (im *importer) takeApart(m scrollback.Message) (out []threading.Atom) {
	var run scrollback.Message
	flush := func() {
		if len(run.Parts) > 0 {
			out = append(out, im.view.Bulk().TakeApart(run)...)
		}
		run.Parts = nil
	}
	for _, p := range m.Parts {
		role := m.Role
		switch p.(type) {
		case scrollback.ToolResult:
			role = scrollback.RoleTool
		case scrollback.Text, scrollback.Image, scrollback.File, scrollback.ToolCall, scrollback.Reasoning:
		}
		if role != run.Role {
			flush()
		}
		run.Role = role
		run.Parts = append(run.Parts, p)
	}
	flush()
	return out
}
