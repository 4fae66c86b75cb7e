package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var artifactTable = table[scrollback.Artifact]{columns: []column[scrollback.Artifact]{
	{"id", func(a *scrollback.Artifact) any { return &a.ID }},
	{"media_type", func(a *scrollback.Artifact) any { return &a.MediaType }},
	{"name", func(a *scrollback.Artifact) any { return &a.Name }},
	{"size", func(a *scrollback.Artifact) any { return &a.Size }},
	{"created_at", func(a *scrollback.Artifact) any { return &a.CreatedAt }},
}}

// ArtifactColumns are those of artifacts.
var ArtifactColumns = artifactTable.columnList()

// PutArtifact implements [driver.Log].
func (db log) PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	return db.write(ctx, "sqlstore.PutArtifact", func(ctx context.Context, w *writeTx) error {
		if mentionedBy != "" {
			if err := w.holdKnownConversation(ctx, mentionedBy, new(conversationRow)); err != nil {
				return err
			}
		}
		return w.insertArtifact(ctx, a, mentionedBy)
	})
}

// insertArtifact stores an artifact unless it is there, and who mentions it unless that is empty.
func (w *writeTx) insertArtifact(ctx context.Context, a scrollback.Artifact,
	mentionedBy scrollback.ConversationID) error {
	values, err := artifactTable.values(&a)
	if err == nil {
		err = w.tx.Queue(ctx, w.Dialect.InsertArtifact, values...)
	}
	if err != nil || mentionedBy == "" {
		return err
	}
	w.noteWritten(mentionedBy)
	return w.tx.Queue(ctx, `INSERT INTO mentions (conversation_id, artifact, name, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, mentionedBy, a.ID, a.Name, a.CreatedAt)
}

// storeSource stores a source whose content a message has, unless a newer version is known.
func (w *writeTx) storeSource(ctx context.Context, s driver.SourceVersion, m *scrollback.Message) error {
	return w.tx.Queue(ctx, `INSERT INTO message_sources (conversation_id, source, version, sha256, branch, seq)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (conversation_id, source) DO UPDATE SET version = excluded.version, sha256 = excluded.sha256,
		branch = excluded.branch, seq = excluded.seq WHERE excluded.version >= message_sources.version`,
		m.ConversationID, s.Name, s.Version, s.SHA256, m.Branch, m.Seq)
}

// FindSources implements [driver.Log].
func (db log) FindSources(ctx context.Context, in []scrollback.ConversationID,
	names []string) ([]driver.SourceVersion, error) {
	var out []driver.SourceVersion
	for _, name := range names {
		for _, id := range in {
			s := driver.SourceVersion{Name: name}
			err := QueryRow(ctx, db.Readers, scanInto(&s.Version, &s.SHA256, &s.Branch, &s.Seq),
				`SELECT version, sha256, branch, seq FROM message_sources WHERE conversation_id = $1 AND source = $2`, id, name)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return nil, db.wrapError("sqlstore.FindSources", err)
			}
			out = append(out, s)
			break
		}
	}
	return out, nil
}

// Segments and mentioned artifacts as refs; both have the columns of a
// scrollback.RefEntry.
const (
	segmentRefs = `SELECT 'history:' || id, 'history', conversation_id, branch, first_seq, last_seq, from_time, to_time,
		bytes, messages, 'text/markdown', summary, sha256, created_at FROM segments`
	artifactRefs = `SELECT 'artifact:' || m.artifact, 'artifact', m.conversation_id, '', 0, 0, 0, 0,
		a.size, 0, a.media_type, m.name, a.id, m.created_at FROM mentions m JOIN artifacts a ON a.id = m.artifact`
)

// ListRefs implements [driver.Log]. Each kind of each conversation yields at most a page, in order;
// the pages are merged here.
func (db log) ListRefs(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	in := slices.Compact(slices.Sorted(slices.Values(q.Conversations)))
	one := db.listRefs
	if q.Ref != "" {
		one = db.findRef
		if len(in) == 0 {
			in = []scrollback.ConversationID{""} // any
		}
	}
	var out []scrollback.RefEntry
	for _, id := range in {
		if err := one(ctx, q, id, &out); err != nil {
			return nil, db.wrapError("sqlstore.ListRefs", err)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.RefEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Ref, a.Ref),
			cmp.Compare(b.Conversation, a.Conversation))
	})
	return out[:min(len(out), q.Limit)], nil
}

// listRefs adds a page of what one conversation mentions.
func (db log) listRefs(ctx context.Context, q driver.RefQuery, id scrollback.ConversationID,
	out *[]scrollback.RefEntry) error {
	if q.Kind == "" || q.Kind == scrollback.RefHistory {
		at, before := refBound(q.Before, scrollback.RefHistory)
		err := db.Readers.Query(ctx, collectRefs(out), segmentRefs+` WHERE conversation_id = $1 AND (created_at, id) < ($2, $3)
			ORDER BY created_at DESC, id DESC LIMIT $4`, id, at, before, q.Limit)
		if err != nil {
			return err
		}
	}
	if q.Kind == "" || q.Kind == scrollback.RefArtifact {
		at, before := refBound(q.Before, scrollback.RefArtifact)
		return db.Readers.Query(ctx, collectRefs(out), artifactRefs+` WHERE m.conversation_id = $1 AND (m.created_at, m.artifact) < ($2, $3)
			ORDER BY m.created_at DESC, m.artifact DESC LIMIT $4`, id, at, before, q.Limit)
	}
	return nil
}

// findRef adds q.Ref if the conversation mentions it; an empty id is any.
func (db log) findRef(ctx context.Context, q driver.RefQuery, id scrollback.ConversationID,
	out *[]scrollback.RefEntry) error {
	kind, name, _ := strings.Cut(string(q.Ref), ":")
	if q.Kind != "" && q.Kind != kind {
		return nil
	}
	at, before := refBound(q.Before, kind)
	switch kind {
	case scrollback.RefHistory:
		of, args := mentionedIn("conversation_id", q.Projects, []any{name, id, at, before, q.Limit})
		return db.Readers.Query(ctx, collectRefs(out), segmentRefs+` WHERE id = $1 AND ($2 = '' OR conversation_id = $2)
			AND (created_at, id) < ($3, $4)`+of+` LIMIT $5`, args...)
	case scrollback.RefArtifact:
		const bound, order = ` AND (m.created_at, m.artifact) < ($2, $3)`, ` ORDER BY m.created_at DESC, m.conversation_id DESC LIMIT $4`
		if id == "" {
			of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit})
			return db.Readers.Query(ctx, collectRefs(out), artifactRefs+` WHERE m.artifact = $1`+bound+of+order, args...)
		}
		of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit, id})
		return db.Readers.Query(ctx, collectRefs(out),
			artifactRefs+` WHERE m.artifact = $1`+bound+` AND m.conversation_id = $5`+of+order, args...)
	}
	return nil
}

// mentionedIn is the condition that the conversation in a column is of one of some
// projects, or empty for nil, and the arguments with theirs.
func mentionedIn(column string, projects []string, args []any) (string, []any) {
	of, args := inProjects(projects, args)
	if of == "" {
		return "", args
	}
	return ` AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = ` + column + of + `)`, args
}

// refBound is a place in a list of refs as a place among the refs of one kind, by time and
// the id that follows the kind.
func refBound(k *driver.ListKey, kind string) (at int64, id string) {
	const everyID = "\U0010FFFF" // and none is below the empty one
	if k == nil {
		return 1 << 62, everyID
	}
	if id, ok := strings.CutPrefix(k.ID, kind+":"); ok {
		return k.At, id
	}
	if kind+":" < k.ID {
		return k.At, everyID
	}
	return k.At, ""
}

func collectRefs(out *[]scrollback.RefEntry) func(Row) error {
	return func(r Row) error {
		var e scrollback.RefEntry
		if err := r.Scan(&e.Ref, &e.Kind, &e.Conversation, &e.Branch, &e.FirstSeq, &e.LastSeq, &e.From, &e.To,
			&e.Bytes, &e.Messages, &e.MediaType, &e.Hint, &e.SHA256, &e.CreatedAt); err != nil {
			return err
		}
		if e.Kind == scrollback.RefHistory {
			e.Hint = scrollback.Hint(e.Hint)
		}
		*out = append(*out, e)
		return nil
	}
}
