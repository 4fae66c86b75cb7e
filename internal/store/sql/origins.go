package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var originTable = table[scrollback.Origin]{columns: []column[scrollback.Origin]{
	{"conversation_id", func(o *scrollback.Origin) any { return &o.Conversation }},
	{"tool", func(o *scrollback.Origin) any { return &o.Tool }},
	{"id", func(o *scrollback.Origin) any { return &o.ID }},
	{"root", func(o *scrollback.Origin) any { return &o.Root }},
	{"folder", func(o *scrollback.Origin) any { return &o.Folder }},
	{"git_branch", func(o *scrollback.Origin) any { return &o.GitBranch }},
	{"place", func(o *scrollback.Origin) any { return &o.Place }},
	{"name", func(o *scrollback.Origin) any { return &o.Name }},
	{"stamp", func(o *scrollback.Origin) any { return &o.Stamp }},
	{"shared", func(o *scrollback.Origin) any { return &o.Shared }},
	{"imported_at", func(o *scrollback.Origin) any { return &o.ImportedAt }},
	{"gone_at", func(o *scrollback.Origin) any { return &o.GoneAt }},
}}

// PutOrigin implements [driver.Log].
func (db log) PutOrigin(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	const op = "sqlstore.PutOrigin"
	return db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		// A purge that comes first must be seen, and one that comes later must see what is put.
		var c conversationRow
		err := w.holdKnownConversation(ctx, o.Conversation, &c)
		if err == nil && instead != "" && instead != o.Conversation {
			err = w.tx.Queue(ctx, `DELETE FROM origins WHERE conversation_id = $1 AND tool = $2 AND id = $3`, instead, o.Tool, o.ID)
		}
		if err == nil {
			err = w.tx.Queue(ctx, `DELETE FROM purged_origins WHERE origin = $1 AND project = $2`, driver.PurgedKey(o.Tool, o.ID),
				c.Project)
		}
		if err != nil {
			return err
		}
		values, err := originTable.values(&o)
		if err != nil {
			return err
		}
		return w.tx.Queue(ctx, `INSERT INTO origins `+originTable.insertClause()+`
			ON CONFLICT (conversation_id, tool, id) DO UPDATE SET `+originTable.upsertClause("conversation_id", "tool", "id"),
			values...)
	})
}

// ListOrigins implements [driver.Log]. A list is read through one index, in its order except for those
// of a folder and of a place, which are sorted.
func (db log) ListOrigins(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	const op = "sqlstore.ListOrigins"
	if q.Conversations == nil {
		out, err := db.readPages(ctx, q, "")
		return out, db.wrapError(op, err)
	}
	var out []scrollback.Origin
	of := slices.Clone(q.Conversations)
	slices.Sort(of)
	for _, id := range slices.Compact(of) {
		some, err := db.readPages(ctx, q, id)
		if err != nil {
			return nil, db.wrapError(op, err)
		}
		out = append(out, some...)
	}
	slices.SortFunc(out, func(a, b scrollback.Origin) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conversation, b.Conversation))
	})
	return out[:min(len(out), q.PageSize())], nil
}

// readPages reads pages of origins until enough are of conversations that are asked for.
func (db log) readPages(ctx context.Context, q driver.OriginQuery,
	of scrollback.ConversationID) ([]scrollback.Origin, error) {
	out := []scrollback.Origin{}
	for {
		read := 0
		query, args := buildOriginQuery(q, of)
		var project string
		err := db.Readers.Query(ctx, originTable.scanEachWith(func(o scrollback.Origin) error {
			read += 1
			q.After = o
			if project != "" && q.Matches(o) && (q.Projects == nil || slices.Contains(q.Projects, project)) {
				out = append(out, o)
			}
			return nil
		}, &project), query, args...)
		if err != nil || read < q.PageSize() || len(out) >= q.PageSize() {
			return out[:min(len(out), q.PageSize())], err
		}
	}
}

// buildOriginQuery reads the next page of origins that one index finds, with the projects of their
// conversations: those that are not asked for, because they are in the trash, have none.
func buildOriginQuery(q driver.OriginQuery, of scrollback.ConversationID) (string, []any) {
	var args []any
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprint("$", len(args))
	}
	var where []string
	switch {
	case of != "":
		where = append(where, "conversation_id = "+arg(of))
	case q.Tool != "" && q.ID != "":
		where = append(where, "tool = "+arg(q.Tool), "id = "+arg(q.ID))
	case q.Tool != "" && q.Root != "":
		where = append(where, "tool = "+arg(q.Tool), "root = "+arg(q.Root))
	case q.Place != "" && q.Name != "":
		where = append(where, "place = "+arg(q.Place), "name = "+arg(q.Name))
	case q.Place != "":
		where = append(where, "place = "+arg(q.Place))
	case q.Folder != "":
		within := "(folder = " + arg(q.Folder)
		for _, b := range q.FolderBounds() {
			within += " OR folder >= " + arg(b[0]) + " AND folder < " + arg(b[1])
		}
		where = append(where, within+")")
	case q.Tool != "":
		where = append(where, "tool = "+arg(q.Tool))
	}
	if q.After.Tool+q.After.ID != "" {
		where = append(where, "(tool, id, conversation_id) > ("+arg(q.After.Tool)+", "+arg(q.After.ID)+", "+
			arg(q.After.Conversation)+")")
	}
	seen := "c.deleted_at = 0"
	if q.Trash {
		seen = "c.purged_at = 0"
	}
	query := `SELECT ` + originTable.columnList() +
		`, coalesce((SELECT c.project FROM conversations c WHERE c.id = origins.conversation_id AND ` + seen +
		`), '') FROM origins`
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY tool, id, conversation_id LIMIT " + arg(q.PageSize()), args
}

// WasOriginPurged implements [driver.Log].
func (db log) WasOriginPurged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	found := false
	err := db.Readers.Query(ctx, func(r Row) error {
		var project string
		err := r.Scan(&project)
		found = found || projects == nil || slices.Contains(projects, project)
		return err
	}, `SELECT project FROM purged_origins WHERE origin = $1`, driver.PurgedKey(tool, id))
	return found, db.wrapError("sqlstore.WasOriginPurged", err)
}

// dropOrigins removes the origins of a conversation that is purged, and marks them as purged.
func (w *writeTx) dropOrigins(ctx context.Context, id scrollback.ConversationID, project string) error {
	var keys []string
	err := w.tx.Query(ctx, func(r Row) error {
		var tool, id string
		err := r.Scan(&tool, &id)
		keys = append(keys, driver.PurgedKey(tool, id))
		return err
	}, `SELECT tool, id FROM origins WHERE conversation_id = $1`, id)
	for _, key := range keys {
		if err == nil {
			err = w.tx.Queue(ctx,
				`INSERT INTO purged_origins (origin, project) VALUES ($1, $2) ON CONFLICT (origin, project) DO NOTHING`, key,
				project)
		}
	}
	if err != nil || len(keys) == 0 {
		return err
	}
	return w.tx.Queue(ctx, `DELETE FROM origins WHERE conversation_id = $1`, id)
}

// sweepOrigins removes the origins of a conversation that is not there.
func (w *writeTx) sweepOrigins(ctx context.Context, id scrollback.ConversationID) error {
	return w.tx.Queue(
		ctx,
		`DELETE FROM origins WHERE conversation_id = $1 AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = origins.conversation_id)`,
		id,
	)
}
