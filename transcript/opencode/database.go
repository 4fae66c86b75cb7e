package opencode

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// pathOf is where a file of a place is on this machine; an error if a link leads out of it.
func pathOf(p transcript.Place, name string) (string, error) {
	if _, err := fs.Stat(p.FS, name); err != nil {
		return "", err
	}
	return filepath.Join(p.Path, filepath.FromSlash(name)), nil
}

// need checks that the tables are those that are known.
func need(db *foreign.DB) error {
	for _, t := range [][]string{
		{"session", "id", "title", "time_created", "time_updated"}, {"message", "id", "session_id", "time_created", "data"},
		{"part", "id", "message_id", "session_id", "data"},
	} {
		if err := db.Need(known, t[0], t[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// listed is a session of a database with the ids of its sub-agents.
type listed struct {
	transcript.Session
	with []string
}

// counted is what a session has, for its stamp.
type counted struct {
	parent  string
	stamp   string
	changed int64
	parts   int64
	rows    int64 // messages
	newer   int64 // messages in the form of the next version
}

// databaseSessions lists the conversations of a database that are not a sub-agent's.
func databaseSessions(ctx context.Context, p transcript.Place, name string) ([]listed, error) {
	at, err := pathOf(p, name)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if info, err := fs.Stat(p.FS, name); err == nil {
		size = info.Size()
	}
	var ids []string
	var all map[string]*counted
	err = foreign.Read(ctx, at, func(db *foreign.DB) error {
		if err := need(db); err != nil {
			return err
		}
		ids, all, err = count(db)
		return err
	})
	if err != nil {
		return nil, err
	}
	parts := int64(1)
	for _, c := range all {
		parts += c.parts
	}
	var out []listed
	for _, family := range families(ids, func(id string) string { return all[id].parent }) {
		s := listed{Session: transcript.Session{ID: family[0], Name: name}, with: family}
		rows, newer := int64(0), int64(0)
		var stamps []string
		for _, id := range family {
			c := all[id]
			stamps = append(stamps, c.stamp)
			s.Changed, rows, newer = max(s.Changed, c.changed), rows+c.rows, newer+c.newer
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

// count reads what each session has. A change in place shows in the event log's numbers,
// or, without them, in the times of all parts.
func count(db *foreign.DB) (ids []string, all map[string]*counted, err error) {
	all = map[string]*counted{}
	for r, err := range db.Rows("SELECT id, time_created, time_updated, " + db.Or("session", "parent_id", "NULL") + ", " +
		db.Or("session", "revert", "NULL") + " FROM session ORDER BY time_created, id") {
		if err != nil {
			return nil, nil, err
		}
		id := r.Text("id")
		if id == "" || all[id] != nil {
			continue
		}
		updated := int64(when(r.Int("time_updated")))
		ids = append(ids, id)
		all[id] = &counted{parent: r.Text("parent_id"), changed: updated, stamp: fmt.Sprintf("%d,%s", updated, r.Text("revert"))}
	}
	logged := db.Has("event_sequence", "aggregate_id", "seq")
	parts := "SELECT p.session_id AS id, p.n AS n, p.r AS r, q.time_updated AS u FROM " +
		"(SELECT session_id, count(*) AS n, max(rowid) AS r FROM part GROUP BY session_id) p JOIN part q ON q.rowid = p.r"
	switch {
	case !db.Has("part", "time_updated"):
		parts = "SELECT session_id AS id, count(*) AS n, max(rowid) AS r, sum(octet_length(data)) AS u FROM part GROUP BY session_id"
	case !logged:
		parts = "SELECT session_id AS id, count(*) AS n, max(rowid) AS r, max(time_updated) AS u FROM part GROUP BY session_id"
	}
	queries := []string{
		"SELECT session_id AS id, count(*) AS n, max(rowid) AS r, max(" + column(db, "message", "time_updated", "time_created") +
			") AS u FROM message GROUP BY session_id",
		parts,
	}
	if logged {
		queries = append(queries, "SELECT aggregate_id AS id, seq AS r, 0 AS n, 0 AS u FROM event_sequence")
	}
	if db.Has("session_message", "session_id") {
		queries = append(queries, "SELECT session_id AS id, count(*) AS n, max(rowid) AS r, 0 AS u FROM session_message GROUP BY session_id")
	}
	for i, q := range queries {
		for r, err := range db.Rows(q) {
			if err != nil {
				return nil, nil, err
			}
			c := all[r.Text("id")]
			if c == nil {
				continue
			}
			c.stamp += fmt.Sprintf(";%d,%d,%d", r.Int("n"), r.Int("r"), r.Int("u"))
			c.changed = max(c.changed, int64(when(r.Int("u"))))
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
	return ids, all, nil
}

// column is a column if the table has it, or else another one.
func column(db *foreign.DB, table, name, otherwise string) string {
	if db.Has(table, name) {
		return name
	}
	return otherwise
}

// families puts ids under those that have no parent, each family with its first one, and each
// parent before its children. Circles are broken where they are met first.
func families(ids []string, parent func(id string) string) (out [][]string) {
	below, there := map[string][]string{}, map[string]bool{}
	for _, id := range ids {
		there[id] = true
	}
	for _, id := range ids {
		if up := parent(id); there[up] {
			below[up] = append(below[up], id)
		}
	}
	seen := map[string]bool{}
	take := func(root string) {
		var family []string
		for stack := []string{root}; len(stack) > 0; {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[id] {
				continue
			}
			seen[id] = true
			family = append(family, id)
			for _, child := range slices.Backward(below[id]) {
				stack = append(stack, child)
			}
		}
		out = append(out, family)
	}
	for _, id := range ids {
		if !there[parent(id)] {
			take(id)
		}
	}
	for _, id := range ids {
		if !seen[id] {
			take(id)
		}
	}
	return out
}

// fromDatabase reads a conversation with its sub-agents, each after what started it.
func fromDatabase(ctx context.Context, p transcript.Place, s transcript.Session) (all []*stored, err error) {
	at, err := pathOf(p, s.Name)
	if err != nil {
		return nil, err
	}
	err = foreign.Read(ctx, at, func(db *foreign.DB) error {
		all = nil
		if err := need(db); err != nil {
			return err
		}
		ids, counts, err := count(db)
		if err != nil {
			return err
		}
		for _, family := range families(ids, func(id string) string { return counts[id].parent }) {
			if family[0] != s.ID {
				continue
			}
			for _, id := range family {
				one, err := session(db, id)
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

// session reads one conversation.
func session(db *foreign.DB, id string) (*stored, error) {
	s := &stored{}
	var fields []string
	for _, c := range []string{"parent_id", "project_id", "directory", "version", "slug", "agent", "model", "revert", "time_archived"} {
		fields = append(fields, db.Or("session", c, "NULL"))
	}
	for r, err := range db.Rows("SELECT id, title, time_created, time_updated, "+strings.Join(fields, ", ")+" FROM session WHERE id = ?", id) {
		if err != nil {
			return nil, err
		}
		s.ID, s.Title, s.ParentID, s.ProjectID = r.Text("id"), r.Text("title"), r.Text("parent_id"), r.Text("project_id")
		s.Directory, s.Version, s.Slug, s.Agent = r.Text("directory"), r.Text("version"), r.Text("slug"), r.Text("agent")
		s.Time.Created, s.Time.Updated, s.Time.Archived = when(r.Int("time_created")), when(r.Int("time_updated")), when(r.Int("time_archived"))
		// Neither is needed to read the messages.
		_ = json.Unmarshal([]byte(r.Text("model")), &s.Model)
		_ = json.Unmarshal([]byte(r.Text("revert")), &s.Revert)
	}
	at := map[string]*message{}
	for r, err := range db.Rows("SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", id) {
		if err != nil {
			return nil, err
		}
		if m := s.add(r.Text("id"), []byte(r.Text("data"))); m != nil {
			m.Time.Created = when(r.Int("time_created"))
			at[m.ID] = m
		}
	}
	for r, err := range db.Rows("SELECT id, message_id, data FROM part WHERE session_id = ?", id) {
		if err != nil {
			return nil, err
		}
		m := at[r.Text("message_id")]
		if m == nil {
			continue // of a message that could not be read
		}
		if p, ok := s.piece(r.Text("id"), []byte(r.Text("data"))); ok {
			m.parts = append(m.parts, p)
		}
	}
	if err := s.remember(db, at); err != nil {
		return nil, err
	}
	s.order()
	return s, s.origin(db)
}

// remember takes the messages that were removed out of the event log.
func (s *stored) remember(db *foreign.DB, at map[string]*message) error {
	if !db.Has("event", "aggregate_id", "seq", "type", "data") {
		return nil
	}
	type event struct {
		MessageID string          `json:"messageID"`
		Info      json.RawMessage `json:"info"`
		Part      json.RawMessage `json:"part"`
	}
	removed := map[string]int64{}
	for r, err := range db.Rows("SELECT seq, data FROM event WHERE aggregate_id = ? AND type LIKE 'message.removed.%' ORDER BY seq", s.ID) {
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal([]byte(r.Text("data")), &e) == nil && e.MessageID != "" && at[e.MessageID] == nil {
			removed[e.MessageID] = r.Int("seq") + 1
		}
	}
	if len(removed) == 0 {
		return nil
	}
	last, parts := map[string]json.RawMessage{}, map[string]map[string]json.RawMessage{}
	begun := map[string]int64{}
	for r, err := range db.Rows("SELECT seq, type, data FROM event WHERE aggregate_id = ? AND type LIKE 'message.%' ORDER BY seq", s.ID) {
		if err != nil {
			return err
		}
		var e event
		var of struct{ ID, MessageID string }
		if json.Unmarshal([]byte(r.Text("data")), &e) != nil {
			continue
		}
		kind := r.Text("type")
		switch {
		case strings.HasPrefix(kind, "message.updated.") && json.Unmarshal(e.Info, &of) == nil && of.ID != "":
			if _, known := begun[of.ID]; !known {
				begun[of.ID] = r.Int("seq") + 1
			}
			if removed[of.ID] > 0 {
				last[of.ID] = e.Info
			}
		case strings.HasPrefix(kind, "message.part.updated.") && json.Unmarshal(e.Part, &of) == nil && removed[of.MessageID] > 0:
			if parts[of.MessageID] == nil {
				parts[of.MessageID] = map[string]json.RawMessage{}
			}
			parts[of.MessageID][of.ID] = e.Part
		}
	}
	for id, raw := range last {
		if m := s.add(id, raw); m != nil {
			m.removed = removed[id]
			for pid, raw := range parts[id] {
				if p, ok := s.piece(pid, raw); ok {
					m.parts = append(m.parts, p)
				}
			}
		}
	}
	for _, m := range s.messages {
		m.begun = begun[m.ID]
	}
	slices.Sort(s.bad) // maps have no order
	return nil
}

// forkTitle is how the tool names a copy; nothing else says that it is one.
var forkTitle = regexp.MustCompile(`\(fork #\d+\)$`)

// origin finds what a fork was copied from: the first message has the same time there.
func (s *stored) origin(db *foreign.DB) error {
	if len(s.messages) == 0 || !forkTitle.MatchString(s.Title) {
		return nil
	}
	for r, err := range db.Rows("SELECT m.session_id FROM message m JOIN session s ON s.id = m.session_id WHERE m.time_created = ? "+
		"AND s.time_created < ? ORDER BY s.time_created DESC, s.id LIMIT 1", int64(s.messages[0].Time.Created), int64(s.Time.Created)) {
		if err != nil {
			return err
		}
		s.forkOf = r.Text("session_id")
	}
	return nil
}
