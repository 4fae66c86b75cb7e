package sqldriver

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

const conversationColumns = `id, project, title, model, instructions, policy, limit_tokens, roots, settings,
	pinned_seqs, meta, parent, version, branch, messages, turn, created_at, updated_at, deleted_at, ancestors, purged_at, environment`

// conversation is a row of conversations with the column that nobody else sees.
type conversation struct {
	scrollback.Conversation
	turn scrollback.TurnID
}

func (c *conversation) scan(r sqlrow.Scanner) error {
	var roots, settings, pinned, meta, parent, ancestors, environment string
	err := r.Scan(&c.ID, &c.Project, &c.Title, &c.Model, &c.Instructions, &c.Policy, &c.Limit, &roots, &settings,
		&pinned, &meta, &parent, &c.Version, &c.Branch, &c.Messages, &c.turn, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt, &ancestors, &c.PurgedAt, &environment)
	if err != nil {
		return err
	}
	var col sqlrow.Columns
	col.Parse(roots, &c.Roots)
	col.Parse(settings, &c.Settings)
	col.Parse(pinned, &c.PinnedSeqs)
	col.Parse(meta, &c.Meta)
	col.Parse(parent, &c.Parent)
	col.Parse(ancestors, &c.Ancestors)
	col.Parse(environment, &c.Environment)
	return col.Err
}

// values are the columns of a conversation in order.
func (c *conversation) values() ([]any, error) {
	var col sqlrow.Columns
	v := []any{c.ID, c.Project, c.Title, c.Model, c.Instructions, c.Policy, c.Limit, col.JSON(c.Roots), col.JSON(c.Settings),
		col.JSON(c.PinnedSeqs), col.JSON(c.Meta), col.JSON(c.Parent), c.Version, c.Branch, c.Messages, c.turn,
		c.CreatedAt, c.UpdatedAt, c.DeletedAt, col.JSON(c.Ancestors), c.PurgedAt, col.JSON(c.Environment)}
	return v, col.Err
}

// Create implements [driver.Log].
func (db log) Create(ctx context.Context, c scrollback.Conversation, b scrollback.Branch) (scrollback.Conversation, bool, error) {
	const op = "sqldriver.Create"
	var stored conversation
	created := false
	err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		err := loadRow(ctx, tx, c.ID, &stored)
		if err == nil && stored.PurgedAt != 0 {
			err = scrollback.Errorf(scrollback.Conflict, op, "conversation %s was purged", c.ID)
		}
		if scrollback.CodeOf(err) != scrollback.NotFound {
			return err
		}
		if err := forks(ctx, tx, c, &b); err != nil {
			return err
		}
		stored, created = conversation{Conversation: c}, true
		stored.Branch, stored.Messages = b.ID, b.HeadSeq
		if err := stored.insert(ctx, tx); err != nil {
			return err
		}
		return insertBranch(ctx, tx, b)
	})
	if err != nil {
		return scrollback.Conversation{}, false, err
	}
	return stored.Conversation, created, nil
}

func (c *conversation) insert(ctx context.Context, tx *sqlrow.Session) error {
	v, err := c.values()
	if err != nil {
		return err
	}
	return tx.Run(ctx, `INSERT INTO conversations (`+conversationColumns+`) VALUES (`+sqlrow.Marks(22)+`)`, v...)
}

// Patch implements [driver.Log].
func (db log) Patch(ctx context.Context, id scrollback.ConversationID, now int64, edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	var c conversation
	var refusal error
	err := db.write(ctx, "sqldriver.Patch", func(ctx context.Context, tx *sqlrow.Session) error {
		if err := loadConversation(ctx, tx, id, &c); err != nil {
			return err
		}
		if refusal = c.edit(edit); refusal != nil {
			return refusal
		}
		return c.store(ctx, tx, now)
	})
	if refusal != nil {
		return scrollback.Conversation{}, refusal
	}
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return c.Conversation, nil
}

// edit lets an editor change the conversation and puts back what the log decides.
func (c *conversation) edit(edit func(*scrollback.Conversation) error) error {
	was := c.Conversation
	if was.Parent != nil {
		was.Parent = new(*was.Parent)
	}
	err := edit(&c.Conversation)
	c.ID, c.Branch, c.Messages, c.Version = was.ID, was.Branch, was.Messages, was.Version
	c.Parent, c.Ancestors, c.CreatedAt, c.PurgedAt = was.Parent, was.Ancestors, was.CreatedAt, was.PurgedAt
	return err
}

