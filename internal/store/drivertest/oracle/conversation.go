package oracle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// storedConversation is a conversation and what belongs to it alone. Lists are in the order
// things were written.
type storedConversation struct {
	scrollback.Conversation
	news     driver.Change           // what the write under way does to it, besides what was tells
	was      scrollback.Conversation // as it was told last
	turn     scrollback.TurnID       // the one that holds it, else the newest on the current path, or none
	turns    []scrollback.TurnID
	segments []scrollback.SegmentID
	receipts []*receiptRow
	mentions []mentionRow
	sources  map[string]driver.SourceVersion
	texts    map[string]string // that the steps of its turns name, by hash
}

// CreateConversation implements [driver.Log].
func (db log) CreateConversation(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	const op = "oracle.CreateConversation"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Conversation{}, false, err
	}
	if th := db.threads[c.ID]; th != nil {
		if th.PurgedAt != 0 {
			return scrollback.Conversation{}, false, scrollback.Errorf(scrollback.Conflict, op, "conversation %s was purged",
				c.ID)
		}
		return deepCopy(th.Conversation), false, nil
	}
	if err := db.checkNoStone(op, c.ID); err != nil {
		return scrollback.Conversation{}, false, err
	}
	of, err := db.leaveParent(op, &b)
	if err == nil && b.Parent != "" {
		err = db.checkFork(op, c, of)
	}
	if err != nil {
		return scrollback.Conversation{}, false, err
	}
	if db.branches[b.ID] != nil {
		return scrollback.Conversation{}, false, scrollback.Errorf(scrollback.Conflict, op, "branch %s exists", b.ID)
	}
	c.Branch = b.ID
	c.Messages = b.HeadSeq
	th := &storedConversation{Conversation: deepCopy(c), was: c}
	db.threads[c.ID] = th
	db.changes.addChange(driver.Change{Conversation: c.ID, Project: c.Project, Kinds: driver.KindEdited})
	db.branches[b.ID] = &branchRow{Branch: deepCopy(b), number: nextNumber(&db.branchNumbers)}
	return deepCopy(c), true, nil
}

// PatchConversation implements [driver.Log]. What the log itself decides stays as it is,
// whatever edit does to it.
func (db log) PatchConversation(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	const op = "oracle.PatchConversation"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Conversation{}, err
	}
	th, err := db.findConversation(op, id)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	if err := db.editConversation(th, now, edit); err != nil {
		return scrollback.Conversation{}, err
	}
	th.news.Kinds |= driver.KindEdited
	db.changes.touchConversation(th, now)
	return deepCopy(th.Conversation), nil
}

// keepLog puts back into an edited conversation what the log decides.
func keepLog(next *scrollback.Conversation, old scrollback.Conversation) {
	next.ID = old.ID
	next.Branch = old.Branch
	next.Messages = old.Messages
	next.Parent = old.Parent
	next.CreatedAt = old.CreatedAt
	next.Version = old.Version
	next.Ancestors = old.Ancestors
	next.PurgedAt = old.PurgedAt
	next.AgentOf = old.AgentOf
}

// ReadHead implements [driver.Log].
func (db log) ReadHead(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	const op = "oracle.ReadHead"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return driver.Head{}, err
	}
	th, err := db.findConversation(op, id)
	if err != nil {
		return driver.Head{}, err
	}
	return db.readHead(th), nil
}

// ListConversations implements [driver.Log].
func (db log) ListConversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	end, err := db.beginRead(ctx, "oracle.ListConversations")
	defer end()
	if err != nil {
		return nil, err
	}
	if q.Prefix != "" {
		return db.byPrefix(q), nil
	}
	title := strings.ToLower(q.Title)
	var out []scrollback.Conversation
	for _, th := range db.threads {
		listed := (th.DeletedAt != 0) == q.Trash && th.PurgedAt == 0 &&
			isAmong(q.Projects, th.Project) && isListed(q, th.AgentOf) && (th.Settings.Pinned || !q.Pinned) &&
			strings.Contains(strings.ToLower(th.Title), title)
		if listed && isAfter(q.Before, th.UpdatedAt, string(th.ID)) {
			out = append(out, th.Conversation)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.Conversation) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return cloneAll(out[:min(len(out), q.Limit)]), nil
}

// isListed reports whether a list shows conversations that work for this one, or for none.
func isListed(q driver.ListQuery, of *scrollback.AgentRef) bool {
	if q.AgentOf == nil {
		return of == nil || q.Trash
	}
	return of != nil && slices.Contains(q.AgentOf, of.ID)
}

