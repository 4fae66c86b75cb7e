package transfer

import (
	"context"
	"maps"

	"github.com/scrollback-ai/scrollback"
)

// notedOrigin is an origin to be stored.
type notedOrigin struct {
	scrollback.Origin
	was scrollback.Origin
}

// noteOrigin stores where a conversation comes from, now that all of it is here; of the session's own,
// or else the first one, when all of the session is.
func (b *sessionImport) noteOrigin(ctx context.Context, c *importing, held bool) error {
	s := c.source
	if c.ID == "" {
		return nil // it said nothing, was deleted here, or could not be made
	}
	o := s.Origin
	o.Conversation = c.ID
	o.Shared = s.shared
	o.Stamp = b.Stamp
	o.ImportedAt = s.was.ImportedAt
	if o.ImportedAt == 0 || c.Messages > 0 || c.Created {
		o.ImportedAt = b.im.store.Now()
	}
	if held {
		b.held[o.ID] = true
		o.Stamp = ""
	}
	if o.Folder == "" {
		o.Folder = s.was.Folder
		o.GitBranch = s.was.GitBranch
	}
	if b.at == "" { // a copy of it
		o.Place = s.was.Place
		o.Name = s.was.Name
		o.Stamp = s.was.Stamp
		o.GoneAt = s.was.GoneAt
	}
	if err := b.im.noteRepository(ctx, c.ID, s.repository); err != nil {
		return err
	}
	n := &notedOrigin{o, s.was}
	if b.first == nil || o.ID == b.Session.ID { // the session's own says whether all of it is here
		b.first, n = n, b.first
	}
	return n.storeOrigin(ctx, b.im)
}

func (n *notedOrigin) storeOrigin(ctx context.Context, im *importer) error {
	if n == nil || n.Origin == n.was {
		return nil
	}
	return im.store.Origins.Put(ctx, n.Origin, n.was.Conversation)
}

// markVanished marks conversations that the session had, and has no more.
func (b *sessionImport) markVanished(ctx context.Context) error {
	// what another session has is not gone, nor what was not read
	if b.at == "" || b.Stamp == "" || b.Shares || b.stood == 0 {
		return nil
	}
	q := OriginQuery{Tool: b.Tool.Name(), Place: b.at, Name: b.Session.Name, Limit: originsPage}
	for {
		page, err := b.im.Origins(ctx, b.im.view, q)
		if err != nil {
			return err
		}
		there := maps.Clone(b.held)
		for _, o := range page {
			there[o.ID] = there[o.ID] || o.Stamp == b.Stamp
		}
		for _, o := range page {
			if !there[o.ID] && o.GoneAt == 0 {
				if o.GoneAt = b.im.store.Now(); err == nil {
					err = b.im.store.Origins.Put(ctx, o, "")
				}
			}
		}
		if err != nil || len(page) < q.Limit {
			return err
		}
		q.After = page[len(page)-1]
	}
}
