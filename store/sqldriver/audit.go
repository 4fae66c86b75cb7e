package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// auditPage bounds how many rows an audit brings into memory at once.
const auditPage = 256

// orphan finds rows that belong to nothing, each as what it is, what it lacks, and
// two columns that mend takes.
type orphan struct {
	query string
	mend  func(a, b string) *driver.Mend
}

var orphans = []orphan{
	{`SELECT 'messages of branch ' || d.branch, 'the branch is missing', d.branch, '' FROM (SELECT DISTINCT branch FROM messages) d
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = d.branch)`, recoverBranch},
	{`SELECT 'branch ' || b.id, 'conversation ' || b.conversation_id || ' is missing', b.conversation_id, '' FROM branches b
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = b.conversation_id)`, recoverConversation},
	{`SELECT 'conversation ' || c.id, 'its newest turn, ' || c.turn || ', is missing', c.id, '' FROM conversations c
		WHERE c.turn <> '' AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.turn)`, func(id, _ string) *driver.Mend {
		return &driver.Mend{Heads: scrollback.ConversationID(id)}
	}},
	{`SELECT 'turn ' || t.id, 'conversation ' || t.conversation_id || ' is missing', t.id, '' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation_id)`, sweepTurn},
	{`SELECT 'turn ' || t.id, 'branch ' || t.branch || ' is missing', t.id, '' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = t.branch)`, sweepTurn},
	{`SELECT 'segment ' || s.id, 'conversation ' || s.conversation_id || ' is missing', '', '' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = s.conversation_id)`, nil},
	{`SELECT 'segment ' || s.id, 'branch ' || s.branch || ' is missing', '', '' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = s.branch)`, nil},
	{`SELECT 'receipt ' || r.n, 'conversation ' || r.conversation_id || ' is missing', cast(r.n AS TEXT), '' FROM receipts r
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = r.conversation_id)`, func(n, _ string) *driver.Mend {
		return sweepStray(driver.Stray{Receipt: number(n)})
	}},
	{`SELECT 'mention of ' || m.artifact, 'conversation ' || m.conversation_id || ' is missing', m.conversation_id, m.artifact FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation_id)`, sweepMention},
	{`SELECT 'mention of ' || m.artifact, 'the artifact is missing', m.conversation_id, m.artifact FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.id = m.artifact)`, sweepMention},
}

func recoverBranch(id, _ string) *driver.Mend {
	return &driver.Mend{Recover: &driver.Recover{Branch: scrollback.BranchID(id)}}
}

func recoverConversation(id, _ string) *driver.Mend {
	return &driver.Mend{Recover: &driver.Recover{Conversation: scrollback.ConversationID(id)}}
}

func sweepStray(s driver.Stray) *driver.Mend { return &driver.Mend{Sweep: []driver.Stray{s}} }

func sweepTurn(id, _ string) *driver.Mend {
	return sweepStray(driver.Stray{Turn: scrollback.TurnID(id)})
}

func sweepMention(of, id string) *driver.Mend {
	return sweepStray(driver.Stray{Conversation: scrollback.ConversationID(of), Artifact: scrollback.ArtifactID(id)})
}

// number reads a number that the database wrote.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// auditor walks the rows inside one transaction.
type auditor struct {
	db *database
	tx *sqlrow.Session
	w  driver.AuditWalk
}

// walked carries an error of the walk past those of the database.
type walked struct{ error }

func (w walked) Unwrap() error { return w.error }