// ListProjects implements [driver.Access]. A conversation in the trash names none.
func (db access) ListProjects(ctx context.Context) ([]scrollback.Project, error) {
	end, err := db.beginRead(ctx, "oracle.ListProjects")
	defer end()
	if err != nil {
		return nil, err
	}
	count := map[string]int64{}
	for _, th := range db.threads {
		if th.DeletedAt == 0 && th.AgentOf == nil {
			count[th.Project]++
		}
	}
	var out []scrollback.Project
	for name, p := range db.projects {
		out = append(out, scrollback.Project{Name: name, Conversations: count[name], Title: p.Title, Version: p.Version,
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt})
		delete(count, name)
	}
	for name, n := range count {
		out = append(out, scrollback.Project{Name: name, Conversations: n})
	}
	slices.SortFunc(out, func(a, b scrollback.Project) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// ReadProject implements [driver.Access].
func (db access) ReadProject(ctx context.Context, name string) (scrollback.Project, error) {
	end, err := db.beginRead(ctx, "oracle.ReadProject")
	defer end()
	if err != nil {
		return scrollback.Project{}, err
	}
	p := deepCopy(db.projects[name])
	p.Name = name
	return p, nil
}

// PutProject implements [driver.Access].
func (db access) PutProject(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	end, err := db.beginWrite(ctx, "oracle.PutProject")
	defer end()
	if err != nil {
		return scrollback.Project{}, err
	}
	was := db.projects[name]
	p := deepCopy(was)
	p.Name = name
	if err := edit(&p); err != nil {
		return scrollback.Project{}, err
	}
	p.Name = name
	p.Conversations = 0
	p.Version = was.Version + 1
	p.CreatedAt = cmp.Or(was.CreatedAt, now)
	p.UpdatedAt = now
	db.stampProject(was, p, now)
	db.projects[name] = deepCopy(p)
	db.changes.noteWritten(stamp.OfProject(name))
	return p, nil
}

// DeleteProject implements [driver.Access].
func (db access) DeleteProject(ctx context.Context, name string, now int64,
	judge func(scrollback.Project) error) error {
	const op = "oracle.DeleteProject"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	p, ok := db.projects[name]
	if !ok {
		return scrollback.Errorf(scrollback.NotFound, op, "nothing is stored of the project %s", name)
	}
	if err := judge(deepCopy(p)); err != nil {
		return err
	}
	db.stampProject(p, scrollback.Project{Name: name}, now)
	delete(db.projects, name)
	db.changes.noteWritten(stamp.OfProject(name))
	return nil
}

// ChangeTitle implements [driver.Log].
func (db log) ChangeTitle(ctx context.Context, e driver.TitleChange) (bool, error) {
	const op = "oracle.ChangeTitle"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return false, err
	}
	th, err := db.findConversation(op, e.Conversation)
	if err != nil {
		return false, err
	}
	db.bookUsage(th.Project, e.Usage, nil)
	if th.DeletedAt != 0 || th.TitleBy != e.From {
		return false, nil
	}
	if e.Title == "" {
		th.TitleBy = e.To
		db.changes.noteWritten(string(th.ID))
	} else {
		_ = db.editConversation(th, e.Now, func(c *scrollback.Conversation) error {
			c.TitleBy = e.To
			c.Title = e.Title
			return nil
		})
		th.news.Kinds |= driver.KindEdited
		db.changes.touchConversation(th, e.Now)
	}
	return true, nil
}

// byPrefix lists the conversations whose ids begin with q.Prefix.
func (db log) byPrefix(q driver.ListQuery) []scrollback.Conversation {
	var out []scrollback.Conversation
	for id, th := range db.threads {
		if th.PurgedAt == 0 && strings.HasPrefix(string(id), q.Prefix) && isAmong(q.Projects, th.Project) {
			out = append(out, th.Conversation)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.Conversation) int { return cmp.Compare(a.ID, b.ID) })
	return cloneAll(out[:min(len(out), q.Limit)])
}

// isAmong reports whether a project is one of those to look in.
func isAmong(projects []string, name string) bool {
	return projects == nil || slices.Contains(projects, name)
}

func (db *database) findConversation(op string, id scrollback.ConversationID) (*storedConversation, error) {
	th := db.threads[id]
	if th == nil || th.PurgedAt != 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "no conversation %s", id)
	}
	return th, nil
}

// findLive returns a conversation that is not in the trash.
func (db *database) findLive(op string, id scrollback.ConversationID) (*storedConversation, error) {
	th, err := db.findConversation(op, id)
	if err == nil && th.DeletedAt != 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "conversation %s is in the trash", id)
	}
	return th, err
}

func (db *database) readHead(th *storedConversation) driver.Head {
	return driver.Head{Conversation: deepCopy(th.Conversation), Branch: deepCopy(db.branches[th.Branch].Branch)}
}

// touchConversation marks a write to the conversation, and tells of it. Of one that nobody sees it
// tells nothing, but for its purge.
func (cs *changeLog) touchConversation(th *storedConversation, now int64) {
	th.Version++
	th.UpdatedAt = now
	news := th.news
	was := th.was
	th.news = driver.Change{}
	th.was = th.Conversation
	news.Conversation = th.ID
	news.Project = th.Project
	switch {
	case th.PurgedAt != 0 && was.PurgedAt != 0:
		return
	case th.PurgedAt != 0:
		news.Kinds = driver.KindTrashed | driver.KindPurged
	case th.DeletedAt != was.DeletedAt:
		news.Kinds |= driver.KindTrashed
	}
	if was.Project != "" && was.Project != th.Project {
		news.From = was.Project
	}
	cs.addChange(news)
}

// fieldsDiffer reports whether an edit changed a conversation's own fields.
func fieldsDiffer(a, b scrollback.Conversation) bool {
	before, errBefore := json.Marshal(a)
	after, errAfter := json.Marshal(b)
	return errBefore != nil || errAfter != nil || !bytes.Equal(before, after)
}

// isAfter reports whether (at, id) comes after a key in a list with the newest first.
func isAfter(key *driver.ListKey, at int64, id string) bool {
	return key == nil || at < key.At || at == key.At && id < key.ID
}
