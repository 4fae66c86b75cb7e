package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// auditPage bounds how many rows an audit brings into memory at once.
const auditPage = 256

// auditDialect is what one database does its own way when everything is checked.
type auditDialect struct {
	// begin starts a transaction in which all reads see one picture.
	begin string
	// check answers a row of text for each damage of the file, or "ok".
	check string
	// indexed is a condition on a row of messages: search has terms of it.
	indexed string
	// stray finds numbers that search has terms of and that are no message.
	stray string
	// damaged says that an error is of bytes that cannot be read.
	damaged func(error) bool
}

// orphans find rows that belong to nothing, each as what it is and what it lacks.
var orphans = []string{
	`SELECT 'messages of branch ' || d.branch, 'the branch is missing' FROM (SELECT DISTINCT branch FROM messages) d
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = d.branch)`,
	`SELECT 'branch ' || b.id, 'conversation ' || b.conversation_id || ' is missing' FROM branches b
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = b.conversation_id)`,
	`SELECT 'turn ' || t.id, 'conversation ' || t.conversation_id || ' is missing' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation_id)`,
	`SELECT 'turn ' || t.id, 'branch ' || t.branch || ' is missing' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = t.branch)`,
	`SELECT 'segment ' || s.id, 'conversation ' || s.conversation_id || ' is missing' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = s.conversation_id)`,
	`SELECT 'segment ' || s.id, 'branch ' || s.branch || ' is missing' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = s.branch)`,
	`SELECT 'receipt ' || r.n, 'conversation ' || r.conversation_id || ' is missing' FROM receipts r
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = r.conversation_id)`,
	`SELECT 'mention of ' || m.artifact, 'conversation ' || m.conversation_id || ' is missing' FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation_id)`,
	`SELECT 'mention of ' || m.artifact, 'the artifact is missing' FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.id = m.artifact)`,
}

// auditor walks the rows inside one transaction.
type auditor struct {
	db *DB
	tx *session
	w  driver.AuditWalk
}

// walked carries an error of the walk past those of the database.
type walked struct{ error }

func (w walked) Unwrap() error { return w.error }

