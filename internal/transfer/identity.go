package transfer

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/title"
	"github.com/scrollback-ai/scrollback/internal/transfer/bundles"
	"github.com/scrollback-ai/scrollback/transcript"
)

// findConversation finds or makes the conversation of an entry.
func (im *importer) findConversation(ctx context.Context, entry transcript.Entry) (*importing, error) {
	key := entry.Source
	if im.q.Into != "" {
		key = ""
	}
	if c := im.open[key]; c != nil {
		return c, nil
	}
	c := &importing{firsts: map[pathPoint]*storedMessage{}}
	if err := im.chooseConversation(ctx, c, key, entry); err != nil {
		return nil, err
	}
	if err := im.enterConversation(ctx, c); err != nil {
		return nil, err
	}
	im.open[key] = c
	return c, nil
}

// enterConversation begins where a conversation that was chosen stands.
func (im *importer) enterConversation(ctx context.Context, c *importing) error {
	var err error
	if c.backlog, err = im.view.Bulk().Backlog(ctx, c.ID); err != nil {
		return err
	}
	c.backlog.Summarize = im.q.Summarize
	c.backlog.Quota = im.q.Quota
	head := c.backlog.Begin
	if head.DeletedAt != 0 {
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationInTrashRestoreFirst,
			c.ID)
	}
	c.head = head
	c.at = head.Branch
	c.Total = head.Messages
	c.stood = pathPoint{head.Branch.ID, head.Branch.HeadSeq}
	c.back = !c.Created && head.Branch.HeadSeq == head.Branch.AtSeq
	if im.q.Into != "" {
		c.fresh = true
		c.base = head.Messages
	} else if n := head.Branch.HeadSeq; n > 0 {
		last, err := im.store.ReadMessageAt(ctx, head.Branch, n)
		if err != nil {
			return err
		}
		if c.newest, c.theirs = last.ID, transcript.MarkOf(last.Meta) != ""; c.theirs {
			c.latest = last.CreatedAt
		}
	}
	if im.from != nil && im.q.Into == "" && !c.Created {
		hasThread, err := im.view.Bulk().HasThread(ctx, c.ID)
		if err != nil {
			return err
		}
		if hasThread {
			c.beside = &besidePath{}
		}
	}
	c.slot = len(im.slots)
	im.slots = append(im.slots, c.Imported)
	im.order = append(im.order, c)
	return nil
}

// chooseConversation returns which conversation an entry belongs to: the one that everything goes into,
// the one that was exported and comes back under its own id, or that of the source.
func (im *importer) chooseConversation(ctx context.Context, c *importing, key string, entry transcript.Entry) error {
	if im.q.Into != "" {
		c.ID = im.q.Into
		return nil
	}
	own, copied, err := findExported(ctx, im, key)
	if own != "" || err != nil {
		c.ID = own
		return err
	}
	want := scrollback.Conversation{}
	if entry.Conversation != nil {
		want = *entry.Conversation
	}
	if im.q.Project != "" {
		want.Project = im.q.Project
	}
	if err := planNew(im, &want); err != nil {
		return err
	}
	if want.Title == "" && entry.Message.Role == scrollback.RoleUser {
		want.Title = title.FromPrompt(entry.Message.Parts)
	}
	made, created, err := im.createOf(ctx, identity{key, copied, im.q.Again}, want,
		func(c scrollback.Conversation) (scrollback.Conversation, bool, error) { return im.view.Create(ctx, c) })
	if err != nil {
		return err
	}
	c.ID = made.ID
	c.Created = created
	c.untitled = created && made.Title == ""
	return nil
}

// findExported returns the conversation of ours that a source names because it was exported from
// here, or empty. copied says that a copy of one in another project is asked for by its name.
func findExported(ctx context.Context, im *importer, key string) (id scrollback.ConversationID, copied bool,
	err error) {
	if key == "" {
		return "", false, nil
	}
	own, err := im.view.Bulk().Head(ctx, scrollback.ConversationID(key), scrollback.AccessWrite)
	copied = err == nil && im.q.Project != "" && im.q.Project != own.Project
	if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Invalid || copied {
		return "", copied, nil
	}
	return own.ID, false, err
}

// identity is what a source calls a conversation, or empty for one that is known by its file. A copied one is of a
// conversation of ours, and each project has its own.
type identity struct {
	key    string
	copied bool
	again  bool // it comes back if it was purged
}

// idOf returns the id of the conversation that the file calls key.
func (im *importer) idOf(key string) scrollback.ConversationID {
	return ids.Conversation(im.format, key)
}

// createOf makes the conversation of a source by create, or returns the one that was made of it. Its id
// follows from the source alone. Where a conversation has it that the caller may not see, each has its own,
// and neither learns of the other.
func (im *importer) createOf(ctx context.Context, i identity, want scrollback.Conversation,
	create func(scrollback.Conversation) (scrollback.Conversation, bool, error)) (made scrollback.Conversation,
	created bool, err error) {
	of := im.format
	if i.key == "" {
		of = "file"
		i.key = im.file
	}
	apart := ids.ConversationIn(of, i.key, cmp.Or(want.Project, scrollback.DefaultProject))
	known := []scrollback.ConversationID{apart, ids.ConversationBefore(of, i.key, want.Project)}
	if !i.copied {
		known = append(known, ids.ConversationBefore(of, i.key, "")) // of the default project
	}
	for _, id := range known {
		there, err := im.view.Bulk().Head(ctx, id, scrollback.AccessWrite)
		if scrollback.CodeOf(err) != scrollback.NotFound {
			return there.Conversation, false, err
		}
	}
	want.ID = ids.Conversation(of, i.key)
	stays, err := im.passStones(ctx, i.again, &want)
	if err == nil && stays {
		err = scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationWasPurged, want.ID)
	}
	if err != nil {
		return made, false, err
	}
	hidden, err := im.view.Bulk().IsHidden(ctx, want.ID)
	if err != nil {
		return made, false, err
	}
	if !hidden && !i.copied {
		made, created, err = create(want)
		caller := im.view.Caller()
		code := scrollback.CodeOf(err)
		// Somebody else may just have made it, or purged it while others inherit from it.
		if err == nil && caller.SeesProject(made.Project) ||
			err != nil && (caller.AllProjects || code != scrollback.NotFound && code != scrollback.Conflict) {
			return made, created, err
		}
	}
	want.ID = apart
	return create(want)
}

// planNew fills in what a conversation that is new here begins with.
func planNew(im *importer, want *scrollback.Conversation) error {
	own, err := im.view.Bulk().ResolveProject(want.Project)
	if err != nil {
		return err
	}
	if own != scrollback.DefaultProject { // of two callers with the same file each has its own
		want.Project = own
	}
	project := want.Project
	if err := bundles.AdaptSettings(im.view, want, project); err != nil {
		return err
	}
	want.Project = project
	want.Roots = nil
	if scrollback.CheckTools(want.Settings.Tools) != nil {
		want.Settings.Tools = nil
	}
	want.Title = clip.ClipLine(want.Title, maxTitle)
	return nil
}