// Walk implements [driver.Audit].
func (db audit) Walk(ctx context.Context, w driver.AuditWalk) error {
	const op = "sqldriver.Audit"
	conn, err := db.Readers.Conn(ctx)
	if err != nil {
		return db.wrap(op, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, db.Dialect.Audit.Begin); err != nil {
		return db.wrap(op, err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	a := auditor{db: db.database, tx: sqlrow.NewSession(conn), w: w}
	err = a.all(ctx)
	if own := (walked{}); errors.As(err, &own) {
		return own.error
	}
	if err := errors.Join(err, a.tx.Close()); err != nil {
		return db.wrap(op, err)
	}
	if db.Unchanged == nil {
		return nil
	}
	return db.Unchanged()
}

func (a *auditor) all(ctx context.Context) error {
	d := a.db.Dialect.Audit
	var total int64
	err := a.rows(ctx, "messages", func(r sqlrow.Scanner) error { return r.Scan(&total) }, `SELECT count(*) FROM messages`)
	if err == nil {
		err = walk(a.w.Total(total))
	}
	if err == nil {
		err = a.rows(ctx, "the search index", func(sqlrow.Scanner) error { return nil }, d.Refresh)
	}
	if err == nil {
		err = a.rows(ctx, "the file", func(r sqlrow.Scanner) error {
			var text string
			if err := r.Scan(&text); err != nil || text == "ok" {
				return err
			}
			return a.flaw(driver.Flaw{Kind: driver.FlawDamage, Where: "the file", Detail: text, Whole: true})
		}, d.Check)
	}
	for _, o := range orphans {
		if err == nil {
			err = a.orphans(ctx, o)
		}
	}
	if err == nil {
		err = a.rows(ctx, "the search index", func(r sqlrow.Scanner) error {
			var n int64
			if err := r.Scan(&n); err != nil {
				return err
			}
			return a.flaw(driver.Flaw{Kind: driver.FlawIndex, Where: fmt.Sprint("index entry ", n), Detail: "it is of no message",
				Mend: sweepStray(driver.Stray{Entry: n})})
		}, d.Stray)
	}
	for _, step := range []func(context.Context) error{a.accounts, a.conversations, a.segments, a.artifacts, a.turns} {
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

func (a *auditor) flaw(f driver.Flaw) error { return walk(a.w.Flaw(f)) }

func (a *auditor) orphans(ctx context.Context, o orphan) error {
	return a.rows(ctx, "the rows", func(r sqlrow.Scanner) error {
		f := driver.Flaw{Kind: driver.FlawOrphan}
		var first, second string
		if err := r.Scan(&f.Where, &f.Detail, &first, &second); err != nil {
			return err
		}
		if o.mend != nil {
			f.Mend = o.mend(first, second)
		}
		return a.flaw(f)
	}, o.query)
}

// rows runs a query; damage that it meets is a flaw of where, and ends the query
// only.
func (a *auditor) rows(ctx context.Context, where string, scan func(sqlrow.Scanner) error, query string, args ...any) error {
	err := a.tx.Rows(ctx, scan, query, args...)
	if err != nil && !errors.As(err, new(walked)) && a.db.Dialect.Audit.Damaged(err) {
		return a.flaw(driver.Flaw{Kind: driver.FlawDamage, Where: where, Detail: err.Error()})
	}
	return err
}

// pages reads a table page by page: query takes where the last page ended and how
// many rows. A row that cannot be read is a flaw, and is passed over.
func pages[T any, K comparable](ctx context.Context, a *auditor, from K, p paged[T, K]) error {
	for {
		var page []T
		n, before := 0, from
		err := a.rows(ctx, p.what, func(r sqlrow.Scanner) error {
			var row T
			err := p.scan(&row, r)
			n++
			if key, ok := p.key(row); ok {
				from = key
			}
			if err != nil {
				f := driver.Flaw{Kind: driver.FlawDamage, Where: p.name(row), Detail: err.Error()}
				if p.mend != nil {
					f.Mend = p.mend(row)
				}
				if err := a.flaw(f); err != nil {
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
	scan   func(*T, sqlrow.Scanner) error
	key    func(T) (K, bool)
	name   func(T) string
	each   func(T) error
	mend   func(T) *driver.Mend // of a row that cannot be read; nil for nothing
	broken bool
}

func (a *auditor) conversations(ctx context.Context) error {
	return pages(ctx, a, "", paged[conversation, string]{what: "conversations",
		query: `SELECT ` + conversationColumns + ` FROM conversations WHERE id > $1 ORDER BY id LIMIT $2`,
		scan: func(c *conversation, r sqlrow.Scanner) error {
			err := c.scan(r)
			if err == nil && !c.metaValid() {
				err = errors.New("a stored column is damaged: meta is no JSON")
			}
			return err
		},
		key:  func(c conversation) (string, bool) { return string(c.ID), c.ID != "" },
		name: func(c conversation) string { return "conversation " + string(c.ID) },
		each: func(c conversation) error {
			if err := walk(a.w.Conversation(c.Conversation)); err != nil {
				return err
			}
			return a.branches(ctx, c.ID)
		},
		mend: func(c conversation) *driver.Mend { return recoverConversation(string(c.ID), "") }, broken: true})
}

func (a *auditor) branches(ctx context.Context, id scrollback.ConversationID) error {
	return pages(ctx, a, "", paged[scrollback.Branch, string]{what: "branches",
		query: `SELECT ` + sqlrow.BranchColumns + ` FROM branches WHERE conversation_id = $3 AND id > $1 ORDER BY id LIMIT $2`, args: []any{id},
		scan: func(b *scrollback.Branch, r sqlrow.Scanner) error { return sqlrow.ScanBranch(b)(r) },
		key:  func(b scrollback.Branch) (string, bool) { return string(b.ID), b.ID != "" },
		name: func(b scrollback.Branch) string { return "branch " + string(b.ID) },
		each: func(b scrollback.Branch) error {
			if err := walk(a.w.Branch(b)); err != nil {
				return err
			}
			return a.messages(ctx, b.ID)
		},
		mend: func(b scrollback.Branch) *driver.Mend { // only what comes last, the view, may be empty
			return &driver.Mend{View: &driver.MendView{Branch: b.ID, IfViewVersion: b.ViewVersion}}
		}, broken: true})
}

// auditedMessage is a message, and whether search has terms of it.
type auditedMessage struct {
	scrollback.Message
	indexed bool
}

func (a *auditor) messages(ctx context.Context, id scrollback.BranchID) error {
	return pages(ctx, a, 0, paged[auditedMessage, int64]{what: "messages of branch " + string(id),
		query: `SELECT ` + sqlrow.MessageColumns + `, ` + a.db.Dialect.Audit.Indexed + ` FROM messages
			WHERE branch = $3 AND seq > $1 ORDER BY seq LIMIT $2`, args: []any{id},
		scan: func(m *auditedMessage, r sqlrow.Scanner) error {
			return sqlrow.ScanMessage(&m.Message)(withLast{r, &m.indexed})
		},
		key:  func(m auditedMessage) (int64, bool) { return m.Seq, m.Seq > 0 },
		name: func(m auditedMessage) string { return fmt.Sprintf("message %s (#%d)", m.ID, m.Seq) },
		each: func(m auditedMessage) error { return walk(a.w.Message(m.Message, m.indexed)) }, broken: true})
}

// withLast scans one column more than it is asked for.
type withLast struct {
	sqlrow.Scanner
	last any
}

// Scan implements scanner.
func (w withLast) Scan(dest ...any) error { return w.Scanner.Scan(append(dest, w.last)...) }

func (a *auditor) segments(ctx context.Context) error {
	return pages(ctx, a, "", paged[scrollback.Segment, string]{what: "segments",
		query: `SELECT ` + sqlrow.SegmentColumns + ` FROM segments WHERE id > $1 ORDER BY id LIMIT $2`,
		scan:  func(s *scrollback.Segment, r sqlrow.Scanner) error { return sqlrow.ScanSegment(s)(r) },
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
		scan: func(t *auditedArtifact, r sqlrow.Scanner) error {
			return r.Scan(&t.ID, &t.MediaType, &t.Name, &t.Size, &t.CreatedAt, &t.mentions)
		},
		key:  func(t auditedArtifact) (string, bool) { return string(t.ID), t.ID != "" },
		name: func(t auditedArtifact) string { return "artifact " + string(t.ID) },
		each: func(t auditedArtifact) error { return walk(a.w.Artifact(t.Artifact, t.mentions)) }})
}

func (a *auditor) turns(ctx context.Context) error {
	return pages(ctx, a, "", paged[scrollback.Turn, string]{what: "turns",
		query: `SELECT ` + sqlrow.TurnColumns + ` FROM turns WHERE state = 'open' AND id > $1 ORDER BY id LIMIT $2`,
		scan:  func(t *scrollback.Turn, r sqlrow.Scanner) error { return sqlrow.ScanTurn(t)(r) },
		key:   func(t scrollback.Turn) (string, bool) { return string(t.ID), t.ID != "" },
		name:  func(t scrollback.Turn) string { return "turn " + string(t.ID) },
		each:  func(t scrollback.Turn) error { return walk(a.w.Turn(t)) }})
}

// Copy implements [driver.Audit].
func (db audit) Copy(ctx context.Context, path string) error {
	return db.wrap("sqldriver.Copy", db.database.Copy(ctx, path))
}

// mending is a repair on its way.
type mending struct {
	db  *database
	tx  *sqlrow.Session
	now int64
}

// Mend implements [driver.Audit].
func (db audit) Mend(ctx context.Context, m driver.Mend) error {
	return db.write(ctx, "sqldriver.Mend", func(ctx context.Context, tx *sqlrow.Session) error {
		r := mending{db.database, tx, m.Now}
		switch {
		case m.Heads != "":
			return r.heads(ctx, m.Heads)
		case m.View != nil:
			return r.view(ctx, *m.View)
		case m.Terms != nil:
			return r.terms(ctx, m.Terms)
		case m.Recover != nil && m.Recover.Branch != "":
			return r.branch(ctx, m.Recover.Branch)
		case m.Recover != nil:
			return r.conversation(ctx, m.Recover)
		case m.Sweep != nil:
			return r.sweep(ctx, m.Sweep)
		case m.Learned != "":
			return r.learned(ctx, m.Learned)
		case m.Usage != nil:
			return r.usage(ctx, *m.Usage)
		}
		return r.lease(ctx, m)
	})
}

// view replaces what a branch shows. The row is not read: the old view may be what
// cannot be.
func (r mending) view(ctx context.Context, v driver.MendView) error {
	view, err := sqlrow.JSON(v.View)
	if err != nil {
		return err
	}
	res, err := r.tx.Exec(ctx, `UPDATE branches SET view = $2, view_version = view_version + 1 WHERE id = $1 AND view_version = $3`,
		v.Branch, view, v.IfViewVersion)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return scrollback.Errorf(scrollback.Conflict, "sqldriver.Mend", "the view of branch %s changed meanwhile", v.Branch)
	}
	return r.tx.Run(ctx, `UPDATE conversations SET version = version + 1, updated_at = $2
		WHERE id = (SELECT conversation_id FROM branches WHERE id = $1)`, v.Branch, r.now)
}

// terms indexes messages that have no terms.
func (r mending) terms(ctx context.Context, all []driver.MessageTerms) error {
	for _, t := range all {
		var n int64
		var m scrollback.Message
		var indexed bool
		err := r.tx.Row(ctx, func(row sqlrow.Scanner) error { return row.Scan(&n, &m.ConversationID, &m.Role, &indexed) },
			`SELECT n, conversation_id, role, `+r.db.Dialect.Audit.Indexed+` FROM messages WHERE id = $1`, t.Message)
		if errors.Is(err, sql.ErrNoRows) || indexed {
			continue
		}
		if err != nil {
			return err
		}
		r.tx.Later(r.db.Dialect.RemoveTerms, fmt.Sprintf("[%d]", n)) // another of this batch may have brought them
		r.tx.Later(r.db.Dialect.InsertTerms, n, scopeTerms(m), t.Terms)
	}
	return nil
}

// sweep removes rows that belong to nothing.
func (r mending) sweep(ctx context.Context, all []driver.Stray) error {
	for _, s := range all {
		var err error
		switch {
		case s.Turn != "":
			err = r.tx.Run(ctx, `DELETE FROM turns WHERE id = $1 AND NOT (EXISTS (SELECT 1 FROM conversations c WHERE c.id = turns.conversation_id)
				AND EXISTS (SELECT 1 FROM branches b WHERE b.id = turns.branch))`, s.Turn)
		case s.Receipt != 0:
			err = r.tx.Run(ctx, `DELETE FROM receipts WHERE n = $1
				AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = receipts.conversation_id)`, s.Receipt)
		case s.Entry != 0:
			var used bool
			err = r.tx.Row(ctx, func(row sqlrow.Scanner) error { return row.Scan(&used) }, `SELECT EXISTS (SELECT 1 FROM messages WHERE n = $1)`, s.Entry)
			if err == nil && !used {
				r.tx.Later(r.db.Dialect.RemoveTerms, fmt.Sprintf("[%d]", s.Entry))
			}
		case s.Conversation != "":
			err = r.tx.Run(ctx, `DELETE FROM mentions WHERE conversation_id = $1 AND artifact = $2
				AND NOT (EXISTS (SELECT 1 FROM conversations c WHERE c.id = mentions.conversation_id)
				AND EXISTS (SELECT 1 FROM artifacts a WHERE a.id = mentions.artifact))`, s.Conversation, s.Artifact)
		default:
			err = r.tx.Run(ctx, `DELETE FROM artifacts WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.artifact = artifacts.id)`, s.Artifact)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lease closes a turn whose owner is gone.
func (r mending) lease(ctx context.Context, m driver.Mend) error {
	var t scrollback.Turn
	if err := loadTurn(ctx, r.tx, m.Lease, &t); err != nil || t.State != scrollback.TurnOpen {
		return err
	}
	if driver.Holds(t, r.now) {
		return scrollback.Errorf(scrollback.Conflict, "sqldriver.Mend", "turn %s holds its conversation", t.ID)
	}
	w, err := openLog(ctx, r.tx, r.db.Dialect, t.Conversation)
	if err != nil {
		return err
	}
	if w.c.turn != t.ID {
		t.State, t.EndedAt = scrollback.TurnInterrupted, r.now
		return storeTurn(ctx, r.tx, &t)
	}
	if _, err := w.settle(ctx, r.now, m.Salvage); err != nil {
		return err
	}
	return w.close(ctx, r.now)
}
