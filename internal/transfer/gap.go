package transfer

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// crossGap looks for a message of a file that has lost what was said before it among all that
// comes next, and goes there. If it is not there, the file goes on behind the newest message
// that an import brought: what the file has lost stays where it is.
func (im *importer) crossGap(ctx context.Context, c *importing, e *fileMessage) (bool, error) {
	last := c.newestSeq()
	for after := last; after < c.at.HeadSeq; after += scrollback.ListDefault {
		page, err := im.store.ReadMessages(ctx, c.at.ID, after+1, min(after+scrollback.ListDefault, c.at.HeadSeq))
		if err != nil {
			return false, err
		}
		for i, m := range page {
			same, err := im.matchesStored(ctx, newStored(m), e)
			if err != nil {
				return false, err
			}
			if same {
				c.all = c.all || m.ID == c.newest
				c.seqs = append(c.seqs, m.Seq)
				c.met = &page[i]
				c.gap = 0
				c.known = dropReports(page[i+1:], im.cells)
				return true, nil
			}
			if transcript.MarkOf(m.Meta) != "" {
				last = m.Seq
			}
		}
	}
	if e.Message.CreatedAt != 0 && last > c.newestSeq() {
		c.gap = last
		c.known = nil
	}
	return false, nil
}
