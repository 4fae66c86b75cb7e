package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// clawDatabase is what OpenClaw calls the database of an agent.
const clawDatabase = "openclaw-agent.sqlite"

// known says which versions the tables are known of.
const known = "OpenClaw 2026.9"

func isDatabase(name string) bool { return path.Base(name) == clawDatabase }

// listDatabases returns those of a place: the file, an agent's folder, or those of all agents.
func listDatabases(p transcript.Place) ([]string, error) {
	if p.Path == "" {
		return nil, nil // it was uploaded: databases are read where they are
	}
	info, err := fs.Stat(p.FS, p.Name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if isDatabase(p.Name) {
			return []string{p.Name}, nil
		}
		return nil, nil
	}
	var out []string
	for _, pattern := range []string{clawDatabase, "agent/" + clawDatabase, "*/agent/" + clawDatabase,
		"agents/*/agent/" + clawDatabase} {
		sub, err := fs.Sub(p.FS, p.Name)
		if err != nil {
			return nil, err
		}
		names, err := fs.Glob(sub, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			out = append(out, path.Join(p.Name, name))
		}
	}
	return out, nil
}

// checkTables checks that the tables are those that are known.
func checkTables(db *foreign.DB) error {
	return db.RequireTable(known, "transcript_events", "session_id", "seq", "event_json", "created_at")
}

// databaseSessions lists the conversations of a database.
func databaseSessions(ctx context.Context, p transcript.Place, name string) (out []transcript.Session, err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		if err := checkTables(db); err != nil {
			return err
		}
		for r, err := range db.QueryRows("SELECT session_id, count(*) AS n, max(seq) AS last, min(created_at) AS began, " +
			"max(created_at) AS newest, sum(" + sizeColumn(db) + ") AS bytes FROM transcript_events " +
			"GROUP BY session_id ORDER BY began, session_id") {
			if err != nil {
				return err
			}
			s := transcript.Session{ID: r.Text("session_id"), Name: name, Bytes: max(r.Int("bytes"), 0),
				Changed: transcript.ParseMillis(r.Int("newest"))}
			s.Stamp = fmt.Sprintf("%d,%d,%d,%d", r.Int("n"), r.Int("last"), r.Int("newest"), s.Bytes)
			if s.ID != "" {
				out = append(out, s)
			}
		}
		return nil
	})
	return out, err
}

// sizeColumn returns what says how long a row is.
func sizeColumn(db *foreign.DB) string {
	if db.HasTable("transcript_events", "event_zstd") {
		return "octet_length(coalesce(event_json, event_zstd))"
	}
	return "octet_length(event_json)"
}

// readEvents reads the entries of a conversation, and where its current path ends; empty for the newest.
func readEvents(ctx context.Context, p transcript.Place, s transcript.Session) (out []sessionlog.Record, leaf string,
	err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(s.Name)), func(db *foreign.DB) error {
		out = nil
		if err := checkTables(db); err != nil {
			return err
		}
		for r, err := range db.QueryRows("SELECT event_json, "+db.ColumnOr("transcript_events", "event_zstd", "NULL")+
			" FROM transcript_events WHERE session_id = ? ORDER BY seq", s.ID) {
			if err != nil {
				return err
			}
			raw := []byte(r.Text("event_json"))
			if r.IsNull("event_json") {
				raw = unpack(r.Bytes("event_zstd"))
			}
			if json.Valid(raw) {
				out = append(out, sessionlog.Record{JSON: raw})
			}
		}
		if !db.HasTable("session_transcript_index_state", "session_id", "leaf_event_id") {
			return nil
		}
		for r, err := range db.QueryRows("SELECT leaf_event_id FROM session_transcript_index_state WHERE session_id = ?",
			s.ID) {
			if err != nil {
				return err
			}
			leaf = r.Text("leaf_event_id")
		}
		return nil
	})
	return out, leaf, err
}

// unpack returns what a packed row holds; nothing if it is damaged.
func unpack(packed []byte) []byte {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(transcript.MaxLine))
	if err != nil {
		return nil
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil
	}
	return raw
}
