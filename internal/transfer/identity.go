package transfer

import (
	"context"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
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
	if own, err := findExported(ctx, im, key); own != "" || err != nil {
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
	if err := planNew(im, key, &want); err != nil {
		return err
	}
	if _, err := im.passStones(ctx, im.q.Again, &want); err != nil {
		return err
	}
	if want.Title == "" && entry.Message.Role == scrollback.RoleUser {
		want.Title = title.FromPrompt(entry.Message.Parts)
	}
	made, created, err := im.view.Create(ctx, want)
	if err != nil {
		return err
	}
	c.ID = made.ID
	c.Created = created
	c.untitled = created && made.Title == ""
	return nil
}

// findExported returns the conversation of ours that a source names because it was exported from
// here, or empty.
func findExported(ctx context.Context, im *importer, key string) (scrollback.ConversationID, error) {
	if key == "" {
		return "", nil
	}
	own, err := im.view.Bulk().Head(ctx, scrollback.ConversationID(key), scrollback.AccessWrite)
	copied := err == nil && im.q.Project != "" && im.q.Project != own.Project // asked for by name
	if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Invalid || copied {
		return "", nil
	}
	return own.ID, err
}

// planNew fills in what a conversation that is new here begins with, and its id, which follows
// from its source and its project.
func planNew(im *importer, key string, want *scrollback.Conversation) error {
	own, err := im.view.Bulk().ResolveProject(want.Project)
	if err != nil {
		return err
	}
	if own != scrollback.DefaultProject { // of two callers with the same file each has its own
		want.Project = own
	}
	identity := im.format + "\x00" + key + "\x00" + want.Project
	if key == "" {
		identity = "file\x00" + im.file + "\x00" + want.Project
	}
	want.ID = scrollback.ConversationID(uuid.NewSHA1(uuid.NameSpaceOID, []byte(identity)).String())
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
