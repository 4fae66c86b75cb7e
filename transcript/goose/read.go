package goose

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// messageRow is a message.
type messageRow struct {
	identity string
	role     string
	created  int64 // Unix ms
	order    int64
	line     int
	pieces   []content
	forUser  bool // it shows in the conversation
	forModel bool // it is sent
	summary  bool
}

// conversation is a session with its rows.
type conversation struct {
	*sessionHead
	source, above string // what it is known by, and what started it
	rows          []*messageRow
	bad           []transcript.Bad
	torn          bool // the last line is not complete
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		var all []*conversation
		var err error
		if path.Ext(s.Name) == ".jsonl" {
			all, err = readLegacy(p, s)
		} else {
			all, err = readDatabase(ctx, p, s)
		}
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		for _, c := range all {
			for e := range c.listEntries() {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// readDatabase reads a session and what it started.
func readDatabase(ctx context.Context, p transcript.Place, s transcript.Session) (out []*conversation, err error) {
	if p.Path == "" {
		return nil, nil
	}
	if _, err := fs.Stat(p.FS, s.Name); err != nil {
		return nil, err
	}
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(s.Name)), func(db *foreign.DB) error {
		out = nil
		f, err := readForest(db)
		if err != nil {
			return err
		}
		for _, family := range f.families {
			if f.all[family[0]].sessionIdentity() != s.ID {
				continue
			}
			for i, id := range family {
				c := &conversation{sessionHead: f.all[id], source: f.all[id].sessionIdentity()}
				if up := f.all[c.parent]; i > 0 && up != nil {
					c.above = up.sessionIdentity()
				}
				if err := c.loadRows(db); err != nil {
					return err
				}
				out = append(out, c)
			}
			return nil
		}
		return nil
	})
	return out, err
}

// loadRows reads the rows of a session, or those of its thread if it has none.
func (c *conversation) loadRows(db *foreign.DB) error {
	if err := c.readRows(db, "messages", "session_id", c.id); err != nil {
		return err
	}
	if len(c.rows) == 0 && c.thread != "" &&
		db.HasTable("thread_messages", "id", "thread_id", "role", "content_json", "created_timestamp") {
		first := "" // of the sessions that have nothing but the thread, which is told once
		for r, err := range db.QueryRows(
			"SELECT id FROM sessions s WHERE thread_id = ? AND NOT EXISTS (SELECT 1 FROM messages "+
				"WHERE session_id = s.id) ORDER BY "+columnOrNull(db, "sessions", "created_at")+", id LIMIT 1", c.thread) {
			if err != nil {
				return err
			}
			first = r.Text("id")
		}
		if first == c.id {
			if err := c.readRows(db, "thread_messages", "thread_id", c.thread); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(c.rows, func(a, b *messageRow) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.order, b.order))
	})
	c.arrangeRows()
	return nil
}

// readRows reads rows of a table.
func (c *conversation) readRows(db *foreign.DB, table, key, id string) error {
	for r, err := range db.QueryRows("SELECT id, role, content_json, created_timestamp, "+
		db.ColumnOr(table, "metadata_json", "NULL")+
		" FROM "+table+" WHERE "+key+" = ?", id) {
		if err != nil {
			return err
		}
		c.addMessage(r.Text("role"), []byte(r.Text("content_json")), []byte(r.Text("metadata_json")),
			&messageRow{created: transcript.ParseMillis(r.Int("created_timestamp")), order: r.Int("id")})
	}
	return nil
}

// addMessage reads a message.
func (c *conversation) addMessage(role string, raw, metadata []byte, r *messageRow) {
	var flags struct {
		User  *bool `json:"userVisible"`
		Model *bool `json:"agentVisible"`
	}
	var err error
	switch {
	case role != "user" && role != "assistant":
		err = fmt.Errorf("the role %q", role)
	case !utf8.Valid(raw):
		err = errors.New("not UTF-8")
	default:
		r.pieces, err = readPieces(raw)
	}
	if err != nil {
		if len(c.bad) < 1000 {
			c.bad = append(c.bad, transcript.Bad{Line: r.line, Reason: fmt.Sprintf("message %d: %v", r.order, err)})
		}
		return
	}
	_ = json.Unmarshal(metadata, &flags) // without it, everybody sees it
	r.forUser = flags.User == nil || *flags.User
	r.forModel = flags.Model == nil || *flags.Model
	r.role = role
	var plain bytes.Buffer
	if json.Compact(&plain, raw) != nil {
		plain.Write(raw)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", role, r.created, plain.Bytes()))
	r.identity = fmt.Sprintf("%x", sum[:12])
	c.rows = append(c.rows, r)
}

// arrangeRows tells equal rows apart, and finds the summaries: what is
// only for the model and followed by the sentence that tells it to go on.
func (c *conversation) arrangeRows() {
	times := map[string]int{}
	for i, r := range c.rows {
		if times[r.identity]++; times[r.identity] > 1 {
			r.identity = fmt.Sprintf("%s-%d", r.identity, times[r.identity])
		}
		r.summary = !r.forUser && !r.isContinuation() && i+1 < len(c.rows) && c.rows[i+1].isContinuation()
	}
}

// rowText returns what a row says in words.
func (r *messageRow) rowText() string {
	var all []string
	for _, p := range r.pieces {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// isContinuation reports whether a row is the sentence after a summary.
func (r *messageRow) isContinuation() bool {
	if r.forUser || r.role != "assistant" {
		return false
	}
	text := r.rowText()
	return strings.HasPrefix(text, "Your context was compacted") ||
		strings.HasPrefix(text, "The previous message contains a summary")
}

// parseTime returns a time of the database, in UTC, in Unix ms; 0 for none.
func parseTime(s string) int64 {
	for _, form := range []string{time.DateTime, time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00"} {
		if t, err := time.Parse(form, s); err == nil {
			return min(max(t.UnixMilli(), 0), transcript.Latest)
		}
	}
	return 0
}
