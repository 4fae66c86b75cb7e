package openwebui

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// database is the name of the program's own.
const database = "webui.db"

// versions says which are known.
const versions = "Open WebUI 0.3 to 0.9"

// listDatabases returns those of a place: the file that it is, or where the program keeps it.
func listDatabases(p transcript.Place) (out []string) {
	if p.Path == "" {
		return nil
	}
	if path.Ext(p.Name) == ".db" {
		return []string{p.Name}
	}
	for _, below := range []string{"", "data", "backend/data"} {
		name := path.Join(p.Name, below, database)
		if info, err := fs.Stat(p.FS, name); err == nil && info.Mode().IsRegular() {
			out = append(out, name)
		}
	}
	return out
}

func pathIn(p transcript.Place, name string) string {
	return filepath.Join(p.Path, filepath.FromSlash(name))
}

// listChats lists the conversations of a database.
func listChats(ctx context.Context, p transcript.Place, name string) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		var all []transcript.Session
		err := foreign.ReadDatabase(ctx, pathIn(p, name), func(db *foreign.DB) (err error) {
			all, err = listSessions(db, name)
			return err
		})
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// checkTables returns an error if a database does not have what is read.
func checkTables(db *foreign.DB) error {
	return db.RequireTable(versions, "chat", "id", "title", "chat", "created_at", "updated_at")
}

// hasMessageRows reports whether a database has a row a message.
func hasMessageRows(db *foreign.DB) bool {
	return db.HasTable("chat_message", "id", "chat_id", "role", "parent_id", "content", "created_at", "updated_at")
}

func listSessions(db *foreign.DB, name string) ([]transcript.Session, error) {
	if err := checkTables(db); err != nil {
		return nil, err
	}
	rows := map[string]string{} // of messages, by conversation
	if hasMessageRows(db) {
		query := "SELECT chat_id, count(*) n, max(updated_at) at, sum(octet_length(content)) size FROM chat_message GROUP BY chat_id"
		for r, err := range db.QueryRows(query) {
			if err != nil {
				return nil, err
			}
			rows[r.Text("chat_id")] = fmt.Sprintf("-%d-%d-%d", r.Int("n"), r.Int("at"), r.Int("size"))
		}
	}
	var out []transcript.Session
	for r, err := range db.QueryRows(
		"SELECT id, octet_length(chat) size, octet_length(title) title, updated_at FROM chat ORDER BY created_at, id") {
		if err != nil {
			return out, err
		}
		if r.Text("id") == "" {
			continue
		}
		s := transcript.Session{ID: r.Text("id"), Name: name, Bytes: max(r.Int("size"), 0),
			Changed: exported.SecondsToMillis(r.Float("updated_at"))}
		s.Stamp = fmt.Sprintf("%d-%d-%d%s", r.Int("updated_at"), s.Bytes, r.Int("title"), rows[s.ID])
		if s.Bytes > exported.MaxTalk {
			s.Bad = fmt.Sprintf("longer than %d bytes", exported.MaxTalk)
		}
		out = append(out, s)
	}
	return out, nil
}

// readRow yields one conversation of a database.
func readRow(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		var c *conversation
		err := foreign.ReadDatabase(ctx, pathIn(p, s.Name), func(db *foreign.DB) (err error) {
			c, err = loadConversation(db, s.ID)
			return err
		})
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		if c == nil {
			return // it was deleted meanwhile
		}
		t, err := c.makeTalk(exported.FilesBeside(p, s.Name), p.IsLive(s))
		if err != nil {
			yield(transcript.Entry{Bad: &transcript.Bad{Reason: err.Error()}}, nil)
			return
		}
		for e := range t.Entries() {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// loadConversation reads one conversation; nil if it is not there.
func loadConversation(db *foreign.DB, id string) (*conversation, error) {
	if err := checkTables(db); err != nil {
		return nil, err
	}
	var c *conversation
	query := "SELECT id, title, chat, created_at, updated_at, " + db.ColumnOr("chat", "archived", "0") + ", " +
		db.ColumnOr("chat", "pinned", "0") + ", " +
		db.ColumnOr("chat", "folder_id", "NULL") + ", " + db.ColumnOr("chat", "current_message_id", "NULL") +
		" FROM chat WHERE id = ?"
	for r, err := range db.QueryRows(query, id) {
		if err != nil {
			return nil, err
		}
		c = &conversation{ID: r.Text("id"), Title: r.Text("title"), CreatedAt: r.Float("created_at"),
			UpdatedAt: r.Float("updated_at"),
			Archived:  r.Int("archived") != 0, Pinned: r.Int("pinned") != 0, Folder: r.Text("folder_id"),
			Current: r.Text("current_message_id")}
		_ = exported.DecodeJSON(json.RawMessage(r.Text("chat")), &c.Chat) // what is broken is not there
	}
	if c == nil || !hasMessageRows(db) {
		return c, nil
	}
	return c, readMessages(db, c)
}

// readMessages reads the rows of a conversation's messages over what it says itself.
func readMessages(db *foreign.DB, c *conversation) error {
	column := func(name string) string { return db.ColumnOr("chat_message", name, "NULL") }
	query := "SELECT id, role, parent_id, content, created_at, " + column("output") + ", " + column("model_id") + ", " +
		column("files") + ", " +
		column("done") + ", " + column("error") + ", " + column("usage") +
		" FROM chat_message WHERE chat_id = ? ORDER BY created_at, id"
	for r, err := range db.QueryRows(query, c.ID) {
		if err != nil {
			return err
		}
		m := message{ID: ownID(r.Text("id"), c.ID), Role: r.Text("role"), Parent: ownID(r.Text("parent_id"), c.ID),
			Model: r.Text("model_id"),
			At:    r.Float("created_at"), Content: asJSON(r.Text("content")), Error: asJSON(r.Text("error")),
			Usage: asJSON(r.Text("usage"))}
		_ = exported.DecodeList(json.RawMessage(r.Text("output")), &m.Output) // nothing, if it is not a list
		_ = exported.DecodeList(json.RawMessage(r.Text("files")), &m.Files)
		if !r.IsNull("done") {
			done := r.Int("done") != 0
			m.Done = &done
		}
		if c.Chat.History.Messages == nil {
			c.Chat.History.Messages = c.linkChain()
		}
		m.Children = c.Chat.History.Messages[m.ID].Children
		c.Chat.History.Messages[m.ID] = m
	}
	return nil
}

// ownID returns the id of a message, which its row has behind that of the conversation.
func ownID(id, chat string) string {
	if len(id) > len(chat)+1 && id[:len(chat)] == chat && id[len(chat)] == '-' {
		return id[len(chat)+1:]
	}
	return id
}
