// Package ledger keeps what hooks told to whom, in a small database of its own beside the store: a store that is locked
// does not stop it.
//
// Words it adds: asked (one run of a hook), told (a message that a session has been given), off (what a person has
// silenced), owed (a text that a session did not get yet, and gets with its next prompt).
//
// Invariants: prompts are not kept, only the terms that fitted; what is older than 90 days goes; of one event that is
// run twice within 10 s one run is answered; the text of a start is kept byte for byte.
//
// It may not know the store, agents or the environment.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // its driver

	"github.com/scrollback-ai/scrollback"
)

// FileName is the ledger's in the data folder.
const FileName = "hooks.db"

// How long what is kept.
const (
	Age    = 90 * 24 * time.Hour
	repeat = 10 * time.Second
)

// busyTimeout is how long a hook waits for another that writes, in ms.
const busyTimeout = 15

// version is that of the schema.
const version = 1

const schema = `
CREATE TABLE asked (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
	event TEXT NOT NULL, folder TEXT NOT NULL, ms REAL NOT NULL, notes INTEGER NOT NULL, why TEXT NOT NULL, terms TEXT NOT NULL);
CREATE INDEX asked_session ON asked (session, agent, at);
CREATE INDEX asked_at ON asked (at);
CREATE TABLE told (asked INTEGER NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, conversation TEXT NOT NULL,
	seq INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, agent, conversation, seq));
CREATE INDEX told_asked ON told (asked);
CREATE TABLE sessions (session TEXT NOT NULL, agent TEXT NOT NULL, at INTEGER NOT NULL, start TEXT NOT NULL DEFAULT '',
	owed TEXT NOT NULL DEFAULT '', compacted INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, agent));
CREATE TABLE claims (name TEXT PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE off (kind TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, name));
CREATE TABLE places (folder TEXT PRIMARY KEY, place TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX places_place ON places (place);
PRAGMA user_version = 1;`

// Ledger is an open ledger. It is safe for concurrent use, also by several programs.
type Ledger struct{ db *sql.DB }

// ErrNewer is why a ledger of a newer program is not used.
var ErrNewer = errors.New("hooks.db was made by a newer scrollback")

// Open opens the ledger of a data folder, and makes it if there is none. The folder must exist.
func Open(ctx context.Context, dir string) (*Ledger, error) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		_ = f.Close() // it is empty
	}
	return open(ctx, path)
}

// OpenExisting opens the ledger of a data folder; nil if there is none.
func OpenExisting(ctx context.Context, dir string) (*Ledger, error) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // documented
	}
	return open(ctx, path)
}

func open(ctx context.Context, path string) (*Ledger, error) {
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout), "journal_mode(WAL)", "synchronous(OFF)"},
		"_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	l := &Ledger{db}
	var v int
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	if err == nil && v == 0 {
		err = l.make(ctx)
	}
	if err == nil && v > version {
		err = ErrNewer
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// make makes the tables, unless another program does it at this moment.
func (l *Ledger) make(ctx context.Context) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		var v int
		err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
		if err != nil || v != 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, schema)
		return err
	})
}

func (l *Ledger) write(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback() // fn's error says more
		return err
	}
	return tx.Commit()
}

// Close closes the ledger.
func (l *Ledger) Close() error { return l.db.Close() }

// Key names an event of a session. ID is that of the prompt, or what tells this event from others of its kind.
type Key struct{ Agent, Session, Event, ID string }

// Memory is what is known of a session when it asks.
type Memory struct {
	Repeated bool // somebody else answers this event
	Off      bool // a person has silenced the agent or the folder
	Start    string
	Owed     string
	Told     map[Told]bool // since it was compacted last
	Since    int           // prompts since one was answered; -1 if none was
	Folders  []string      // where hooks were called in the same place before
	Projects []string      // that a person has silenced
}

// Told is a message that was given.
type Told struct {
	Conversation scrollback.ConversationID `json:"conversation"`
	Seq          int64                     `json:"seq"`
}

// Where says what an event is judged by beside its session. Place is the key of the place, Folder one of it as the
// agent names it.
type Where struct {
	Place, Folder string
	Silenced      [][2]string // kind and name that silence this event, if they are off
}

