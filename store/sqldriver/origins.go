package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// origins implements [driver.Origins]. Write runs a transaction, and Wrap gives errors
// their codes.
//
// A list is read through one index, in its order except for those of a folder and of a place, which
// are sorted; what a purge leaves of an origin is a hash.
type origins struct {
	Read  *sqlrow.Session
	Write func(ctx context.Context, op string, fn func(ctx context.Context, tx *sqlrow.Session) error) error
	Wrap  func(op string, err error) error
}

var _ driver.Origins = origins{}

const originColumns = `conversation_id, tool, id, root, folder, git_branch, place, name, stamp, shared, imported_at, gone_at`

// Put implements [driver.Origins].
func (d origins) Put(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	const op = "sqldriver.PutOrigin"
	return d.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		// A purge that comes first must be seen, and one that comes later must see what is put.
		if err := tx.Hold(ctx, `SELECT id FROM conversations WHERE id = $1`, o.Conversation); err != nil {
			return err
		}
		var project string
		err := tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&project) },
			`SELECT project FROM conversations WHERE id = $1 AND purged_at = 0`, o.Conversation)
		if errors.Is(err, sql.ErrNoRows) {
			return scrollback.Errorf(scrollback.NotFound, op, "no conversation %s", o.Conversation)
		}
		if err == nil && instead != "" && instead != o.Conversation {
			err = tx.Run(ctx, `DELETE FROM origins WHERE conversation_id = $1 AND tool = $2 AND id = $3`, instead, o.Tool, o.ID)
		}
		if err == nil {
			err = tx.Run(ctx, `DELETE FROM purged_origins WHERE origin = $1 AND project = $2`, driver.PurgedKey(o.Tool, o.ID),
				project)
		}
		if err != nil {
			return err
		}
		return tx.Run(
			ctx,
			`INSERT INTO origins (`+originColumns+`) VALUES (`+sqlrow.Marks(12)+`)
			ON CONFLICT (conversation_id, tool, id) DO UPDATE SET root = excluded.root, folder = excluded.folder, git_branch = excluded.git_branch,
			place = excluded.place, name = excluded.name, stamp = excluded.stamp, shared = excluded.shared,
			imported_at = excluded.imported_at, gone_at = excluded.gone_at`,
			o.Conversation,
			o.Tool,
			o.ID,
			o.Root,
			o.Folder,
			o.GitBranch,
			o.Place,
			o.Name,
			o.Stamp,
			originFlag(o.Shared),
			o.ImportedAt,
			o.GoneAt,
		)
	})
}

func originFlag(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// List implements [driver.Origins].
func (d origins) List(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	const op = "sqldriver.Origins"
	if q.Conversations == nil {
		out, err := d.pages(ctx, q, "")
		return out, d.Wrap(op, err)
	}
	var out []scrollback.Origin
	of := slices.Clone(q.Conversations)
	slices.Sort(of)
	for _, id := range slices.Compact(of) {
		some, err := d.pages(ctx, q, id)
		if err != nil {
			return nil, d.Wrap(op, err)
		}
		out = append(out, some...)
	}
	slices.SortFunc(out, func(a, b scrollback.Origin) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conversation, b.Conversation))
	})
	return out[:min(len(out), q.Size())], nil
}

// pages reads pages of origins until enough are of conversations that are asked for.
func (d origins) pages(ctx context.Context, q driver.OriginQuery,
	of scrollback.ConversationID) ([]scrollback.Origin, error) {
	out := []scrollback.Origin{}
	for {
		read := 0
		query, args := buildOriginQuery(q, of)
		err := d.Read.Rows(ctx, func(r sqlrow.Scanner) error {
			var o scrollback.Origin
			var project string
			err := r.Scan(&o.Conversation, &o.Tool, &o.ID, &o.Root, &o.Folder, &o.GitBranch, &o.Place, &o.Name, &o.Stamp,
				&o.Shared,
				&o.ImportedAt, &o.GoneAt, &project)
			if err != nil {
				return err
			}
			read += 1
			q.After = o
			if project != "" && q.Fits(o) && (q.Projects == nil || slices.Contains(q.Projects, project)) {
				out = append(out, o)
			}
			return nil
		}, query, args...)
		if err != nil || read < q.Size() || len(out) >= q.Size() {
			return out[:min(len(out), q.Size())], err
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
		for _, b := range q.Below() {
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
	query := `SELECT ` + originColumns +
		`, coalesce((SELECT c.project FROM conversations c WHERE c.id = origins.conversation_id AND ` + seen +
		`), '') FROM origins`
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY tool, id, conversation_id LIMIT " + arg(q.Size()), args
}

// Purged implements [driver.Origins].
func (d origins) Purged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	found := false
	err := d.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var project string
		err := r.Scan(&project)
		found = found || projects == nil || slices.Contains(projects, project)
		return err
	}, `SELECT project FROM purged_origins WHERE origin = $1`, driver.PurgedKey(tool, id))
	return found, d.Wrap("sqldriver.PurgedOrigin", err)
}

// dropOrigin removes the origins of a conversation that is purged, and marks them as purged.
func dropOrigin(ctx context.Context, tx *sqlrow.Session, id scrollback.ConversationID, project string) error {
	var keys []string
	err := tx.Rows(ctx, func(r sqlrow.Scanner) error {
		var tool, id string
		err := r.Scan(&tool, &id)
		keys = append(keys, driver.PurgedKey(tool, id))
		return err
	}, `SELECT tool, id FROM origins WHERE conversation_id = $1`, id)
	for _, key := range keys {
		if err == nil {
			err = tx.Run(ctx,
				`INSERT INTO purged_origins (origin, project) VALUES ($1, $2) ON CONFLICT (origin, project) DO NOTHING`, key,
				project)
		}
	}
	if err != nil || len(keys) == 0 {
		return err
	}
	return tx.Run(ctx, `DELETE FROM origins WHERE conversation_id = $1`, id)
}

// sweepOrigin removes the origins of a conversation that is not there.
func sweepOrigin(ctx context.Context, tx *sqlrow.Session, id scrollback.ConversationID) error {
	return tx.Run(
		ctx,
		`DELETE FROM origins WHERE conversation_id = $1 AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = origins.conversation_id)`,
		id,
	)
}