// store stores all that may ever change of a conversation, as a commit.
func (c *conversation) store(ctx context.Context, tx *sqlrow.Session, now int64) error {
	c.Version, c.UpdatedAt = c.Version+1, now
	v, err := c.values()
	if err != nil {
		return err
	}
	return tx.Run(ctx, `UPDATE conversations SET project = $2, title = $3, model = $4, instructions = $5, policy = $6,
		limit_tokens = $7, roots = $8, settings = $9, pinned_seqs = $10, meta = $11, parent = $12, version = $13,
		branch = $14, messages = $15, turn = $16, created_at = $17, updated_at = $18, deleted_at = $19, ancestors = $20,
		purged_at = $21, environment = $22 WHERE id = $1`, v...)
}

// touch stores what every commit changes of a conversation.
func (c *conversation) touch(ctx context.Context, tx *sqlrow.Session, now int64) error {
	c.Version, c.UpdatedAt = c.Version+1, now
	return tx.Run(ctx, `UPDATE conversations SET version = $2, messages = $3, turn = $4, updated_at = $5 WHERE id = $1`,
		c.ID, c.Version, c.Messages, c.turn, c.UpdatedAt)
}

// loadConversation reads a conversation that was not purged.
func loadConversation(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID, c *conversation) error {
	err := loadRow(ctx, s, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

// loadRow reads a conversation, purged or not.
func loadRow(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID, c *conversation) error {
	err := s.Row(ctx, c.scan, `SELECT `+conversationColumns+` FROM conversations WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return noConversation(id)
	}
	return err
}

func noConversation(id scrollback.ConversationID) error {
	return scrollback.Errorf(scrollback.NotFound, "sqldriver", "no conversation %s", id)
}

// loadHead reads a conversation and its current branch.
func loadHead(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID, c *conversation, b *scrollback.Branch) error {
	if err := loadConversation(ctx, s, id, c); err != nil {
		return err
	}
	return loadBranch(ctx, s, c.Branch, b)
}

// Head implements [driver.Reader].
func (db reader) Head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	var c conversation
	var b scrollback.Branch
	// Two reads: should a write fall between them, the branch is the newer one.
	if err := loadHead(ctx, db.Read, id, &c, &b); err != nil {
		return driver.Head{}, db.wrap("sqldriver.Head", err)
	}
	c.Messages = b.HeadSeq
	return driver.Head{Conversation: c.Conversation, Branch: b}, nil
}

// Conversations implements [driver.Reader].
func (db reader) Conversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	var out []scrollback.Conversation
	add := func(r sqlrow.Scanner) error {
		var c conversation
		if err := c.scan(r); err != nil {
			return err
		}
		out = append(out, c.Conversation)
		return nil
	}
	if q.Prefix != "" {
		err := db.Read.Rows(ctx, add, `SELECT `+conversationColumns+` FROM conversations
			WHERE id >= $1 AND id < $2 AND purged_at = 0 ORDER BY id LIMIT $3`, q.Prefix, q.Prefix+"\U0010FFFF", q.Limit)
		return out, db.wrap("sqldriver.Conversations", err)
	}
	before := driver.ListKey{At: 1 << 62}
	if q.Before != nil {
		before = *q.Before
	}
	args := []any{before.At, before.ID, like(q.Title), q.Limit}
	// Which list it is stands in the statement's text, so that each has an index.
	which := `deleted_at = 0`
	if q.Trash {
		which = `deleted_at <> 0`
	}
	if q.Project != "" {
		which, args = which+` AND project = $5`, append(args, q.Project)
	}
	err := db.Read.Rows(ctx, add, `SELECT `+conversationColumns+` FROM conversations
		WHERE `+which+` AND purged_at = 0 AND (updated_at, id) < ($1, $2) AND ($3 = '' OR lower(title) LIKE $3 ESCAPE '!')
		ORDER BY updated_at DESC, id DESC LIMIT $4`, args...)
	return out, db.wrap("sqldriver.Conversations", err)
}

// like is the pattern that matches texts holding s.
func like(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(s)) + "%"
}

// Projects implements [driver.Reader].
func (db reader) Projects(ctx context.Context) ([]scrollback.Project, error) {
	var out []scrollback.Project
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		var p scrollback.Project
		if err := r.Scan(&p.Name, &p.Conversations); err != nil {
			return err
		}
		out = append(out, p)
		return nil
	}, `SELECT project, count(*) FROM conversations WHERE deleted_at = 0 GROUP BY project ORDER BY project`)
	return out, db.wrap("sqldriver.Projects", err)
}

// heads makes what a conversation and its branches say of their ends agree with
// their messages.
func (r mending) heads(ctx context.Context, id scrollback.ConversationID) error {
	var c conversation
	if err := loadRow(ctx, r.tx, id, &c); err != nil {
		return err
	}
	branches, err := branchesOf(ctx, r.tx, id)
	if err != nil {
		return err
	}
	for i := range branches {
		if err := r.head(ctx, &branches[i]); err != nil {
			return err
		}
	}
	if c.PurgedAt != 0 || len(branches) == 0 {
		return nil
	}
	was := c
	if err := r.current(ctx, &c, branches); err != nil || was.Branch == c.Branch && was.Messages == c.Messages && was.turn == c.turn {
		return err
	}
	return c.store(ctx, r.tx, r.now)
}

// current finds the current one among a conversation's branches and what goes with it.
func (r mending) current(ctx context.Context, c *conversation, branches []scrollback.Branch) error {
	b := branches[0]
	for _, o := range branches {
		if o.ID == c.Branch || b.ID != c.Branch && o.UpdatedAt >= b.UpdatedAt {
			b = o
		}
	}
	err := error(nil)
	if c.turn != "" {
		err = loadTurn(ctx, r.tx, c.turn, new(scrollback.Turn))
	}
	if c.Branch != b.ID || scrollback.CodeOf(err) == scrollback.NotFound {
		c.turn, err = (&logWriter{tx: r.tx}).turnAt(ctx, b)
	}
	c.Branch, c.Messages = b.ID, b.HeadSeq
	return err
}

// conversation brings back a conversation, or empties what cannot be read of it.
func (r mending) conversation(ctx context.Context, m *driver.Recover) error {
	var c conversation
	err := loadRow(ctx, r.tx, m.Conversation, &c)
	if err == nil && c.metaValid() {
		return nil
	}
	lost := scrollback.CodeOf(err) == scrollback.NotFound
	if !lost {
		if err := r.readable(ctx, m.Conversation); err != nil {
			return err
		}
		if err := loadRow(ctx, r.tx, m.Conversation, &c); err != nil {
			return err
		}
	}
	branches, err := branchesOf(ctx, r.tx, m.Conversation)
	if err != nil {
		return err
	}
	if len(branches) == 0 {
		return noConversation(m.Conversation)
	}
	if lost {
		c = conversation{Conversation: m.As}
		c.ID, c.CreatedAt, c.UpdatedAt, c.Version = m.Conversation, r.now, r.now, 1
	}
	if err := r.ancestors(ctx, &c, branches); err != nil {
		return err
	}
	if err := r.current(ctx, &c, branches); err != nil {
		return err
	}
	if !lost {
		return c.store(ctx, r.tx, r.now)
	}
	return c.insert(ctx, r.tx)
}

// metaValid judges the one column that is handed on as it is.
func (c *conversation) metaValid() bool { return len(c.Meta) == 0 || json.Valid(c.Meta) }

// ancestors finds out what a conversation inherits, and when it began.
func (r mending) ancestors(ctx context.Context, c *conversation, branches []scrollback.Branch) error {
	for _, b := range branches {
		if first, err := r.beginning(ctx, b.ID); err == nil {
			c.CreatedAt = min(c.CreatedAt, first.at)
		}
		if b.Parent == "" || c.Parent != nil && len(c.Ancestors) > 0 {
			continue
		}
		var p scrollback.Branch
		err := loadBranch(ctx, r.tx, b.Parent, &p)
		if scrollback.CodeOf(err) == scrollback.NotFound || p.Conversation == c.ID {
			continue
		}
		var of conversation
		if err == nil {
			err = loadRow(ctx, r.tx, p.Conversation, &of)
		}
		if err != nil {
			return err
		}
		c.Parent = &scrollback.ParentRef{ID: of.ID, Branch: p.ID, Seq: b.AtSeq}
		c.Ancestors = append([]scrollback.ConversationID{of.ID}, of.Ancestors...)
	}
	return nil
}

// readable empties the columns of a conversation that cannot be read.
func (r mending) readable(ctx context.Context, id scrollback.ConversationID) error {
	var c scrollback.Conversation
	var meta any // a raw message would take anything
	for _, column := range []struct {
		name, empty string
		into        any
	}{{"roots", "[]", &c.Roots}, {"settings", "{}", &c.Settings}, {"pinned_seqs", "[]", &c.PinnedSeqs}, {"meta", "{}", &meta},
		{"parent", "", &c.Parent}, {"ancestors", "", &c.Ancestors}, {"environment", "", &c.Environment}} {
		var text string
		err := r.tx.Row(ctx, func(row sqlrow.Scanner) error { return row.Scan(&text) }, `SELECT `+column.name+` FROM conversations WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if sqlrow.Parse(text, column.into) == nil {
			continue
		}
		if err := r.tx.Run(ctx, `UPDATE conversations SET `+column.name+` = $2 WHERE id = $1`, id, column.empty); err != nil {
			return err
		}
	}
	return nil
}
