package sqlrow

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// ConversationColumns are those of conversations.
const ConversationColumns = `id, project, title, model, instructions, policy, limit_tokens, roots, settings,
	pinned_seqs, meta, parent, version, branch, messages, turn, created_at, updated_at, deleted_at, ancestors, purged_at, environment, title_by,
	agent_of, agent_turn, agent_call`

// Conversation is a row of conversations with the column that nobody else sees.
type Conversation struct {
	scrollback.Conversation
	LastTurn scrollback.TurnID

	News driver.Changed // what this transaction does to it, besides what Was tells
	Was  Standing       // as it was read
}

// Standing is what a change of a conversation is judged by.
type Standing struct {
	Project             string
	DeletedAt, PurgedAt int64
}

// Tell completes the news of a conversation that is being stored, and begins others. Of one
// that nobody sees there are none, but for its purge.
func (c *Conversation) Tell() driver.Changed {
	news := c.News
	was := c.Was
	c.News = driver.Changed{}
	c.Was = Standing{c.Project, c.DeletedAt, c.PurgedAt}
	news.Conversation = c.ID
	news.Project = c.Project
	switch {
	case c.PurgedAt != 0 && was.PurgedAt != 0:
		return driver.Changed{}
	case c.PurgedAt != 0:
		news.Kinds = driver.KindTrashed | driver.KindPurged
	case c.DeletedAt != was.DeletedAt:
		news.Kinds |= driver.KindTrashed
	}
	if was.Project != "" && was.Project != c.Project {
		news.From = was.Project
	}
	return news
}

// Scan reads a row.
func (c *Conversation) Scan(r Scanner) error {
	*c = Conversation{}
	var roots, settings, pinned, meta, parent, ancestors, environment string
	var agent scrollback.AgentRef
	err := r.Scan(&c.ID, &c.Project, &c.Title, &c.Model, &c.Instructions, &c.Policy, &c.Limit, &roots, &settings,
		&pinned, &meta, &parent, &c.Version, &c.Branch, &c.Messages, &c.LastTurn, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt,
		&ancestors, &c.PurgedAt, &environment, &c.TitleBy,
		&agent.ID, &agent.TurnID, &agent.CallID)
	if err != nil {
		return err
	}
	var col Columns
	col.Parse(roots, &c.Roots)
	col.Parse(settings, &c.Settings)
	col.Parse(pinned, &c.PinnedSeqs)
	col.Parse(meta, &c.Meta)
	col.Parse(parent, &c.Parent)
	col.Parse(ancestors, &c.Ancestors)
	col.Parse(environment, &c.Environment)
	if c.AgentOf = nil; agent.ID != "" {
		c.AgentOf = &agent
	}
	c.Was = Standing{c.Project, c.DeletedAt, c.PurgedAt}
	return col.Err
}

// Values are the columns of a conversation in order.
func (c *Conversation) Values() ([]any, error) {
	var col Columns
	var agent scrollback.AgentRef
	if c.AgentOf != nil {
		agent = *c.AgentOf
	}
	v := []any{c.ID, c.Project, c.Title, c.Model, c.Instructions, c.Policy, c.Limit, col.JSON(c.Roots),
		col.JSON(c.Settings),
		col.JSON(c.PinnedSeqs), col.JSON(c.Meta), col.JSON(c.Parent), c.Version, c.Branch, c.Messages, c.LastTurn,
		c.CreatedAt, c.UpdatedAt, c.DeletedAt, col.JSON(c.Ancestors), c.PurgedAt, col.JSON(c.Environment), c.TitleBy,
		agent.ID, agent.TurnID, agent.CallID}
	return v, col.Err
}

// MetaValid judges the one column that is handed on as it is.
func (c *Conversation) MetaValid() bool { return len(c.Meta) == 0 || json.Valid(c.Meta) }

// BranchColumns are those of branches.
const BranchColumns = `id, conversation_id, parent_branch, at_seq, head_seq, sum_tokens, sum_bytes, sum_images, view, view_version, updated_at`

// ScanBranch reads a row.
func ScanBranch(b *scrollback.Branch) func(Scanner) error {
	return func(r Scanner) error {
		*b = scrollback.Branch{}
		var view string
		if err := r.Scan(&b.ID, &b.Conversation, &b.Parent, &b.AtSeq, &b.HeadSeq,
			&b.Sum.Tokens, &b.Sum.Bytes, &b.Sum.Images, &view, &b.ViewVersion, &b.UpdatedAt); err != nil {
			return err
		}
		return Parse(view, &b.View)
	}
}

// MessageColumns are those of messages.
const MessageColumns = `id, conversation_id, branch, seq, turn_id, role, name, parts, model, usage, tokens,
	own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images, status, created_at, meta`

// ScanMessage reads a row.
func ScanMessage(m *scrollback.Message) func(Scanner) error {
	return func(r Scanner) error {
		*m = scrollback.Message{}
		var parts, usage, meta string
		if err := r.Scan(&m.ID, &m.ConversationID, &m.Branch, &m.Seq, &m.TurnID, &m.Role, &m.Name, &parts, &m.Model, &usage,
			&m.Tokens,
			&m.Weight.Tokens, &m.Weight.Bytes, &m.Weight.Images, &m.Sum.Tokens, &m.Sum.Bytes, &m.Sum.Images,
			&m.Status, &m.CreatedAt, &meta); err != nil {
			return err
		}
		var col Columns
		col.Parse(parts, &m.Parts)
		col.Parse(usage, &m.Usage)
		if meta != "" {
			m.Meta = json.RawMessage(meta)
		}
		return col.Err
	}
}

