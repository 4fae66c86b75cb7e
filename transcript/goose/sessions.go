package goose

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// checkTables checks that the tables are those that are known.
func checkTables(db *foreign.DB) error {
	if err := db.RequireTable(known, "sessions", "id"); err != nil {
		return err
	}
	return db.RequireTable(known, "messages", "id", "session_id", "role", "content_json", "created_timestamp")
}

// listSessions lists the conversations of a database that are not a sub-agent's, and notes all ids.
func listSessions(ctx context.Context, p transcript.Place, name string,
	seen map[string]bool) (out []transcript.Session, err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		clear(seen)
		f, err := readForest(db)
		if err == nil {
			err = f.readCounts(db)
		}
		if err != nil {
			return err
		}
		for id := range f.all {
			seen[id] = true
		}
		for _, family := range f.families {
			s := transcript.Session{ID: f.all[family[0]].sessionIdentity(), Name: name}
			sum := sha256.New()
			rows := int64(0)
			for _, id := range family {
				h := f.all[id]
				fmt.Fprintf(sum, "%s %s;", id, h.stamp)
				rows += h.rows
				s.Bytes += h.bytes
				s.Changed = max(s.Changed, h.updated, h.newest)
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
	id, parent, title, made  string
	folder, provider, model  string
	kind, thread             string
	created, updated, newest int64 // Unix ms
	rows, bytes              int64
	stamp                    string
}

// sessionIdentity returns the session's id with what tells it from another machine's.
func (h *sessionHead) sessionIdentity() string {
	if h.made == "" {
		return h.id
	}
	return fmt.Sprintf("%s-%x", h.id, sha256.Sum256([]byte(h.made)))[:len(h.id)+9]
}

// sessionForest is the sessions of a database, with those that other ones started.
type sessionForest struct {
	all      map[string]*sessionHead
	ids      []string // by when they were made
	families [][]string
}

// readForest reads the sessions, without what they have.
func readForest(db *foreign.DB) (*sessionForest, error) {
	if err := checkTables(db); err != nil {
		return nil, err
	}
	f := &sessionForest{all: map[string]*sessionHead{}}
	var fields []string
	for _, c := range []string{"name", "description", "session_type", "working_dir", "provider_name", "model_config_json",
		"parent_session_id", "thread_id"} {
		fields = append(fields, db.ColumnOr("sessions", c, "NULL"))
	}
	created := "NULL"
	updated := "NULL"
	if db.HasTable("sessions", "created_at", "updated_at") {
		created = "created_at"
		updated = "updated_at"
	}
	var ids []string
	for r, err := range db.QueryRows("SELECT id, CAST(" + created + " AS TEXT) AS made, CAST(" + updated +
		" AS TEXT) AS changed, " +
		strings.Join(fields, ", ") + " FROM sessions ORDER BY " + created + ", id") {
		if err != nil {
			return nil, err
		}
		h := &sessionHead{id: r.Text("id"), made: r.Text("made"), title: cmp.Or(r.Text("name"), r.Text("description")),
			kind:   r.Text("session_type"),
			folder: r.Text("working_dir"), provider: r.Text("provider_name"), parent: r.Text("parent_session_id"),
			thread: r.Text("thread_id")}
		if h.id == "" || f.all[h.id] != nil {
			continue
		}
		h.created = parseTime(h.made)
		h.updated = parseTime(r.Text("changed"))
		h.model = configModel(r.Text("model_config_json"))
		h.stamp = r.Text("changed")
		ids = append(ids, h.id)
		f.all[h.id] = h
	}
	f.ids = ids
	f.families = tree.GroupFamilies(ids, func(id string) string { return f.all[id].parent })
	return f, nil
}

// readCounts reads what each session has, of its own and of its thread. The lengths of rows are
// summed, since rows are deleted and inserted again.
func (f *sessionForest) readCounts(db *foreign.DB) error {
	const sums = "count(*) AS n, max(id) AS high, max(created_timestamp) AS t, sum(octet_length(content_json)) AS b, "
	visible := func(table string) string {
		return "sum(octet_length(" + columnOrNull(db, table, "metadata_json") + ")) AS m"
	}
	for r, err := range db.QueryRows("SELECT session_id, " + sums + visible("messages") +
		" FROM messages GROUP BY session_id") {
		if err != nil {
			return err
		}
		if h := f.all[r.Text("session_id")]; h != nil {
			h.rows = r.Int("n")
			h.bytes = max(r.Int("b"), 0)
			h.newest = transcript.ParseMillis(r.Int("t"))
			h.stamp += fmt.Sprintf(" %d %d %d %d", h.rows, r.Int("high"), h.bytes, r.Int("m"))
		}
	}
	if !db.HasTable("thread_messages", "id", "thread_id", "role", "content_json", "created_timestamp") {
		return nil
	}
	threads := map[string]foreign.Row{}
	for r, err := range db.QueryRows("SELECT thread_id, " + sums + visible("thread_messages") +
		" FROM thread_messages GROUP BY thread_id") {
		if err != nil {
			return err
		}
		threads[r.Text("thread_id")] = r
	}
	for _, id := range f.ids {
		h := f.all[id]
		r, known := threads[h.thread]
		if !known || h.thread == "" || h.rows > 0 {
			continue // what a session has of its own is what it says
		}
		delete(threads, h.thread) // which is told once
		h.rows = r.Int("n")
		h.bytes = max(r.Int("b"), 0)
		h.newest = transcript.ParseMillis(r.Int("t"))
		h.stamp += fmt.Sprintf(" thread %d %d %d %d", h.rows, r.Int("high"), h.bytes, r.Int("m"))
	}
	return nil
}

// columnOrNull returns a column if the table has it, or else NULL.
func columnOrNull(db *foreign.DB, table, column string) string {
	if db.HasTable(table, column) {
		return column
	}
	return "NULL"
}

// configModel returns the model that a session's settings name.
func configModel(config string) string {
	var c struct {
		Model string `json:"model_name"`
	}
	if json.Unmarshal([]byte(config), &c) != nil {
		return ""
	}
	return c.Model
}
