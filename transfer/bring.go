package transfer

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ErrDeleted is the reason of an error about conversations of a tool that were put in the
// trash or purged here: they are not brought again.
var ErrDeleted = errors.New("it was deleted here")

// OriginQuery pages through origins.
type OriginQuery = store.OriginQuery

// Session is a session of a tool, where that keeps it.
type Session struct {
	Tool  transcript.Tool
	Place transcript.Place
	transcript.Session
}

// PlaceOf is what origins call a place: its path, or empty for what was uploaded.
func PlaceOf(p transcript.Place) string {
	if p.Path == "" || p.Name == "." || p.Name == "" {
		return p.Path
	}
	return filepath.Join(p.Path, filepath.FromSlash(p.Name))
}

// Bring imports a session of a tool from where that keeps it. Each of its conversations is
// known again by its origin: the same session again changes nothing, and one that grew
// extends them. One that copies the beginning of another, under the ids that this has, becomes
// a fork of it; one that has nothing else is that conversation.
//
// It is conflict because of [ErrDeleted] if all that it has was deleted here.
func (t *Transfer) Bring(ctx context.Context, v *engine.View, s Session, q ImportRequest) (ImportResult, error) {
	const op = "transfer.Bring"
	im := &importer{Transfer: t, view: v, q: q, open: map[string]*importing{}, format: s.Tool.Name(), from: &s}
	im.out = ImportResult{Conversations: []Imported{}, Skipped: []transcript.Bad{}}
	if !v.Caller().May(scrollback.AccessWrite) {
		return im.out, v.Caller().Lacks(op, scrollback.AccessWrite)
	}
	for entry, err := range s.Tool.Read(ctx, s.Place, s.Session) {
		if err == nil && entry.Bad != nil {
			im.skip(*entry.Bad)
			continue
		}
		if err == nil && entry.End == nil {
			err = im.take(ctx, entry)
		}
		if err != nil {
			err = errors.Join(scrollback.Wrap(scrollback.Unavailable, op, err), im.writing.wait(im), im.each(context.WithoutCancel(ctx), im.end))
			return im.result(), err
		}
	}
	err := errors.Join(im.writing.wait(im), im.each(ctx, im.end))
	return im.result(), err
}

// Origins lists where conversations of the caller come from, by tool, id and conversation.
func (t *Transfer) Origins(ctx context.Context, v *engine.View, q OriginQuery) ([]scrollback.Origin, error) {
	var err error
	if q.Projects, err = v.Bulk().Projects(q.Projects); err != nil {
		return nil, err
	}
	return t.store.Origins.List(ctx, q)
}

// Gone notes when the places of some origins no longer had them, in Unix ms; 0 says that they
// have them. Origins of others are not_found.
func (t *Transfer) Gone(ctx context.Context, v *engine.View, origins []scrollback.Origin, at int64) error {
	for _, o := range origins {
		if _, err := v.Bulk().Head(ctx, o.Conversation, scrollback.AccessWrite); err != nil {
			return err
		}
		now, err := t.store.Origins.List(ctx, OriginQuery{Tool: o.Tool, ID: o.ID, Conversations: []scrollback.ConversationID{o.Conversation}, Trash: true})
		if err != nil {
			return err
		}
		for _, o := range now {
			if o.GoneAt = at; err == nil {
				err = t.store.Origins.Put(ctx, o, "")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stamps are the stamps of the sessions of a tool's place, by name, that are here whole as they
// were then: one that still has its stamp needs not be brought.
func (t *Transfer) Stamps(ctx context.Context, v *engine.View, tool, place string) (map[string]string, error) {
	out := map[string]string{}
	q := OriginQuery{Tool: tool, Place: place, Limit: 10_000}
	for {
		page, err := t.Origins(ctx, v, q)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if was, known := out[o.Name]; known && was != o.Stamp {
				out[o.Name] = "" // a part of it is not
			} else if o.GoneAt == 0 {
				out[o.Name] = o.Stamp
			}
		}
		if len(page) < q.Limit {
			return out, nil
		}
		q.After = page[len(page)-1]
	}
}
