package transfer

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/place"
)

// repositoryField is what meta calls the repository that a conversation was held in: with it a conversation is found in
// the same repository on another machine.
const repositoryField = "repository"

// findRepository returns the repository of the folder that a source worked in, if the folder is on this machine.
func (t *Transfer) findRepository(ctx context.Context, folder string) place.Repository {
	if t.o.Repository == nil || folder == "" {
		return place.Repository{}
	}
	return t.o.Repository(ctx, folder)
}

// addRepository returns meta that names a repository too.
func addRepository(meta json.RawMessage, r place.Repository) json.RawMessage {
	if !r.IsKnown() {
		return meta
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return meta
	}
	return mergeMeta(meta, map[string]json.RawMessage{repositoryField: raw})
}

// noteRepository has a conversation found by its repository.
func (t *Transfer) noteRepository(ctx context.Context, id scrollback.ConversationID, r place.Repository) error {
	if !r.IsKnown() || id == "" {
		return nil
	}
	q := OriginQuery{Conversations: []scrollback.ConversationID{id}, Tool: scrollback.OriginRepository, Trash: true}
	there, err := t.store.Origins.List(ctx, q)
	if err != nil {
		return err
	}
	for _, o := range there {
		if o.Folder == r.Folder() {
			return nil
		}
	}
	return t.store.Origins.Put(ctx, scrollback.Origin{Tool: scrollback.OriginRepository, ID: r.Folder(), Conversation: id,
		Folder: r.Folder(), ImportedAt: t.store.Now()}, "")
}

// noteBundled has a conversation that a bundle brought found by the repository that it names.
func (im *importer) noteBundled(ctx context.Context, id scrollback.ConversationID) error {
	head, err := im.view.Bulk().Head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return err
	}
	var r place.Repository
	raw := jsonFields(head.Meta)[repositoryField]
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return im.noteRepository(ctx, id, r)
}
