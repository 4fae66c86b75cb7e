package memdriver

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// mention lets a conversation resolve an artifact.
type mention struct {
	artifact scrollback.ArtifactID
	name     string
	at       int64
}

// PutArtifact implements [driver.Refs].
func (db refs) PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	const op = "memdriver.PutArtifact"
	end, err := db.write(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if mentionedBy == "" {
		db.keep(a)
		return nil
	}
	th, err := db.thread(op, mentionedBy)
	if err != nil {
		return err
	}
	db.mention(th, a)
	return nil
}

// List implements [driver.Refs].
func (db refs) List(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	end, err := db.read(ctx, "memdriver.Refs")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.RefEntry
	for id, th := range db.threads {
		anywhere := q.Ref != "" && len(q.Conversations) == 0
		if !anywhere && !slices.Contains(q.Conversations, id) || q.Ref != "" && !within(q.Projects, th.Project) {
			continue
		}
		for _, e := range db.refs(th) {
			if (q.Kind == "" || q.Kind == e.Kind) && (q.Ref == "" || q.Ref == e.Ref) &&
				after(q.Before, e.CreatedAt, string(e.Ref)) {
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(a, b scrollback.RefEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Ref, a.Ref),
			cmp.Compare(b.Conversation, a.Conversation))
	})
	return out[:min(len(out), q.Limit)], nil
}

// refs is all that a thread mentions, in no order.
func (db refs) refs(th *thread) []scrollback.RefEntry {
	var out []scrollback.RefEntry
	for _, id := range th.segments {
		s := db.segments[id]
		hint := scrollback.Hint(s.Summary)
		out = append(out, scrollback.RefEntry{
			Ref: scrollback.HistoryRef(id), Kind: scrollback.RefHistory,
			Conversation: s.Conversation, Branch: s.Branch, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq,
			From: s.From, To: s.To, Bytes: s.Bytes, Messages: s.Messages,
			MediaType: "text/markdown", Hint: hint, SHA256: s.SHA256, CreatedAt: s.CreatedAt,
		})
	}
	for _, m := range th.mentions {
		a := db.artifacts[m.artifact]
		out = append(out, scrollback.RefEntry{
			Ref: scrollback.ArtifactRef(a.ID), Kind: scrollback.RefArtifact, Conversation: th.ID,
			Bytes: a.Size, MediaType: a.MediaType, Hint: m.name, SHA256: string(a.ID), CreatedAt: m.at,
		})
	}
	return out
}

// keep records an artifact that is not yet known.
func (db *database) keep(a scrollback.Artifact) {
	if _, known := db.artifacts[a.ID]; !known {
		db.artifacts[a.ID] = a
	}
}

// mention records an artifact and that th mentions it; the first mention stays.
func (db *database) mention(th *thread, a scrollback.Artifact) {
	db.keep(a)
	if !slices.ContainsFunc(th.mentions, func(m mention) bool { return m.artifact == a.ID }) {
		th.mentions = append(th.mentions, mention{a.ID, a.Name, a.CreatedAt})
	}
}
