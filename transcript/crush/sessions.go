package crush

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// checkTables checks that the tables are those that are known.
func checkTables(db *foreign.DB) error {
	if err := db.RequireTable(known, "sessions", "id", "title", "created_at", "updated_at"); err != nil {
		return err
	}
	return db.RequireTable(known, "messages", "id", "session_id", "role", "parts", "created_at")
}

// listSessions lists the conversations of a database that are not a sub-agent's.
func listSessions(ctx context.Context, p transcript.Place, name string) (out []transcript.Session, err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		if err := checkTables(db); err != nil {
			return err
		}
		f, err := readForest(db)
		if err == nil {
			err = f.readCounts(db)
		}
		if err != nil {
			return err
		}
		for _, family := range f.families {
			s := transcript.Session{ID: family[0], Name: name}
			sum := sha256.New()
			rows := int64(0)
			for _, id := range family {
				one := f.all[id]
				fmt.Fprintf(sum, "%s %d %d %d %d %d;", id, one.updated, one.rows, one.newest, one.last, one.bytes)
				rows += one.rows
				s.Bytes += one.bytes
				s.Changed = max(s.Changed, one.updated, one.newest)
			}
			if s.Stamp = fmt.Sprintf("%x", sum.Sum(nil)[:16]); rows > 0 {
				out = append(out, s)
			}
		}
		return nil
	})
	return out, err
}

// sessionHead is what the database says of a session without its messages.
type sessionHead struct {
	id, parent, title string
	created, updated  int64 // Unix ms
	rows, last, bytes int64
	newest            int64 // Unix ms: when a row was changed last
}

// sessionForest is the sessions of a database, with those that other ones started.
type sessionForest struct {
	all      map[string]*sessionHead
	families [][]string
}

// sessionFamily returns a session and all that it started, parents first.
func (f *sessionForest) sessionFamily(id string) []string {
	for _, family := range f.families {
		if family[0] == id {
			return family
		}
	}
	return nil
}

// readForest reads the sessions, without what they have.
func readForest(db *foreign.DB) (*sessionForest, error) {
	f := &sessionForest{all: map[string]*sessionHead{}}
	var ids []string
	for r, err := range db.QueryRows("SELECT id, title, created_at, updated_at, " +
		db.ColumnOr("sessions", "parent_session_id", "NULL") +
		" FROM sessions ORDER BY created_at, rowid") {
		if err != nil {
			return nil, err
		}
		h := &sessionHead{id: r.Text("id"), parent: r.Text("parent_session_id"), title: r.Text("title"),
			created: transcript.ParseMillis(r.Int("created_at")), updated: transcript.ParseMillis(r.Int("updated_at"))}
		if h.id == "" || f.all[h.id] != nil || h.id == "title-"+h.parent {
			continue // the last asked for a title, and is not talk
		}
		ids = append(ids, h.id)
		f.all[h.id] = h
	}
	f.families = tree.GroupFamilies(ids, func(id string) string { return f.all[id].parent })
	return f, nil
}

// readCounts reads what the sessions have. The lengths of rows are summed, since rows change in
// place within the second that their times tell.
func (f *sessionForest) readCounts(db *foreign.DB) error {
	updated := "created_at"
	if db.HasTable("messages", "updated_at") {
		updated = "updated_at"
	}
	for r, err := range db.QueryRows("SELECT session_id, count(*) AS n, max(" + updated +
		") AS u, max(rowid) AS r, sum(octet_length(parts)) AS b " +
		"FROM messages GROUP BY session_id") {
		if err != nil {
			return err
		}
		if h := f.all[r.Text("session_id")]; h != nil {
			h.rows = r.Int("n")
			h.newest = transcript.ParseMillis(r.Int("u"))
			h.last = r.Int("r")
			h.bytes = max(r.Int("b"), 0)
		}
	}
	return nil
}
