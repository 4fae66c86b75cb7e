package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// asJSON is a column that holds JSON; the zero of a pointer, slice or raw
// message is stored as an empty text.
func asJSON(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // payloads come back as they went in
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	if s := strings.TrimSuffix(b.String(), "\n"); s != "null" {
		return s, nil
	}
	return "", nil
}

// fromJSON reads such a column.
func fromJSON(s string, into any) error {
	if s == "" {
		return nil
	}
	if u, ok := into.(json.Unmarshaler); ok {
		return u.UnmarshalJSON([]byte(s)) // which checks the text itself: twice would cost a search a quarter of its time
	}
	return json.Unmarshal([]byte(s), into)
}

// columns collects several JSON columns and the first error among them.
type columns struct{ err error }

func (c *columns) json(v any) string {
	s, err := asJSON(v)
	if err != nil && c.err == nil {
		c.err = err
	}
	return s
}

func (c *columns) parse(s string, into any) {
	if err := fromJSON(s, into); err != nil && c.err == nil {
		c.err = fmt.Errorf("a stored column is damaged: %w", err)
	}
}

const conversationColumns = `id, project, title, model, instructions, policy, limit_tokens, roots, settings,
	pinned_seqs, meta, parent, version, branch, messages, turn, created_at, updated_at, deleted_at, ancestors, purged_at, environment`

// conversation is a row of conversations with the column that nobody else sees.
type conversation struct {
	scrollback.Conversation
	turn scrollback.TurnID
}

func (c *conversation) scan(r scanner) error {
	var roots, settings, pinned, meta, parent, ancestors, environment string
	err := r.Scan(&c.ID, &c.Project, &c.Title, &c.Model, &c.Instructions, &c.Policy, &c.Limit, &roots, &settings,
		&pinned, &meta, &parent, &c.Version, &c.Branch, &c.Messages, &c.turn, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt, &ancestors, &c.PurgedAt, &environment)
	if err != nil {
		return err
	}
	var col columns
	col.parse(roots, &c.Roots)
	col.parse(settings, &c.Settings)
	col.parse(pinned, &c.PinnedSeqs)
	col.parse(meta, &c.Meta)
	col.parse(parent, &c.Parent)
	col.parse(ancestors, &c.Ancestors)
	col.parse(environment, &c.Environment)
	return col.err
}

// values are the columns of a conversation in order.
func (c *conversation) values() ([]any, error) {
	var col columns
	v := []any{c.ID, c.Project, c.Title, c.Model, c.Instructions, c.Policy, c.Limit, col.json(c.Roots), col.json(c.Settings),
		col.json(c.PinnedSeqs), col.json(c.Meta), col.json(c.Parent), c.Version, c.Branch, c.Messages, c.turn,
		c.CreatedAt, c.UpdatedAt, c.DeletedAt, col.json(c.Ancestors), c.PurgedAt, col.json(c.Environment)}
	return v, col.err
}

const branchColumns = `id, conversation_id, parent_branch, at_seq, head_seq, sum_tokens, sum_bytes, sum_images, view, view_version, updated_at`

func scanBranch(b *scrollback.Branch) func(scanner) error {
	return func(r scanner) error {
		var view string
		if err := r.Scan(&b.ID, &b.Conversation, &b.Parent, &b.AtSeq, &b.HeadSeq,
			&b.Sum.Tokens, &b.Sum.Bytes, &b.Sum.Images, &view, &b.ViewVersion, &b.UpdatedAt); err != nil {
			return err
		}
		return fromJSON(view, &b.View)
	}
}

const messageColumns = `id, conversation_id, branch, seq, turn_id, role, name, parts, model, usage, tokens,
	own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images, status, created_at, meta`

func scanMessage(m *scrollback.Message) func(scanner) error {
	return func(r scanner) error {
		var parts, usage, meta string
		if err := r.Scan(&m.ID, &m.ConversationID, &m.Branch, &m.Seq, &m.TurnID, &m.Role, &m.Name, &parts, &m.Model, &usage, &m.Tokens,
			&m.Weight.Tokens, &m.Weight.Bytes, &m.Weight.Images, &m.Sum.Tokens, &m.Sum.Bytes, &m.Sum.Images,
			&m.Status, &m.CreatedAt, &meta); err != nil {
			return err
		}
		var col columns
		col.parse(parts, &m.Parts)
		col.parse(usage, &m.Usage)
		if meta != "" {
			m.Meta = json.RawMessage(meta)
		}
		return col.err
	}
}

func messageValues(m *scrollback.Message) ([]any, error) {
	var col columns
	v := []any{m.ID, m.ConversationID, m.Branch, m.Seq, m.TurnID, m.Role, m.Name, col.json(m.Parts), m.Model, col.json(m.Usage), m.Tokens,
		m.Weight.Tokens, m.Weight.Bytes, m.Weight.Images, m.Sum.Tokens, m.Sum.Bytes, m.Sum.Images,
		m.Status, m.CreatedAt, string(m.Meta)}
	return v, col.err
}

