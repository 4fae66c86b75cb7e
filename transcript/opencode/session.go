package opencode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// readSession reads one conversation.
func readSession(db *foreign.DB, id string) (*storedSession, error) {
	s := &storedSession{}
	var fields []string
	for _, c := range []string{"parent_id", "project_id", "directory", "version", "slug", "agent", "model", "revert",
		"time_archived"} {
		fields = append(fields, db.ColumnOr("session", c, "NULL"))
	}
	for r, err := range db.QueryRows("SELECT id, title, time_created, time_updated, "+strings.Join(fields, ", ")+
		" FROM session WHERE id = ?", id) {
		if err != nil {
			return nil, err
		}
		s.ID = r.Text("id")
		s.Title = r.Text("title")
		s.ParentID = r.Text("parent_id")
		s.ProjectID = r.Text("project_id")
		s.Directory = r.Text("directory")
		s.Version = r.Text("version")
		s.Slug = r.Text("slug")
		s.Agent = r.Text("agent")
		s.Time.Created = toMillis(r.Int("time_created"))
		s.Time.Updated = toMillis(r.Int("time_updated"))
		s.Time.Archived = toMillis(r.Int("time_archived"))
		// Neither is needed to read the messages.
		_ = json.Unmarshal([]byte(r.Text("model")), &s.Model)
		_ = json.Unmarshal([]byte(r.Text("revert")), &s.Revert)
	}
	at := map[string]*message{}
	for r, err := range db.QueryRows(
		"SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", id) {
		if err != nil {
			return nil, err
		}
		if m := s.addMessage(r.Text("id"), []byte(r.Text("data"))); m != nil {
			m.Time.Created = toMillis(r.Int("time_created"))
			at[m.ID] = m
		}
	}
	for r, err := range db.QueryRows("SELECT id, message_id, data FROM part WHERE session_id = ?", id) {
		if err != nil {
			return nil, err
		}
		m := at[r.Text("message_id")]
		if m == nil {
			continue // of a message that could not be read
		}
		if p, ok := s.readPart(r.Text("id"), []byte(r.Text("data"))); ok {
			m.parts = append(m.parts, p)
		}
	}
	if err := s.restoreRemoved(db, at); err != nil {
		return nil, err
	}
	s.sortMessages()
	return s, s.findOrigin(db)
}

// restoreRemoved takes the messages that were removed out of the event log.
func (s *storedSession) restoreRemoved(db *foreign.DB, at map[string]*message) error {
	if !db.HasTable("event", "aggregate_id", "seq", "type", "data") {
		return nil
	}
	type event struct {
		MessageID string          `json:"messageID"`
		Info      json.RawMessage `json:"info"`
		Part      json.RawMessage `json:"part"`
	}
	removed := map[string]int64{}
	for r, err := range db.QueryRows(
		"SELECT seq, data FROM event WHERE aggregate_id = ? AND type LIKE 'message.removed.%' ORDER BY seq", s.ID) {
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
	last := map[string]json.RawMessage{}
	parts := map[string]map[string]json.RawMessage{}
	begun := map[string]int64{}
	for r, err := range db.QueryRows(
		"SELECT seq, type, data FROM event WHERE aggregate_id = ? AND type LIKE 'message.%' ORDER BY seq", s.ID) {
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
		case strings.HasPrefix(kind, "message.part.updated.") && json.Unmarshal(e.Part, &of) == nil &&
			removed[of.MessageID] > 0:
			if parts[of.MessageID] == nil {
				parts[of.MessageID] = map[string]json.RawMessage{}
			}
			parts[of.MessageID][of.ID] = e.Part
		}
	}
	for id, raw := range last {
		if m := s.addMessage(id, raw); m != nil {
			m.removed = removed[id]
			for pid, raw := range parts[id] {
				if p, ok := s.readPart(pid, raw); ok {
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
var forkTitle = lazyregexp.New(`\(fork #\d+\)$`)

// findOrigin finds what a fork was copied from: the first message has the same time there.
func (s *storedSession) findOrigin(db *foreign.DB) error {
	if len(s.messages) == 0 || !forkTitle().MatchString(s.Title) {
		return nil
	}
	for r, err := range db.QueryRows(
		"SELECT m.session_id FROM message m JOIN session s ON s.id = m.session_id WHERE m.time_created = ? "+
			"AND s.time_created < ? ORDER BY s.time_created DESC, s.id LIMIT 1", int64(s.messages[0].Time.Created),
		int64(s.Time.Created)) {
		if err != nil {
			return err
		}
		s.forkOf = r.Text("session_id")
	}
	return nil
}