// Audit implements driver.Audit.
func (db *DB) Audit(ctx context.Context, w driver.AuditWalk) error {
	const op = "sqldriver.Audit"
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return db.wrap(op, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, db.dialect.audit.begin); err != nil {
		return db.wrap(op, err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	a := auditor{db: db, tx: newSession(conn), w: w}
	err = a.all(ctx)
	if own := (walked{}); errors.As(err, &own) {
		return own.error
	}
	if err := errors.Join(err, a.tx.close()); err != nil {
		return db.wrap(op, err)
	}
	return db.unchanged(op)
}

func (a *auditor) all(ctx context.Context) error {
	d := a.db.dialect.audit
	var total int64
	err := a.rows(ctx, "messages", func(r scanner) error { return r.Scan(&total) }, `SELECT count(*) FROM messages`)
	if err == nil {
		err = walk(a.w.Total(total))
	}
	if err == nil {
		err = a.texts(ctx, "the file", d.check, func(text, _ string) error {
			if text == "ok" {
				return nil
			}
			return a.flaw(driver.FlawDamage, "the file", text)
		})
	}
	for _, query := range orphans {
		if err == nil {
			err = a.texts(ctx, "the rows", query, func(where, detail string) error { return a.flaw(driver.FlawOrphan, where, detail) })
		}
	}
	if err == nil {
		err = a.texts(ctx, "the search index", d.stray, func(n, _ string) error {
			return a.flaw(driver.FlawIndex, "index entry "+n, "it is of no message")
		})
	}
	for _, step := range []func(context.Context) error{a.conversations, a.segments, a.artifacts, a.turns} {
		if err == nil {
			err = step(ctx)
		}
	}
	return err
}

// walk marks an error as the walk's own.
func walk(err error) error {
	if err == nil {
		return nil
	}
	return walked{err}
}

func (a *auditor) flaw(kind, where, detail string) error {
	return walk(a.w.Flaw(driver.Flaw{Kind: kind, Where: where, Detail: detail}))
}

// rows runs a query; damage that it meets is a flaw of where, and ends the query
// only.
func (a *auditor) rows(ctx context.Context, where string, scan func(scanner) error, query string, args ...any) error {
	err := a.tx.rows(ctx, scan, query, args...)
	if err != nil && !errors.As(err, new(walked)) && a.db.dialect.audit.damaged(err) {
		return a.flaw(driver.FlawDamage, where, err.Error())
	}
	return err
}

// texts runs a query of one column or two.
func (a *auditor) texts(ctx context.Context, where, query string, fn func(first, second string) error) error {
	return a.rows(ctx, where, func(r scanner) error {
		var first, second string
		if err := r.Scan(&first, &second); err != nil {
			if err := r.Scan(&first); err != nil {
				return err
			}
		}
		return fn(first, second)
	}, query)
}

// pages reads a table page by page: query takes where the last page ended and how
// many rows. A row that cannot be read is a flaw, and is passed over.
func pages[T any, K comparable](ctx context.Context, a *auditor, from K, p paged[T, K]) error {
	for {
		var page []T
		n, before := 0, from
		err := a.rows(ctx, p.what, func(r scanner) error {
			var row T
			err := p.scan(&row, r)
			n++
			if key, ok := p.key(row); ok {
				from = key
			}
			if err != nil {
				if err := a.flaw(driver.FlawDamage, p.name(row), err.Error()); err != nil {
					return err
				}
			}
			if err == nil || p.broken {
				page = append(page, row)
			}
			return nil
		}, p.query, append([]any{from, auditPage}, p.args...)...)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := p.each(row); err != nil {
				return err
			}
		}
		if n < auditPage || from == before { // keys that cannot be read lead nowhere
			return nil
		}
	}
}

// paged is a table and what is done with its rows. broken rows are handed on too:
// their keys count.
type paged[T any, K comparable] struct {
	what   string
	query  string
	args   []any
	scan   func(*T, scanner) error
	key    func(T) (K, bool)
	name   func(T) string
	each   func(T) error
	broken bool
}

func (a *auditor) conversations(ctx context.Context) error {
	return pages(ctx, a, "", paged[conversation, string]{what: "conversations",
		query: `SELECT ` + conversationColumns + ` FROM conversations WHERE id > $1 ORDER BY id LIMIT $2`,
		scan:  func(c *conversation, r scanner) error { return c.scan(r) },
		key:   func(c conversation) (string, bool) { return string(c.ID), c.ID != "" },
		name:  func(c conversation) string { return "conversation " + string(c.ID) },
		each: func(c conversation) error {
			if err := walk(a.w.Conversation(c.Conversation)); err != nil {
				return err
			}
			return a.branches(ctx, c.ID)
		}, broken: true})
}

func (a *auditor) branches(ctx context.Context, id scrollback.ConversationID) error {
	return pages(ctx, a, "", paged[scrollback.Branch, string]{what: "branches",
		query: `SELECT ` + branchColumns + ` FROM branches WHERE conversation_id = $3 AND id > $1 ORDER BY id LIMIT $2`, args: []any{id},
		scan: func(b *scrollback.Branch, r scanner) error { return scanBranch(b)(r) },
		key:  func(b scrollback.Branch) (string, bool) { return string(b.ID), b.ID != "" },
		name: func(b scrollback.Branch) string { return "branch " + string(b.ID) },
		each: func(b scrollback.Branch) error {
			if err := walk(a.w.Branch(b)); err != nil {
				return err
			}
			return a.messages(ctx, b.ID)
		}, broken: true})
}

// auditedMessage is a message, and whether search has terms of it.
type auditedMessage struct {
	scrollback.Message
	indexed bool
}

func (a *auditor) messages(ctx context.Context, id scrollback.BranchID) error {
	return pages(ctx, a, 0, paged[auditedMessage, int64]{what: "messages of branch " + string(id),
		query: `SELECT ` + messageColumns + `, ` + a.db.dialect.audit.indexed + ` FROM messages
			WHERE branch = $3 AND seq > $1 ORDER BY seq LIMIT $2`, args: []any{id},
		scan: func(m *auditedMessage, r scanner) error { return scanMessage(&m.Message)(withLast{r, &m.indexed}) },
		key:  func(m auditedMessage) (int64, bool) { return m.Seq, m.Seq > 0 },
		name: func(m auditedMessage) string { return fmt.Sprintf("message %s (#%d)", m.ID, m.Seq) },
		each: func(m auditedMessage) error { return walk(a.w.Message(m.Message, m.indexed)) }, broken: true})
}

// withLast scans one column more than it is asked for.
type withLast struct {
	scanner
	last any
}

// Scan implements scanner.
func (w withLast) Scan(dest ...any) error { return w.scanner.Scan(append(dest, w.last)...) }

func (a *auditor) segments(ctx context.Context) error {
	return pages(ctx, a, "", paged[scrollback.Segment, string]{what: "segments",
		query: `SELECT ` + segmentColumns + ` FROM segments WHERE id > $1 ORDER BY id LIMIT $2`,
		scan:  func(s *scrollback.Segment, r scanner) error { return scanSegment(s)(r) },
		key:   func(s scrollback.Segment) (string, bool) { return string(s.ID), s.ID != "" },
		name:  func(s scrollback.Segment) string { return "segment " + string(s.ID) },
		each:  func(s scrollback.Segment) error { return walk(a.w.Segment(s)) }})
}

// auditedArtifact is an artifact and by how many conversations it is mentioned.
type auditedArtifact struct {
	scrollback.Artifact
	mentions int64
}

func (a *auditor) artifacts(ctx context.Context) error {
	return pages(ctx, a, "", paged[auditedArtifact, string]{what: "artifacts",
		query: `SELECT id, media_type, name, size, created_at, (SELECT count(*) FROM mentions m WHERE m.artifact = artifacts.id)
			FROM artifacts WHERE id > $1 ORDER BY id LIMIT $2`,
		scan: func(t *auditedArtifact, r scanner) error {
			return r.Scan(&t.ID, &t.MediaType, &t.Name, &t.Size, &t.CreatedAt, &t.mentions)
		},
		key:  func(t auditedArtifact) (string, bool) { return string(t.ID), t.ID != "" },
		name: func(t auditedArtifact) string { return "artifact " + string(t.ID) },
		each: func(t auditedArtifact) error { return walk(a.w.Artifact(t.Artifact, t.mentions)) }})
}

func (a *auditor) turns(ctx context.Context) error {
	return pages(ctx, a, "", paged[scrollback.Turn, string]{what: "turns",
		query: `SELECT ` + turnColumns + ` FROM turns WHERE state = 'open' AND id > $1 ORDER BY id LIMIT $2`,
		scan:  func(t *scrollback.Turn, r scanner) error { return scanTurn(t)(r) },
		key:   func(t scrollback.Turn) (string, bool) { return string(t.ID), t.ID != "" },
		name:  func(t scrollback.Turn) string { return "turn " + string(t.ID) },
		each:  func(t scrollback.Turn) error { return walk(a.w.Turn(t)) }})
}

// sqliteAudit is SQLite's. Any error that is no passing state is taken for damage:
// a file that was written over gives many.
var sqliteAudit = auditDialect{
	begin:   "BEGIN",
	check:   `PRAGMA quick_check(100)`,
	indexed: `EXISTS (SELECT 1 FROM message_terms_docsize d WHERE d.id = messages.n)`,
	stray: `SELECT cast(d.id AS TEXT) FROM message_terms_docsize d
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = d.id) LIMIT 1000`,
	damaged: func(err error) bool {
		return !errors.Is(err, sql.ErrConnDone) && classifySQLite(err) == scrollback.Internal
	},
}
