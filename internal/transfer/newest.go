package transfer

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// pathRecency orders the ends of paths that imports brought: by when their newest message was
// said, then by their length. What is left are two ends of the same moment, of which it only
// matters that every order of arrival prefers the same one.
type pathRecency struct {
	said  int64 // Unix ms
	seq   int64
	bytes int // of the last message, of which an older copy may have the beginning
	mark  string
}

func (r pathRecency) compareTo(o pathRecency) int {
	return cmp.Or(cmp.Compare(r.said, o.said), cmp.Compare(r.seq, o.seq), cmp.Compare(r.bytes, o.bytes),
		cmp.Compare(r.mark, o.mark))
}

// recentMessages is how many messages at the end of a path are looked at for the time of the
// newest: the last ones need not have one.
const recentMessages = 16

// recencyOf returns how recent a path is up to message seq, by what imports brought of it; the
// zero value if none did.
func (im *importer) recencyOf(ctx context.Context, branch scrollback.BranchID, seq int64) (out pathRecency, err error) {
	if seq == 0 {
		return out, nil
	}
	page, err := im.store.ReadMessages(ctx, branch, max(seq-recentMessages+1, 1), seq)
	for _, m := range page {
		mark := transcript.MarkOf(m.Meta)
		if mark == "" {
			continue
		}
		out = pathRecency{max(out.said, m.CreatedAt), m.Seq, m.Parts.Bytes(), mark}
	}
	return out, err
}

// notePathEnd notes that a path of the file ends where it stands now.
func (c *importing) notePathEnd() {
	if c.ends == nil {
		c.ends = map[scrollback.BranchID]int64{}
	}
	c.ends[c.at.ID] = max(c.ends[c.at.ID], c.newestSeq())
}

// hasNewest reports whether the newest message that imports brought to the conversation is
// one of the file's. A file that has it says where the conversation stands; one that does not
// is a copy from before, or went on elsewhere for a while.
func (im *importer) hasNewest(ctx context.Context, c *importing) (bool, error) {
	all, err := im.store.Branches.List(ctx, c.ID)
	if err != nil {
		return false, err
	}
	var theirs pathRecency
	for _, b := range all {
		if c.ends[b.ID] >= b.HeadSeq {
			continue
		}
		r, err := im.recencyOf(ctx, b.ID, b.HeadSeq)
		if err != nil {
			return false, err
		}
		if r.compareTo(theirs) > 0 {
			theirs = r
		}
	}
	if theirs == (pathRecency{}) {
		return true, nil
	}
	for branch, seq := range c.ends {
		r, err := im.recencyOf(ctx, branch, seq)
		if err != nil {
			return false, err
		}
		if r.compareTo(theirs) >= 0 {
			return true, nil
		}
	}
	return false, nil
}

// whereToEnd returns where an import leaves the conversation: where the file ends, or where
// the conversation stood before. Somebody who went on here without the file stays where they
// are, and so does a conversation that has a newer message than the file. A file that brought
// nothing moves it only if its tool went back.
func (im *importer) whereToEnd(ctx context.Context, c *importing) (pathPoint, error) {
	here := c.stood
	there := pathPoint{c.at.ID, c.newestSeq()}
	switch {
	case here == there, c.Messages == 0 && (!c.moved || !c.theirs), c.left != "" && c.own:
		return here, nil
	case c.Messages > 0 && (c.left == "" && !c.back || c.said == 0):
		return there, nil // it only grew, or does not say when: then what came last is the newest
	}
	newest, err := im.hasNewest(ctx, c)
	if err != nil || !newest {
		return here, err
	}
	if c.Messages > 0 || c.goesOn {
		return there, nil
	}
	// Of two copies with the same messages the later one is that which went back.
	was, err := im.recencyOf(ctx, here.branch, here.seq)
	if err != nil {
		return here, err
	}
	now, err := im.recencyOf(ctx, there.branch, there.seq)
	if err != nil || now.compareTo(was) >= 0 {
		return here, err
	}
	return there, nil
}