// Begin notes that an event is being answered, and returns what is known.
func (l *Ledger) Begin(ctx context.Context, k Key, w Where, now time.Time) (Memory, error) {
	m := Memory{Told: map[Told]bool{}, Since: -1}
	err := l.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `INSERT INTO claims (name, at) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE claims.at <= excluded.at - ?`,
			k.Agent+"\x00"+k.Session+"\x00"+k.Event+"\x00"+k.ID, now.UnixMilli(), repeat.Milliseconds())
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		m.Repeated = n == 0
		if err != nil || m.Repeated {
			return err
		}
		if w.Place != "" && w.Folder != "" {
			if _, err := tx.ExecContext(ctx, `INSERT INTO places (folder, place, at) VALUES (?, ?, ?)
				ON CONFLICT (folder) DO UPDATE SET place = excluded.place, at = excluded.at`,
				w.Folder, w.Place, now.UnixMilli()); err != nil {
				return err
			}
		}
		return l.read(ctx, tx, k, w, &m)
	})
	return m, err
}

// read fills in a memory.
func (l *Ledger) read(ctx context.Context, tx *sql.Tx, k Key, w Where, m *Memory) error {
	for _, s := range w.Silenced {
		n := 0
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM off WHERE kind = ? AND name = ?`, s[0], s[1]).Scan(&n); err != nil {
			return err
		}
		m.Off = m.Off || n > 0
	}
	var compacted int64
	err := tx.QueryRowContext(ctx, `SELECT start, owed, compacted FROM sessions WHERE session = ? AND agent = ?`, k.Session,
		k.Agent).Scan(&m.Start, &m.Owed, &compacted)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = each(ctx, tx, func(scan func(...any) error) error {
		var t Told
		err := scan(&t.Conversation, &t.Seq)
		m.Told[t] = true
		return err
	}, `SELECT conversation, seq FROM told WHERE session = ? AND agent = ? AND at > ?`, k.Session, k.Agent, compacted)
	if err == nil {
		err = each(ctx, tx, func(scan func(...any) error) error {
			var folder string
			err := scan(&folder)
			m.Folders = append(m.Folders, folder)
			return err
		}, `SELECT folder FROM places WHERE place = ? ORDER BY at DESC LIMIT 64`, w.Place)
	}
	if err == nil {
		err = each(ctx, tx, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			m.Projects = append(m.Projects, name)
			return err
		}, `SELECT name FROM off WHERE kind = ?`, OffProject)
	}
	if err != nil {
		return err
	}
	var last sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT max(id) FROM asked WHERE session = ? AND agent = ? AND event = ? AND notes > 0`,
		k.Session, k.Agent, k.Event).Scan(&last)
	if err != nil || !last.Valid {
		return err
	}
	return tx.QueryRowContext(ctx, `SELECT count(*) FROM asked WHERE session = ? AND agent = ? AND event = ? AND id > ?`,
		k.Session, k.Agent, k.Event, last.Int64).Scan(&m.Since)
}

// each calls fn for each row of a query.
func each(ctx context.Context, tx *sql.Tx, fn func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Entry is one run of a hook. Told are the messages that it gave, Terms those of the prompt that fitted.
type Entry struct {
	At      time.Time
	Agent   string
	Session string
	Event   string
	Folder  string
	Took    time.Duration
	Told    []Told
	Notes   int
	Why     string
	Terms   string

	Start     *string // what the session was told at its start, to be kept
	Owed      *string // what it is to be told with its next prompt
	Compacted bool    // it was compacted: what it was told is forgotten
}

// Note keeps a run of a hook.
func (l *Ledger) Note(ctx context.Context, e Entry) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		now := e.At.UnixMilli()
		done, err := tx.ExecContext(ctx, `INSERT INTO asked (at, agent, session, event, folder, ms, notes, why, terms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, now, e.Agent, e.Session, e.Event, e.Folder,
			float64(e.Took.Microseconds())/1000, e.Notes, e.Why, e.Terms)
		if err != nil {
			return err
		}
		id, err := done.LastInsertId()
		if err != nil {
			return err
		}
		for _, t := range e.Told {
			if _, err := tx.ExecContext(ctx, `INSERT INTO told (asked, agent, session, conversation, seq, at)
				VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET asked = excluded.asked, at = excluded.at`,
				id, e.Agent, e.Session, t.Conversation, t.Seq, now); err != nil {
				return err
			}
		}
		if e.Start == nil && e.Owed == nil && !e.Compacted {
			return nil
		}
		var compacted int64
		if e.Compacted {
			compacted = now - 1 // what is told in this answer counts
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO sessions (session, agent, at, start, owed, compacted)
			VALUES (?1, ?2, ?3, coalesce(?4, ''), coalesce(?5, ''), ?6) ON CONFLICT DO UPDATE SET at = excluded.at,
			start = coalesce(?4, start), owed = coalesce(?5, owed), compacted = max(compacted, ?6)`,
			e.Session, e.Agent, now, e.Start, e.Owed, compacted)
		return err
	})
}

