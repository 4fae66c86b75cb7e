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
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// conversationRow is a row of conversations, with what nobody else sees of it.
type conversationRow struct {
	scrollback.Conversation
	LastTurn scrollback.TurnID

	agent scrollback.AgentRef // what AgentOf points at, as columns

	news driver.Change // what this transaction does to it, besides what was tells
	was  standing      // as it was read

	changed          []stamp.Change // fields that edits have changed, until they have their stamps
	pinned, unpinned []int64        // by edits, the same
}

// standing is what a change of a conversation is judged by.
type standing struct {
	project             string
	deletedAt, purgedAt int64
}

var conversationTable = table[conversationRow]{
	columns: []column[conversationRow]{
		{"id", func(c *conversationRow) any { return &c.ID }},
		{"project", func(c *conversationRow) any { return &c.Project }},
		{"title", func(c *conversationRow) any { return &c.Title }},
		{"model", func(c *conversationRow) any { return &c.Model }},
		{"instructions", func(c *conversationRow) any { return &c.Instructions }},
		{"policy", func(c *conversationRow) any { return &c.Policy }},
		{"limit_tokens", func(c *conversationRow) any { return &c.Limit }},
		{"roots", func(c *conversationRow) any { return asJSON(&c.Roots) }},
		{"settings", func(c *conversationRow) any { return asJSON(&c.Settings) }},
		{"pinned_seqs", func(c *conversationRow) any { return asJSON(&c.PinnedSeqs) }},
		{"meta", func(c *conversationRow) any { return asJSON(&c.Meta) }},
		{"parent", func(c *conversationRow) any { return asJSON(&c.Parent) }},
		{"version", func(c *conversationRow) any { return &c.Version }},
		{"branch", func(c *conversationRow) any { return &c.Branch }},
		{"messages", func(c *conversationRow) any { return &c.Messages }},
		{"turn", func(c *conversationRow) any { return &c.LastTurn }},
		{"created_at", func(c *conversationRow) any { return &c.CreatedAt }},
		{"updated_at", func(c *conversationRow) any { return &c.UpdatedAt }},
		{"deleted_at", func(c *conversationRow) any { return &c.DeletedAt }},
		{"ancestors", func(c *conversationRow) any { return asJSON(&c.Ancestors) }},
		{"purged_at", func(c *conversationRow) any { return &c.PurgedAt }},
		{"environment", func(c *conversationRow) any { return asJSON(&c.Environment) }},
		{"title_by", func(c *conversationRow) any { return &c.TitleBy }},
		{"agent_of", func(c *conversationRow) any { return &c.agent.ID }},
		{"agent_turn", func(c *conversationRow) any { return &c.agent.TurnID }},
		{"agent_call", func(c *conversationRow) any { return &c.agent.CallID }},
	},
	split: func(c *conversationRow) {
		c.agent = scrollback.AgentRef{}
		if c.AgentOf != nil {
			c.agent = *c.AgentOf
		}
	},
	join: func(c *conversationRow) {
		c.AgentOf = nil
		if c.agent.ID != "" {
			c.AgentOf = &scrollback.AgentRef{ID: c.agent.ID, TurnID: c.agent.TurnID, CallID: c.agent.CallID}
		}
		c.was = standing{c.Project, c.DeletedAt, c.PurgedAt}
	},
}

// Columns of conversations that change together.
var (
	conversationTouch     = conversationTable.subset("id", "version", "messages", "turn", "updated_at")
	conversationTitleBy   = conversationTable.subset("id", "title_by")
	conversationAncestors = conversationTable.subset("id", "ancestors")
)

// ConversationColumns are those of conversations.
var ConversationColumns = conversationTable.columnList()

var selectConversation = `SELECT ` + ConversationColumns + ` FROM conversations WHERE id = $1`

var selectHead = `SELECT ` + ColumnsOf("c", ConversationColumns) + `, ` + ColumnsOf("b", BranchColumns) + `
	FROM conversations c LEFT JOIN branches b ON b.id = c.branch WHERE c.id = $1`

// hasValidMeta reports whether the one column that is handed on as it stands is JSON.
func (c *conversationRow) hasValidMeta() bool { return len(c.Meta) == 0 || json.Valid(c.Meta) }

