package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Create implements [driver.Log].
func (db log) Create(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	const op = "sqldriver.Create"
	var stored sqlrow.Conversation
	created := false
	err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		stored = sqlrow.Conversation{}
		created = false
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
		stored = sqlrow.Conversation{Conversation: c}
		created = true
		stored.Branch = b.ID
		stored.Messages = b.HeadSeq
		if err := insertConversation(ctx, tx, &stored); err != nil {
			return err
		}
		return insertBranch(ctx, tx, b)
	})
	if err != nil {
		return scrollback.Conversation{}, false, err
	}
	return stored.Conversation, created, nil
}

func insertConversation(ctx context.Context, tx *sqlrow.Session, c *sqlrow.Conversation) error {
	v, err := c.Values()
	if err != nil {
		return err
	}
	if err := tx.Put(ctx, sqlrow.Conversations.At(v[0]), v,
		`INSERT INTO conversations (`+sqlrow.ConversationColumns+`) VALUES (`+sqlrow.Marks(26)+`)`, v...); err != nil ||
		c.PurgedAt != 0 {
		return err
	}
	return recordChange(ctx, tx, driver.Changed{Conversation: c.ID, Project: c.Project, Kinds: driver.KindEdited})
}

// Patch implements [driver.Log].
func (db log) Patch(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	var c sqlrow.Conversation
	var refusal error
	err := db.write(ctx, "sqldriver.Patch", func(ctx context.Context, tx *sqlrow.Session) error {
		refusal = nil
		if err := loadConversation(ctx, tx, id, &c); err != nil {
			return err
		}
		if refusal = editConversation(&c, edit); refusal != nil {
			return refusal
		}
		return storeConversation(ctx, tx, &c, now)
	})
	if refusal != nil {
		return scrollback.Conversation{}, refusal
	}
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return c.Conversation, nil
}

// editConversation lets an editor change the conversation and puts back what the log decides.
func editConversation(c *sqlrow.Conversation, edit func(*scrollback.Conversation) error) error {
	was := c.Conversation
	if was.Parent != nil {
		was.Parent = new(*was.Parent)
	}
	if was.AgentOf != nil {
		was.AgentOf = new(*was.AgentOf)
	}
	err := edit(&c.Conversation)
	c.ID = was.ID
	c.Branch = was.Branch
	c.Messages = was.Messages
	c.Version = was.Version
	c.Parent = was.Parent
	c.Ancestors = was.Ancestors
	c.CreatedAt = was.CreatedAt
	c.PurgedAt = was.PurgedAt
	c.AgentOf = was.AgentOf
	return err
}

// storeConversation stores all that may ever change of a conversation, as a commit.
func storeConversation(ctx context.Context, tx *sqlrow.Session, c *sqlrow.Conversation, now int64) error {
	c.Version += 1
	c.UpdatedAt = now
	v, err := c.Values()
	if err != nil {
		return err
	}
	err = tx.Put(
		ctx,
		sqlrow.Conversations.At(v[0]),
		v,
		`UPDATE conversations SET project = $2, title = $3, model = $4, instructions = $5, policy = $6,
		limit_tokens = $7, roots = $8, settings = $9, pinned_seqs = $10, meta = $11, parent = $12, version = $13,
		branch = $14, messages = $15, turn = $16, created_at = $17, updated_at = $18, deleted_at = $19, ancestors = $20,
		purged_at = $21, environment = $22, title_by = $23, agent_of = $24, agent_turn = $25, agent_call = $26 WHERE id = $1`,
		v...)
	if err != nil {
		return err
	}
	c.News.Kinds |= driver.KindEdited
	return recordChange(ctx, tx, c.Tell())
}

// touchConversation stores what every commit changes of a conversation.
func touchConversation(ctx context.Context, tx *sqlrow.Session, c *sqlrow.Conversation, now int64) error {
	c.Version += 1
	c.UpdatedAt = now
	change := sqlrow.Change{12: c.Version, 14: c.Messages, 15: c.LastTurn, 17: c.UpdatedAt}
	err := tx.Patch(ctx, sqlrow.Conversations.At(c.ID), change,
		`UPDATE conversations SET version = $2, messages = $3, turn = $4, updated_at = $5 WHERE id = $1`,
		c.ID, c.Version, c.Messages, c.LastTurn, c.UpdatedAt)
	if err != nil {
		return err
	}
	return recordChange(ctx, tx, c.Tell())
}

