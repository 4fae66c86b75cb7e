package opencode

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// localPath returns where a file of a place is on this machine; an error if a link leads out of it.
func localPath(p transcript.Place, name string) (string, error) {
	if _, err := fs.Stat(p.FS, name); err != nil {
		return "", err
	}
	return filepath.Join(p.Path, filepath.FromSlash(name)), nil
}

// checkTables checks that the tables are those that are known.
func checkTables(db *foreign.DB) error {
	for _, t := range [][]string{
		{"session", "id", "title", "time_created", "time_updated"}, {"message", "id", "session_id", "time_created", "data"},
		{"part", "id", "message_id", "session_id", "data"},
	} {
		if err := db.RequireTable(known, t[0], t[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// listedSession is a session of a database with the ids of its sub-agents.
type listedSession struct {
	transcript.Session
	with []string
}

// sessionCounts is what a session has, for its stamp.
type sessionCounts struct {
	parent  string
	stamp   string
	changed int64
	parts   int64
	rows    int64 // messages
	newer   int64 // messages in the form of the next version
}

// databaseSessions lists the conversations of a database that are not a sub-agent's.
func databaseSessions(ctx context.Context, p transcript.Place, name string) ([]listedSession, error) {
	at, err := localPath(p, name)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if info, err := fs.Stat(p.FS, name); err == nil {
		size = info.Size()
	}
	var ids []string
	var all map[string]*sessionCounts
	err = foreign.ReadDatabase(ctx, at, func(db *foreign.DB) error {
		if err := checkTables(db); err != nil {
			return err
		}
		ids, all, err = readCounts(db)
		return err
	})
	if err != nil {
		return nil, err
	}
	parts := int64(1)
	for _, c := range all {
		parts += c.parts
	}
	var out []listedSession
	for _, family := range tree.GroupFamilies(ids, func(id string) string { return all[id].parent }) {
		s := listedSession{Session: transcript.Session{ID: family[0], Name: name}, with: family}
		rows := int64(0)
		newer := int64(0)
		var stamps []string
		for _, id := range family {
			c := all[id]
			stamps = append(stamps, c.stamp)
			s.Changed = max(s.Changed, c.changed)
			rows += c.rows
			newer += c.newer
			s.Bytes += int64(float64(size) * float64(c.parts) / float64(parts))
		}
		s.Stamp = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(stamps, " "))))[:32]
		if rows == 0 && newer > 0 {
			s.Bad = "it is kept in the table session_message, in a form that is not known; known is that of " + known
		}
		if rows > 0 || s.Bad != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// readCounts reads what each session has. A change in place shows in the event log's numbers,
// or, without them, in the times of all parts.
func readCounts(db *foreign.DB) (ids []string, all map[string]*sessionCounts, err error) {
	if ids, all, err = readHeads(db); err != nil {
		return nil, nil, err
	}
	return ids, all, readSums(db, all)
}

// readHeads reads the sessions without what they have.
func readHeads(db *foreign.DB) (ids []string, all map[string]*sessionCounts, err error) {
	all = map[string]*sessionCounts{}
	copies, err := readCopies(db)
	if err != nil {
		return nil, nil, err
	}
	for r, err := range db.QueryRows("SELECT id, time_created, time_updated, " +
		db.ColumnOr("session", "parent_id", "NULL") + ", " +
		db.ColumnOr("session", "revert", "NULL") + " FROM session ORDER BY time_created, id") {
		if err != nil {
			return nil, nil, err
		}
		id := r.Text("id")
		if id == "" || all[id] != nil || copies[id] {
			continue
		}
		updated := int64(toMillis(r.Int("time_updated")))
		ids = append(ids, id)
		all[id] = &sessionCounts{parent: r.Text("parent_id"), changed: updated,
			stamp: fmt.Sprintf("%d,%s", updated, r.Text("revert"))}
	}
	return ids, all, nil
}

// copyTables are where MiMo Code notes which sessions it copied from other tools, which are read there.
var copyTables = []string{"external_import", "claude_import"}

// readCopies returns the sessions that were copied from other tools.
func readCopies(db *foreign.DB) (map[string]bool, error) {
	out := map[string]bool{}
	for _, table := range copyTables {
		if !db.HasTable(table, "session_id") {
			continue
		}
		for r, err := range db.QueryRows("SELECT session_id FROM " + table) {
			if err != nil {
				return nil, err
			}
			out[r.Text("session_id")] = true
		}
	}
	return out, nil
}

// readSums reads what the sessions have.
func readSums(db *foreign.DB, all map[string]*sessionCounts) error {
	logged := db.HasTable("event_sequence", "aggregate_id", "seq")
	parts := "SELECT p.session_id AS id, p.n AS n, p.r AS r, q.time_updated AS u FROM " +
		"(SELECT session_id, count(*) AS n, max(rowid) AS r FROM part GROUP BY session_id) p JOIN part q ON q.rowid = p.r"
	switch {
	case !db.HasTable("part", "time_updated"):
		parts = "SELECT session_id AS id, count(*) AS n, max(rowid) AS r, sum(octet_length(data)) AS u FROM part GROUP BY session_id"
	case !logged:
		parts = "SELECT session_id AS id, count(*) AS n, max(rowid) AS r, max(time_updated) AS u FROM part GROUP BY session_id"
	}
	queries := []string{
		"SELECT session_id AS id, count(*) AS n, max(rowid) AS r, max(" +
			columnOr(db, "message", "time_updated", "time_created") +
			") AS u FROM message GROUP BY session_id",
		parts,
	}
	if logged {
		queries = append(queries, "SELECT aggregate_id AS id, seq AS r, 0 AS n, 0 AS u FROM event_sequence")
	}
	if db.HasTable("session_message", "session_id") {
		queries = append(queries,
			"SELECT session_id AS id, count(*) AS n, max(rowid) AS r, 0 AS u FROM session_message GROUP BY session_id")
	}
	for i, q := range queries {
		for r, err := range db.QueryRows(q) {
			if err != nil {
				return err
			}
			c := all[r.Text("id")]
			if c == nil {
				continue
			}
			c.stamp += fmt.Sprintf(";%d,%d,%d", r.Int("n"), r.Int("r"), r.Int("u"))
			c.changed = max(c.changed, int64(toMillis(r.Int("u"))))
			switch {
			case i == 0:
				c.rows = r.Int("n")
			case i == 1:
				c.parts = r.Int("n")
			case strings.Contains(q, "session_message"):
				c.newer = r.Int("n")
			}
		}
	}
	return nil
}

// columnOr returns a column if the table has it, or else another one.
func columnOr(db *foreign.DB, table, name, otherwise string) string {
	if db.HasTable(table, name) {
		return name
	}
	return otherwise
}

// readDatabase reads a conversation with its sub-agents, each after what started it.
func readDatabase(ctx context.Context, p transcript.Place, s transcript.Session) (all []*storedSession, err error) {
	at, err := localPath(p, s.Name)
	if err != nil {
		return nil, err
	}
	err = foreign.ReadDatabase(ctx, at, func(db *foreign.DB) error {
		all = nil
		if err := checkTables(db); err != nil {
			return err
		}
		ids, counts, err := readHeads(db)
		if err != nil {
			return err
		}
		for _, family := range tree.GroupFamilies(ids, func(id string) string { return counts[id].parent }) {
			if family[0] != s.ID {
				continue
			}
			for _, id := range family {
				one, err := readSession(db, id)
				if err != nil {
					return err
				}
				all = append(all, one)
			}
		}
		return nil
	})
	return all, err
}