// takeNews completes the news of a conversation that is being stored, and begins others. Of one
// that nobody sees there are none, but for its purge.
func (c *conversationRow) takeNews() driver.Change {
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
func (db *database) findConversation(ctx context.Context, id scrollback.ConversationID, c *conversationRow) error {
	return missingConversation(id, QueryRow(ctx, db.Readers, scanConversation(c), selectConversation, id))
}

// findKnownConversation reads a conversation that was not purged.
func (db *database) findKnownConversation(ctx context.Context, id scrollback.ConversationID, c *conversationRow) error {
	err := db.findConversation(ctx, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

// holdConversation reads a conversation, purged or not, which stays as it is until the transaction
// ends.
func (w *writeTx) holdConversation(ctx context.Context, id scrollback.ConversationID, c *conversationRow) error {
	err := w.tx.Cache().ofConversations().read(ctx, w.tx, id, scanConversation(c), w.Dialect.HoldConversation)
	return missingConversation(id, err)
}

// holdKnownConversation reads a conversation that was not purged, and holds it.
func (w *writeTx) holdKnownConversation(ctx context.Context, id scrollback.ConversationID, c *conversationRow) error {
	err := w.holdConversation(ctx, id, c)
	if err == nil && c.PurgedAt != 0 {
		err = noConversation(id)
	}
	return err
}

func scanConversation(c *conversationRow) func(Row) error {
	return func(r Row) error {
		*c = conversationRow{}
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

func (w *writeTx) insertConversation(ctx context.Context, c *conversationRow) error {
	values, err := conversationTable.values(c)
	if err != nil {
		return err
	}
	err = w.tx.Cache().ofConversations().store(ctx, w.tx, c.ID, values,
		`INSERT INTO conversations `+conversationTable.insertClause(), values...)
	if err != nil || c.PurgedAt != 0 {
		w.noteWritten(c.ID)
		return err
	}
	return w.recordChange(ctx, driver.Change{Conversation: c.ID, Project: c.Project, Kinds: driver.KindEdited})
}

// storeConversation stores all that may ever change of a conversation, as a commit.
func (w *writeTx) storeConversation(ctx context.Context, c *conversationRow, now int64) error {
	if err := w.stampConversation(ctx, c, now); err != nil {
		return err
	}
	c.Version += 1
	c.UpdatedAt = now
	values, err := conversationTable.values(c)
	if err != nil {
		return err
	}
	err = w.tx.Cache().ofConversations().store(ctx, w.tx, c.ID, values,
		`UPDATE conversations SET `+conversationTable.setClause()+` WHERE id = $1`, values...)
	if err != nil {
		return err
	}
	w.noteWritten(c.ID)
	c.news.Kinds |= driver.KindEdited
	return w.recordChange(ctx, c.takeNews())
}

// touchConversation stores what every commit changes of a conversation.
func (w *writeTx) touchConversation(ctx context.Context, c *conversationRow, now int64) error {
	c.Version += 1
	c.UpdatedAt = now
	if err := w.changeConversation(ctx, c, conversationTouch); err != nil {
		return err
	}
	return w.recordChange(ctx, c.takeNews())
}

// changeConversation stores some columns of a conversation.
func (w *writeTx) changeConversation(ctx context.Context, c *conversationRow, columns table[conversationRow]) error {
	values, err := columns.values(c)
	if err != nil {
		return err
	}
	w.noteWritten(c.ID)
	return w.tx.Cache().ofConversations().change(ctx, w.tx, c.ID, conversationTable.columnIndexes(columns), values,
		`UPDATE conversations SET `+columns.setClause()+` WHERE id = $1`, values...)
}

func (w *writeTx) deleteConversation(ctx context.Context, id scrollback.ConversationID) error {
	w.tx.Cache().ofConversations().forget(id)
	w.noteWritten(id)
	return w.tx.Queue(ctx, `DELETE FROM conversations WHERE id = $1`, id)
}

// editConversation lets an editor change the conversation and puts back what the log decides.
func editConversation(c *conversationRow, edit func(*scrollback.Conversation) error) error {
	was := c.Conversation
	if was.Parent != nil {
		was.Parent = new(*was.Parent)
	}
	if was.AgentOf != nil {
		was.AgentOf = new(*was.AgentOf)
	}
	before, encoded := takeSnapshot(c)
	pinned := slices.Clone(c.PinnedSeqs)
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
	if err != nil || encoded != nil {
		return cmp.Or(err, encoded)
	}
	return c.noteChanges(before, pinned)
}

// CreateConversation implements [driver.Log].
func (db log) CreateConversation(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	const op = "sqlstore.CreateConversation"
	var stored conversationRow
	created := false
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		stored = conversationRow{}
		created = false
		err := w.holdConversation(ctx, c.ID, &stored)
		if err == nil && stored.PurgedAt != 0 {
			err = scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationWasPurged, c.ID)
		}
		if scrollback.CodeOf(err) != scrollback.NotFound {
			return err
		}
		if err := w.checkNoStone(ctx, op, c.ID); err != nil {
			return err
		}
		if err := w.completeFork(ctx, c, &b); err != nil {
			return err
		}
		stored = conversationRow{Conversation: c}
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
	var c conversationRow
	var refusal error
	err := db.write(ctx, "sqlstore.PatchConversation", func(ctx context.Context, w *writeTx) error {
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
	err = db.write(ctx, "sqlstore.ChangeTitle", func(ctx context.Context, w *writeTx) error {
		moved = false
		var c conversationRow
		if err := w.holdKnownConversation(ctx, e.Conversation, &c); err != nil {
			return err
		}
		if err := w.enterUsage(ctx, c.Project, e.Usage, lesson{}); err != nil {
			return err
		}
		if moved = c.DeletedAt == 0 && c.TitleBy == e.From; !moved {
			return nil
		}
		if e.Title == "" {
			c.TitleBy = e.To
			return w.changeConversation(ctx, &c, conversationTitleBy)
		}
		if err := editConversation(&c, func(c *scrollback.Conversation) error {
			c.TitleBy = e.To
			c.Title = e.Title
			return nil
		}); err != nil {
			return err
		}
		return w.storeConversation(ctx, &c, e.Now)
	})
	return moved && err == nil, err
}

// ReadHead implements [driver.Log].
func (db log) ReadHead(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	var a appender
	err := db.Readers.Query(ctx, scanPair(conversationTable, &a.c, branchTable, &a.b), selectHead, id)
	if err := a.missingHead(id, err); err != nil {
		return driver.Head{}, db.wrapError("sqlstore.ReadHead", err)
	}
	a.c.Messages = a.b.HeadSeq
	return a.head(), nil
}

// The lists of conversations. Each has its own statement, so that each can use its index.
const (
	listLive   = `deleted_at = 0 AND agent_of = ''`
	listTrash  = `deleted_at <> 0`
	listPinned = ` AND settings LIKE '{"pinned":true%'` // the first field, as it is stored

	// page is what a list has of them: those before a place, by their titles.
	page = ` AND purged_at = 0 AND (updated_at, id) < ($1, $2) AND ($3 = '' OR lower(title) LIKE $3 ESCAPE '!')
		ORDER BY updated_at DESC, id DESC LIMIT $4`
)

// ListConversations implements [driver.Log].
func (db log) ListConversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	const op = "sqlstore.ListConversations"
	var out []scrollback.Conversation
	add := conversationTable.scanEach(func(c conversationRow) error { out = append(out, c.Conversation); return nil })
	selected := `SELECT ` + ConversationColumns + ` FROM conversations WHERE `
	if q.Prefix != "" {
		in, args := inProjects(q.Projects, []any{q.Prefix, q.Prefix + "\U0010FFFF", q.Limit})
		err := db.Readers.Query(ctx, add,
			selected+`id >= $1 AND id < $2 AND purged_at = 0`+in+` ORDER BY id LIMIT $3`, args...)
		return out, db.wrapError(op, err)
	}
	before := driver.ListKey{At: 1 << 62}
	if q.Before != nil {
		before = *q.Before
	}
	args := []any{before.At, before.ID, likePattern(q.Title), q.Limit}
	which := listLive
	switch {
	case q.Trash:
		which = listTrash
	case q.AgentOf != nil:
		which = `deleted_at = 0`
	}
	if q.Pinned {
		which += listPinned
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
		return nil, db.wrapError(op, err)
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
		names[i] = parameter(len(args))
	}
	return ` AND project IN (` + strings.Join(names, ", ") + `)`, args
}

// likePattern returns the pattern that matches texts holding s.
func likePattern(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(s)) + "%"
}