// loadConversation reads a conversation that was not purged.
func loadConversation(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID,
	c *sqlrow.Conversation) error {
	err := loadRow(ctx, s, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

// loadRow reads a conversation, purged or not.
func loadRow(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID, c *sqlrow.Conversation) error {
	err := s.Known(ctx, c.Scan, sqlrow.Conversations.At(id))
	if errors.Is(err, sql.ErrNoRows) {
		return noConversation(id)
	}
	return err
}

func noConversation(id scrollback.ConversationID) error {
	return scrollback.Errorf(scrollback.NotFound, "sqldriver", "no conversation %s", id)
}

// loadHead reads a conversation and its current branch.
func loadHead(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID, c *sqlrow.Conversation,
	b *scrollback.Branch) error {
	if err := loadConversation(ctx, s, id, c); err != nil {
		return err
	}
	return loadBranch(ctx, s, c.Branch, b)
}

// Head implements [driver.Reader].
func (db reader) Head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	var c sqlrow.Conversation
	var b scrollback.Branch
	// Two reads: if a write comes between them, the branch is the newer one.
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
		var c sqlrow.Conversation
		if err := c.Scan(r); err != nil {
			return err
		}
		out = append(out, c.Conversation)
		return nil
	}
	if q.Prefix != "" {
		which, args := sqlrow.Among(q.Projects, []any{q.Prefix, q.Prefix + "\U0010FFFF", q.Limit})
		err := db.Read.Rows(ctx, add, `SELECT `+sqlrow.ConversationColumns+` FROM conversations
			WHERE id >= $1 AND id < $2 AND purged_at = 0`+which+` ORDER BY id LIMIT $3`, args...)
		return out, db.wrap("sqldriver.Conversations", err)
	}
	before := driver.ListKey{At: 1 << 62}
	if q.Before != nil {
		before = *q.Before
	}
	// Which list it is goes into the statement's text, so that each can use its index; a
	// page of several projects, or of several conversations' sub-agents, is the newest of theirs.
	which := `deleted_at = 0`
	switch {
	case q.Trash:
		which = `deleted_at <> 0`
	case q.AgentOf == nil:
		which = `deleted_at = 0 AND agent_of = ''`
	}
	// their first field, as they are stored
	pins := map[bool]string{true: ` AND settings LIKE '{"pinned":true%'`}[q.Pinned]
	page := func(which string, of ...any) error {
		also := ""
		args := append([]any{before.At, before.ID, like(q.Title), q.Limit}, of...)
		if q.AgentOf != nil {
			also, args = sqlrow.Among(q.Projects, args)
		}
		return db.wrap(
			"sqldriver.Conversations",
			db.Read.Rows(ctx, add, `SELECT `+sqlrow.ConversationColumns+` FROM conversations
			WHERE `+which+pins+also+` AND purged_at = 0 AND (updated_at, id) < ($1, $2) AND ($3 = '' OR lower(title) LIKE $3 ESCAPE '!')
			ORDER BY updated_at DESC, id DESC LIMIT $4`, args...),
		)
	}
	var err error
	switch {
	case q.AgentOf != nil:
		err = eachOf(q.AgentOf, func(id scrollback.ConversationID) error {
			return page(which+` AND agent_of <> '' AND agent_of = $5`, id)
		})
	case q.Projects == nil:
		err = page(which)
	default:
		err = eachOf(q.Projects, func(project string) error { return page(which+` AND project = $5`, project) })
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b scrollback.Conversation) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return out[:min(len(out), q.Limit)], nil
}

// eachOf does something with each of some names, once.
func eachOf[T ~string](names []T, do func(T) error) error {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if err := do(name); err != nil {
			return err
		}
	}
	return nil
}

// like is the pattern that matches texts holding s.
func like(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(s)) + "%"
}