const turnColumns = `id, conversation_id, branch, seq, user_message, state, owner, lease_until, cancel, draft, open_calls,
	reply, finish_reason, failure, idem_key, idem_hash, window_mark, started_at, ended_at`

func scanTurn(t *scrollback.Turn) func(scanner) error {
	return func(r scanner) error {
		var draft, calls, failure, mark string
		if err := r.Scan(&t.ID, &t.Conversation, &t.Branch, &t.Seq, &t.UserMessage, &t.State, &t.Owner, &t.LeaseUntil, &t.Cancel,
			&draft, &calls, &t.Reply, &t.FinishReason, &failure, &t.Idempotency.Key, &t.Idempotency.Hash, &mark,
			&t.StartedAt, &t.EndedAt); err != nil {
			return err
		}
		var col columns
		col.parse(draft, &t.Draft)
		col.parse(calls, &t.OpenCalls)
		col.parse(failure, &t.Failure)
		col.parse(mark, &t.Window)
		return col.err
	}
}

func turnValues(t *scrollback.Turn) ([]any, error) {
	var col columns
	v := []any{t.ID, t.Conversation, t.Branch, t.Seq, t.UserMessage, t.State, t.Owner, t.LeaseUntil, t.Cancel,
		col.json(t.Draft), col.json(t.OpenCalls), t.Reply, t.FinishReason, col.json(t.Failure), t.Idempotency.Key, t.Idempotency.Hash,
		col.json(t.Window), t.StartedAt, t.EndedAt}
	return v, col.err
}

const segmentColumns = `id, conversation_id, branch, first_seq, last_seq, level, messages, children, hash, from_time, to_time,
	summary, summary_by, summary_of, prompt_version, placeholder, tokens_before, tokens_after, renderer, bytes, sha256, created_at`

func scanSegment(s *scrollback.Segment) func(scanner) error {
	return func(r scanner) error {
		var children string
		if err := r.Scan(&s.ID, &s.Conversation, &s.Branch, &s.FirstSeq, &s.LastSeq, &s.Level, &s.Messages, &children, &s.Hash,
			&s.From, &s.To, &s.Summary, &s.SummaryBy, &s.SummaryOf, &s.PromptVersion, &s.Placeholder,
			&s.TokensBefore, &s.TokensAfter, &s.Renderer, &s.Bytes, &s.SHA256, &s.CreatedAt); err != nil {
			return err
		}
		return fromJSON(children, &s.Children)
	}
}

func segmentValues(s *scrollback.Segment) ([]any, error) {
	var col columns
	v := []any{s.ID, s.Conversation, s.Branch, s.FirstSeq, s.LastSeq, s.Level, s.Messages, col.json(s.Children), s.Hash,
		s.From, s.To, s.Summary, s.SummaryBy, s.SummaryOf, s.PromptVersion, s.Placeholder,
		s.TokensBefore, s.TokensAfter, s.Renderer, s.Bytes, s.SHA256, s.CreatedAt}
	return v, col.err
}

// runner is what a session prepares statements on.
type runner interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// session runs statements, each prepared once.
type session struct {
	on    runner
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
	ahead []statement // to be run at the end of the batch
}

// statement is one to be run later.
type statement struct {
	query string
	args  []any
}

// later runs a statement at the end of the batch, before its commit, unless the
// job that asks for it fails. Full-text rows go this way: any savepoint among them
// would make the index write itself out piece by piece.
func (s *session) later(query string, args ...any) {
	s.ahead = append(s.ahead, statement{query, args})
}

// catchUp runs what was left for later.
func (s *session) catchUp(ctx context.Context) error {
	for _, st := range s.ahead {
		if err := s.run(ctx, st.query, st.args...); err != nil {
			return err
		}
	}
	return nil
}

func newSession(on runner) *session { return &session{on: on, stmts: map[string]*sql.Stmt{}} }

func (s *session) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

func (s *session) run(ctx context.Context, query string, args ...any) error {
	_, err := s.exec(ctx, query, args...)
	return err
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// rows calls scan for each row of a query.
func (s *session) rows(ctx context.Context, scan func(scanner) error, query string, args ...any) error {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// row scans the only row of a query; sql.ErrNoRows when there is none.
func (s *session) row(ctx context.Context, scan func(scanner) error, query string, args ...any) error {
	found := false
	err := s.rows(ctx, func(r scanner) error { found = true; return scan(r) }, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

func (s *session) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.stmts {
		if err := st.Close(); err != nil && !errors.Is(err, driver.ErrBadConn) {
			errs = append(errs, err)
		}
	}
	s.stmts = map[string]*sql.Stmt{}
	return errors.Join(errs...)
}

// scanner is a row being read.
type scanner interface{ Scan(dest ...any) error }