// MessageValues are the columns of a row in order, with its JSON as [MessageJSON] makes it.
func MessageValues(m *scrollback.Message, parts, usage string) []any {
	return []any{m.ID, m.ConversationID, m.Branch, m.Seq, m.TurnID, m.Role, m.Name, parts, m.Model, usage, m.Tokens,
		m.Weight.Tokens, m.Weight.Bytes, m.Weight.Images, m.Sum.Tokens, m.Sum.Bytes, m.Sum.Images,
		m.Status, m.CreatedAt, string(m.Meta)}
}

// MessageJSON are the columns of a message that are JSON. They are made before the
// transaction: one goroutine writes, and many wait for it.
func MessageJSON(m *scrollback.Message) (parts, usage string, err error) {
	var col Columns
	parts = col.JSON(m.Parts)
	usage = col.JSON(m.Usage)
	return parts, usage, col.Err
}

// TurnColumns are those of turns.
const TurnColumns = `id, conversation_id, branch, seq, user_message, state, owner, lease_until, cancel, draft, open_calls,
	reply, finish_reason, failure, idem_key, idem_hash, window_mark, started_at, ended_at, last_seq, meta`

// ScanTurn reads a row.
func ScanTurn(t *scrollback.Turn) func(Scanner) error {
	return func(r Scanner) error {
		*t = scrollback.Turn{}
		var draft, calls, failure, mark, meta string
		if err := r.Scan(&t.ID, &t.Conversation, &t.Branch, &t.Seq, &t.UserMessage, &t.State, &t.Owner, &t.LeaseUntil,
			&t.Cancel,
			&draft, &calls, &t.Reply, &t.FinishReason, &failure, &t.Idempotency.Key, &t.Idempotency.Hash, &mark,
			&t.StartedAt, &t.EndedAt, &t.LastSeq, &meta); err != nil {
			return err
		}
		var col Columns
		col.Parse(draft, &t.Draft)
		col.Parse(calls, &t.OpenCalls)
		col.Parse(failure, &t.Failure)
		col.Parse(mark, &t.Window)
		col.Parse(meta, &t.Meta)
		return col.Err
	}
}

// TurnValues are the columns of a row in order.
func TurnValues(t *scrollback.Turn) ([]any, error) {
	var col Columns
	v := []any{t.ID, t.Conversation, t.Branch, t.Seq, t.UserMessage, t.State, t.Owner, t.LeaseUntil, t.Cancel,
		col.JSON(t.Draft), col.JSON(t.OpenCalls), t.Reply, t.FinishReason, col.JSON(t.Failure), t.Idempotency.Key,
		t.Idempotency.Hash,
		col.JSON(t.Window), t.StartedAt, t.EndedAt, t.LastSeq, col.JSON(t.Meta)}
	return v, col.Err
}

// SegmentColumns are those of segments.
const SegmentColumns = `id, conversation_id, branch, first_seq, last_seq, level, messages, children, hash, from_time, to_time,
	summary, summary_by, summary_of, prompt_version, placeholder, tokens_before, tokens_after, renderer, bytes, sha256, created_at`

// ScanSegment reads a row.
func ScanSegment(s *scrollback.Segment) func(Scanner) error {
	return func(r Scanner) error {
		var children string
		if err := r.Scan(&s.ID, &s.Conversation, &s.Branch, &s.FirstSeq, &s.LastSeq, &s.Level, &s.Messages, &children,
			&s.Hash,
			&s.From, &s.To, &s.Summary, &s.SummaryBy, &s.SummaryOf, &s.PromptVersion, &s.Placeholder,
			&s.TokensBefore, &s.TokensAfter, &s.Renderer, &s.Bytes, &s.SHA256, &s.CreatedAt); err != nil {
			return err
		}
		return Parse(children, &s.Children)
	}
}

// SegmentValues are the columns of a row in order.
func SegmentValues(s *scrollback.Segment) ([]any, error) {
	var col Columns
	v := []any{s.ID, s.Conversation, s.Branch, s.FirstSeq, s.LastSeq, s.Level, s.Messages, col.JSON(s.Children), s.Hash,
		s.From, s.To, s.Summary, s.SummaryBy, s.SummaryOf, s.PromptVersion, s.Placeholder,
		s.TokensBefore, s.TokensAfter, s.Renderer, s.Bytes, s.SHA256, s.CreatedAt}
	return v, col.Err
}

// ProjectColumns are those of projects.
const ProjectColumns = `name, title, version, created_at, updated_at, model, policy, limit_tokens, settings, budget, instructions`

// ScanProject reads a row.
func ScanProject(p *scrollback.Project) func(Scanner) error {
	return func(r Scanner) error {
		var settings, budget string
		if err := r.Scan(&p.Name, &p.Title, &p.Version, &p.CreatedAt, &p.UpdatedAt, &p.Model, &p.Policy, &p.Limit,
			&settings, &budget, &p.Instructions); err != nil {
			return err
		}
		var col Columns
		col.Parse(settings, &p.Settings)
		col.Parse(budget, &p.Budget)
		return col.Err
	}
}

// ProjectValues are the columns of a row in order.
func ProjectValues(p *scrollback.Project) ([]any, error) {
	var col Columns
	v := []any{p.Name, p.Title, p.Version, p.CreatedAt, p.UpdatedAt, p.Model, p.Policy, p.Limit, col.JSON(p.Settings),
		col.JSON(p.Budget), p.Instructions}
	return v, col.Err
}