// Forget removes what is older than [Age]. It is called by who is not waited for.
func (l *Ledger) Forget(ctx context.Context, now time.Time) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		old := now.Add(-Age).UnixMilli()
		for _, table := range []string{"asked", "told", "sessions", "places"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE at < ?`, old); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM claims WHERE at < ?`, now.Add(-time.Hour).UnixMilli())
		return err
	})
}

// Row is a run of a hook as it is listed.
type Row struct {
	At      int64   `json:"at"` // Unix ms
	Agent   string  `json:"agent"`
	Session string  `json:"session"`
	Event   string  `json:"event"`
	Folder  string  `json:"folder"`
	MS      float64 `json:"ms"`
	Notes   int     `json:"notes"`
	Told    []Told  `json:"told"`
	Why     string  `json:"why"`
	Terms   string  `json:"terms,omitempty"`
}

// List lists the newest runs, newest first.
func (l *Ledger) List(ctx context.Context, limit int) (out []Row, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		err := each(ctx, tx, func(scan func(...any) error) error {
			r := Row{Told: []Told{}}
			var id int64
			err := scan(&id, &r.At, &r.Agent, &r.Session, &r.Event, &r.Folder, &r.MS, &r.Notes, &r.Why, &r.Terms)
			r.Told = append(r.Told, Told{Seq: id})
			out = append(out, r)
			return err
		}, `SELECT id, at, agent, session, event, folder, ms, notes, why, terms FROM asked ORDER BY id DESC LIMIT ?`, limit)
		for i := range out {
			if err != nil {
				return err
			}
			id := out[i].Told[0].Seq
			out[i].Told = []Told{}
			err = each(ctx, tx, func(scan func(...any) error) error {
				var t Told
				err := scan(&t.Conversation, &t.Seq)
				out[i].Told = append(out[i].Told, t)
				return err
			}, `SELECT conversation, seq FROM told WHERE asked = ? ORDER BY conversation, seq`, id)
		}
		return err
	})
	return out, err
}

// Kinds of what a person silences.
const (
	OffFolder  = "folder" // the key of a place
	OffProject = "project"
	OffAgent   = "agent"
)

// SetOff silences something, or lets it speak again. It reports whether that changed anything.
func (l *Ledger) SetOff(ctx context.Context, kind, name string, off bool, now time.Time) (changed bool, err error) {
	query := `DELETE FROM off WHERE kind = ? AND name = ?`
	args := []any{kind, name}
	if off {
		query = `INSERT INTO off (kind, name, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
		args = append(args, now.UnixMilli())
	}
	err = l.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// Silenced is something that a person silenced.
type Silenced struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	At   int64  `json:"at"`
}

// ListOff lists what is silenced.
func (l *Ledger) ListOff(ctx context.Context) (out []Silenced, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(scan func(...any) error) error {
			var s Silenced
			err := scan(&s.Kind, &s.Name, &s.At)
			out = append(out, s)
			return err
		}, `SELECT kind, name, at FROM off ORDER BY kind, name`)
	})
	return out, err
}

// HookRuns sums up what an agent's hooks did.
type HookRuns struct {
	Asked    int     `json:"asked"`
	Spoke    int     `json:"spoke"`
	Last     int64   `json:"last_asked,omitempty"` // Unix ms; 0 for never
	MedianMS float64 `json:"median_ms"`
	Slow     int     `json:"slow"` // answers that came after their time
}

// Sum sums up the runs of an agent's hooks.
func (l *Ledger) Sum(ctx context.Context, agent string, late time.Duration) (s HookRuns, err error) {
	err = l.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(notes > 0), 0), coalesce(max(at), 0),
			coalesce(sum(ms > ?), 0) FROM asked WHERE agent = ?`, late.Milliseconds(), agent).Scan(&s.Asked, &s.Spoke, &s.Last, &s.Slow)
		if err != nil || s.Asked == 0 {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT ms FROM asked WHERE agent = ? ORDER BY ms LIMIT 1 OFFSET ?`, agent,
			s.Asked/2).Scan(&s.MedianMS)
	})
	return s, err
}
