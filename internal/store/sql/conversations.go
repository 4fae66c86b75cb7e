package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// conversation is a row of conversations, with what nobody else sees of it.
type conversation struct {
	scrollback.Conversation
	LastTurn scrollback.TurnID

	agent scrollback.AgentRef // what AgentOf points at, as columns

	news driver.Change // what this transaction does to it, besides what was tells
	was  standing      // as it was read
}

// standing is what a change of a conversation is judged by.
type standing struct {
	project             string
	deletedAt, purgedAt int64
}

var conversationTable = table[conversation]{
	columns: []column[conversation]{
		{"id", func(c *conversation) any { return &c.ID }},
		{"project", func(c *conversation) any { return &c.Project }},
		{"title", func(c *conversation) any { return &c.Title }},
		{"model", func(c *conversation) any { return &c.Model }},
		{"instructions", func(c *conversation) any { return &c.Instructions }},
		{"policy", func(c *conversation) any { return &c.Policy }},
		{"limit_tokens", func(c *conversation) any { return &c.Limit }},
		{"roots", func(c *conversation) any { return asJSON(&c.Roots) }},
		{"settings", func(c *conversation) any { return asJSON(&c.Settings) }},
		{"pinned_seqs", func(c *conversation) any { return asJSON(&c.PinnedSeqs) }},
		{"meta", func(c *conversation) any { return asJSON(&c.Meta) }},
		{"parent", func(c *conversation) any { return asJSON(&c.Parent) }},
		{"version", func(c *conversation) any { return &c.Version }},
		{"branch", func(c *conversation) any { return &c.Branch }},
		{"messages", func(c *conversation) any { return &c.Messages }},
		{"turn", func(c *conversation) any { return &c.LastTurn }},
		{"created_at", func(c *conversation) any { return &c.CreatedAt }},
		{"updated_at", func(c *conversation) any { return &c.UpdatedAt }},
		{"deleted_at", func(c *conversation) any { return &c.DeletedAt }},
		{"ancestors", func(c *conversation) any { return asJSON(&c.Ancestors) }},
		{"purged_at", func(c *conversation) any { return &c.PurgedAt }},
		{"environment", func(c *conversation) any { return asJSON(&c.Environment) }},
		{"title_by", func(c *conversation) any { return &c.TitleBy }},
		{"agent_of", func(c *conversation) any { return &c.agent.ID }},
		{"agent_turn", func(c *conversation) any { return &c.agent.TurnID }},
		{"agent_call", func(c *conversation) any { return &c.agent.CallID }},
	},
	split: func(c *conversation) {
		c.agent = scrollback.AgentRef{}
		if c.AgentOf != nil {
			c.agent = *c.AgentOf
		}
	},
	join: func(c *conversation) {
		c.AgentOf = nil
		if c.agent.ID != "" {
			c.AgentOf = &scrollback.AgentRef{ID: c.agent.ID, TurnID: c.agent.TurnID, CallID: c.agent.CallID}
		}
		c.was = standing{c.Project, c.DeletedAt, c.PurgedAt}
	},
}

// Columns of conversations that change together.
var (
	conversationTouch     = conversationTable.only("id", "version", "messages", "turn", "updated_at")
	conversationTitleBy   = conversationTable.only("id", "title_by")
	conversationAncestors = conversationTable.only("id", "ancestors")
)

// ConversationColumns are those of conversations.
var ConversationColumns = conversationTable.list()

var selectConversation = `SELECT ` + ConversationColumns + ` FROM conversations WHERE id = $1`

// hasValidMeta reports whether the one column that is handed on as it stands is JSON.
func (c *conversation) hasValidMeta() bool { return len(c.Meta) == 0 || json.Valid(c.Meta) }

// takeNews completes the news of a conversation that is being stored, and begins others. Of one
// that nobody sees there are none, but for its purge.
func (c *conversation) takeNews() driver.Change {
	news := c.news
	was := c.was
	c.news = driver.Change{}
	c.was = standing{c.Project, c.DeletedAt, c.PurgedAt}
	news.Conversation = c.ID
	news.Project = c.Project
	switch {
	case c.PurgedAt != 0 && was.purgedAt != 0:
		return driver.Change{}
	case c.PurgedAt != 0:
		news.Kinds = driver.KindTrashed | driver.KindPurged
	case c.DeletedAt != was.deletedAt:
		news.Kinds |= driver.KindTrashed
	}
	if was.project != "" && was.project != c.Project {
		news.From = was.project
	}
	return news
}

// findConversation reads a conversation, purged or not.
func (db *database) findConversation(ctx context.Context, id scrollback.ConversationID, c *conversation) error {
	return missingConversation(id, QueryRow(ctx, db.Readers, scanConversation(c), selectConversation, id))
}

// findKnownConversation reads a conversation that was not purged.
func (db *database) findKnownConversation(ctx context.Context, id scrollback.ConversationID, c *conversation) error {
	err := db.findConversation(ctx, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

// holdConversation reads a conversation, purged or not, which stays as it is until the transaction
// ends.
func (w *writing) holdConversation(ctx context.Context, id scrollback.ConversationID, c *conversation) error {
	err := w.tx.Kept().ofConversations().read(ctx, w.tx, id, scanConversation(c), w.Dialect.HoldConversation)
	return missingConversation(id, err)
}

// holdKnownConversation reads a conversation that was not purged, and holds it.
func (w *writing) holdKnownConversation(ctx context.Context, id scrollback.ConversationID, c *conversation) error {
	err := w.holdConversation(ctx, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

func scanConversation(c *conversation) func(Row) error {
	return func(r Row) error {
		*c = conversation{}
		return conversationTable.scan(c, r)
	}
}

func missingConversation(id scrollback.ConversationID, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return noConversation(id)
	}
	return err
}

func noConversation(id scrollback.ConversationID) error {
	return scrollback.Errorf(scrollback.NotFound, "sqlstore", i18n.NoConversation, id)
}

func (w *writing) insertConversation(ctx context.Context, c *conversation) error {
	values, err := conversationTable.values(c)
	if err != nil {
		return err
	}
	err = w.tx.Kept().ofConversations().store(ctx, w.tx, c.ID, values,
		`INSERT INTO conversations `+conversationTable.insertion(), values...)
	if err != nil || c.PurgedAt != 0 {
		return err
	}
	return w.recordChange(ctx, driver.Change{Conversation: c.ID, Project: c.Project, Kinds: driver.KindEdited})
}

// storeConversation stores all that may ever change of a conversation, as a commit.
func (w *writing) storeConversation(ctx context.Context, c *conversation, now int64) error {
	c.Version += 1
	c.UpdatedAt = now
	values, err := conversationTable.values(c)
	if err != nil {
		return err
	}
	err = w.tx.Kept().ofConversations().store(ctx, w.tx, c.ID, values,
		`UPDATE conversations SET `+conversationTable.assignments()+` WHERE id = $1`, values...)
	if err != nil {
		return err
	}
	c.news.Kinds |= driver.KindEdited
	return w.recordChange(ctx, c.takeNews())
}

// touchConversation stores what every commit changes of a conversation.
func (w *writing) touchConversation(ctx context.Context, c *conversation, now int64) error {
	c.Version += 1
	c.UpdatedAt = now
	if err := w.changeConversation(ctx, c, conversationTouch); err != nil {
		return err
	}
	return w.recordChange(ctx, c.takeNews())
}

// changeConversation stores some columns of a conversation.
func (w *writing) changeConversation(ctx context.Context, c *conversation, columns table[conversation]) error {
	values, err := columns.values(c)
	if err != nil {
		return err
	}
	return w.tx.Kept().ofConversations().change(ctx, w.tx, c.ID, conversationTable.places(columns), values,
		`UPDATE conversations SET `+columns.assignments()+` WHERE id = $1`, values...)
}

func (w *writing) deleteConversation(ctx context.Context, id scrollback.ConversationID) error {
	w.tx.Kept().ofConversations().forget(id)
	return w.tx.Run(ctx, `DELETE FROM conversations WHERE id = $1`, id)
}

// editConversation lets an editor change the conversation and puts back what the log decides.
func editConversation(c *conversation, edit func(*scrollback.Conversation) error) error {
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

// CreateConversation implements [driver.Log].
func (db log) CreateConversation(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	const op = "sqlstore.Create"
	var stored conversation
	created := false
	err := db.write(ctx, op, func(ctx context.Context, w *writing) error {
		stored = conversation{}
		created = false
		err := w.holdConversation(ctx, c.ID, &stored)
		if err == nil && stored.PurgedAt != 0 {
			err = scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationWasPurged, c.ID)
		}
		if scrollback.CodeOf(err) != scrollback.NotFound {
			return err
		}
		if err := w.completeFork(ctx, c, &b); err != nil {
			return err
		}
		stored = conversation{Conversation: c}
		created = true
		stored.Branch = b.ID
		stored.Messages = b.HeadSeq
		if err := w.insertConversation(ctx, &stored); err != nil {
			return err
		}
		return w.insertBranch(ctx, b)
	})
	if err != nil {
		return scrollback.Conversation{}, false, err
	}
	return stored.Conversation, created, nil
}

// PatchConversation implements [driver.Log].
func (db log) PatchConversation(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	var c conversation
	var refusal error
	err := db.write(ctx, "sqlstore.Patch", func(ctx context.Context, w *writing) error {
		refusal = nil
		if err := w.holdKnownConversation(ctx, id, &c); err != nil {
			return err
		}
		if refusal = editConversation(&c, edit); refusal != nil {
			return refusal
		}
		return w.storeConversation(ctx, &c, now)
	})
	if refusal != nil {
		return scrollback.Conversation{}, refusal
	}
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return c.Conversation, nil
}

// ChangeTitle implements [driver.Log].
func (db log) ChangeTitle(ctx context.Context, e driver.TitleChange) (moved bool, err error) {
	err = db.write(ctx, "sqlstore.Entitle", func(ctx context.Context, w *writing) error {
		moved = false
		var c conversation
		if err := w.holdKnownConversation(ctx, e.Conversation, &c); err != nil {
			return err
		}
		if err := w.enterUsage(ctx, c.Project, e.Usage, nil); err != nil {
			return err
		}
		if moved = c.DeletedAt == 0 && c.TitleBy == e.From; !moved {
			return nil
		}
		c.TitleBy = e.To
		if e.Title == "" {
			return w.changeConversation(ctx, &c, conversationTitleBy)
		}
		c.Title = e.Title
		return w.storeConversation(ctx, &c, e.Now)
	})
	return moved && err == nil, err
}

// ReadHead implements [driver.Log].
func (db log) ReadHead(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	var c conversation
	var b scrollback.Branch
	// Two reads: if a write comes between them, the branch is the newer one.
	err := db.findKnownConversation(ctx, id, &c)
	if err == nil {
		err = db.findBranch(ctx, c.Branch, &b)
	}
	if err != nil {
		return driver.Head{}, db.wrap("sqlstore.Head", err)
	}
	c.Messages = b.HeadSeq
	return driver.Head{Conversation: c.Conversation, Branch: b}, nil
}

// The lists of conversations. Each has its own statement, so that each can use its index.
const (
	listed = `deleted_at = 0 AND agent_of = ''`
	trash  = `deleted_at <> 0`
	pinned = ` AND settings LIKE '{"pinned":true%'` // the first field, as it is stored

	// page is what a list has of them: those before a place, by their titles.
	page = ` AND purged_at = 0 AND (updated_at, id) < ($1, $2) AND ($3 = '' OR lower(title) LIKE $3 ESCAPE '!')
		ORDER BY updated_at DESC, id DESC LIMIT $4`
)

// ListConversations implements [driver.Log].
func (db log) ListConversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	const op = "sqlstore.Conversations"
	var out []scrollback.Conversation
	add := conversationTable.rows(func(c conversation) error { out = append(out, c.Conversation); return nil })
	selected := `SELECT ` + ConversationColumns + ` FROM conversations WHERE `
	if q.Prefix != "" {
		in, args := inProjects(q.Projects, []any{q.Prefix, q.Prefix + "\U0010FFFF", q.Limit})
		err := db.Readers.Query(ctx, add,
			selected+`id >= $1 AND id < $2 AND purged_at = 0`+in+` ORDER BY id LIMIT $3`, args...)
		return out, db.wrap(op, err)
	}
	before := driver.ListKey{At: 1 << 62}
	if q.Before != nil {
		before = *q.Before
	}
	args := []any{before.At, before.ID, like(q.Title), q.Limit}
	which := listed
	switch {
	case q.Trash:
		which = trash
	case q.AgentOf != nil:
		which = `deleted_at = 0`
	}
	if q.Pinned {
		which += pinned
	}
	// A page of several projects, or of the sub-agents of several conversations, is the newest of theirs.
	var err error
	switch {
	case q.AgentOf != nil:
		err = eachOf(q.AgentOf, func(id scrollback.ConversationID) error {
			in, args := inProjects(q.Projects, append(slices.Clone(args), id))
			return db.Readers.Query(ctx, add, selected+which+` AND agent_of <> '' AND agent_of = $5`+in+page, args...)
		})
	case q.Projects == nil:
		err = db.Readers.Query(ctx, add, selected+which+page, args...)
	default:
		err = eachOf(q.Projects, func(project string) error {
			return db.Readers.Query(ctx, add, selected+which+` AND project = $5`+page, append(slices.Clone(args), project)...)
		})
	}
	if err != nil {
		return nil, db.wrap(op, err)
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

// inProjects is the condition that a conversation is of one of some projects, or empty for nil,
// and the arguments with theirs.
func inProjects(projects []string, args []any) (string, []any) {
	if projects == nil {
		return "", args
	}
	if len(projects) == 0 {
		return ` AND 1 = 0`, args
	}
	names := make([]string, len(projects))
	for i, p := range projects {
		args = append(args, p)
		names[i] = mark(len(args))
	}
	return ` AND project IN (` + strings.Join(names, ", ") + `)`, args
}

// like is the pattern that matches texts holding s.
func like(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(s)) + "%"
}
