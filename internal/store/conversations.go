package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

// Bounds of a conversation's own fields, in characters or entries.
const (
	maxTitle        = 500
	maxProject      = 100
	maxInstructions = 200_000
	maxMeta         = 64 << 10 // bytes
)

// CreateConversation makes a conversation, which may begin with messages. An id may be given (a UUID);
// for one that exists the stored conversation and false are returned.
func (s *Store) CreateConversation(ctx context.Context, c scrollback.Conversation,
	begins ...IncomingMessage) (scrollback.Conversation, bool, error) {
	const op = "store.CreateConversation"
	if c.ID == "" {
		c.ID = scrollback.ConversationID(s.newID())
	} else {
		id, err := uuid.Parse(string(c.ID))
		if err != nil {
			return c, false, scrollback.ParamErrorf(op, "id", i18n.ConversationIDMustBeUUID)
		}
		c.ID = scrollback.ConversationID(id.String())
	}
	if err := completeConversation(op, &c); err != nil {
		return c, false, err
	}
	now := s.Now()
	c.Version = 1
	c.UpdatedAt = now
	c.DeletedAt = 0
	c.Parent = nil
	c.Ancestors = nil
	c.CreatedAt = cmp.Or(min(max(c.CreatedAt, 0), now), now) // one that was begun elsewhere is older
	b := scrollback.Branch{ID: s.rootBranch(c.ID), Conversation: c.ID, UpdatedAt: now}
	if len(begins) == 0 {
		return s.d.Log.CreateConversation(ctx, c, b)
	}
	h, err := s.d.Log.ReadHead(ctx, c.ID)
	if scrollback.CodeOf(err) != scrollback.NotFound {
		return h.Conversation, false, err
	}
	// Of two that make the same conversation at once, one is in conflict over its branch.
	b.ID = ids.RootBranch(c.ID)
	made := clearIncomplete(ctx, s, c.ID)
	if made == nil {
		made = s.storeBeginning(ctx, c, b, begins)
	}
	if made != nil && scrollback.CodeOf(made) != scrollback.Conflict {
		return c, false, made
	}
	if h, err = s.d.Log.ReadHead(ctx, c.ID); made == nil || err == nil {
		return h.Conversation, made == nil, err
	}
	return c, false, made
}

// rootBranch returns the id of the first branch of a new conversation.
func (s *Store) rootBranch(of scrollback.ConversationID) scrollback.BranchID {
	if ids.IsDerived(of) {
		return ids.RootBranch(of)
	}
	return scrollback.BranchID(s.newID())
}

// Bounds of one transaction of a conversation that begins with messages: others write in
// between.
const (
	beginBatch = 64
	beginBytes = 256 << 10
)

// storeBeginning stores a conversation that begins with messages: nobody sees it before the last.
func (s *Store) storeBeginning(ctx context.Context, c scrollback.Conversation, b scrollback.Branch,
	in []IncomingMessage) error {
	for at := int64(0); len(in) > 0; {
		n := 0
		size := 0
		for ; n < len(in) && n < beginBatch && size < beginBytes; n++ {
			size += in[n].Parts.Bytes()
		}
		a := Adoption{Conversation: c}
		if n == len(in) {
			a.Current = b.ID
		}
		switch err := s.Move.AdoptHistory(ctx, a, Growth{Branch: b, IfHead: at, Messages: in[:n]}); {
		case scrollback.CodeOf(err) == scrollback.Conflict:
			return scrollback.Errorf(scrollback.Conflict, "store.CreateConversation", i18n.AnotherRequestCreatesConversation,
				c.ID).WithReason(err)
		case err != nil:
			return err
		}
		at += int64(n)
		in = in[n:]
	}
	return nil
}

// clearIncomplete removes what is left of a conversation whose beginning was cut off. One that was
// purged and has heirs is conflict.
func clearIncomplete(ctx context.Context, s *Store, id scrollback.ConversationID) error {
	left, err := s.d.Log.ListBranches(ctx, id)
	if err != nil || len(left) == 0 {
		return err
	}
	if _, err := s.DiscardConversation(ctx, id); err != nil {
		return err
	}
	if left, err = s.d.Log.ListBranches(ctx, id); err == nil && len(left) > 0 {
		err = scrollback.Errorf(scrollback.Conflict, "store.CreateConversation", i18n.ConversationWasPurged, id)
	}
	return err
}

// DiscardConversation removes a conversation that nobody has seen yet; one that people see is
// conflict.
func (s *Store) DiscardConversation(ctx context.Context, id scrollback.ConversationID) (PurgeResult, error) {
	return s.PurgeConversation(ctx, id, 1)
}

// completeConversation fills in defaults and checks bounds.
func completeConversation(op string, c *scrollback.Conversation) error {
	if c.Project == "" {
		c.Project = scrollback.DefaultProject
	}
	if c.Roots == nil {
		c.Roots = []string{}
	}
	if c.PinnedSeqs == nil {
		c.PinnedSeqs = []int64{}
	}
	if len(c.Settings.Compaction) == 0 {
		c.Settings.Compaction = nil
	}
	if len(bytes.TrimSpace(c.Meta)) == 0 || string(c.Meta) == "null" {
		c.Meta = json.RawMessage(`{}`)
	}
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(c.Meta, &object) != nil:
		return scrollback.ParamErrorf(op, "meta", i18n.MetaMustBeObject)
	case len(c.Meta) > maxMeta:
		return scrollback.ParamErrorf(op, "meta", i18n.MetaTooLarge, maxMeta)
	case utf8.RuneCountInString(c.Title) > maxTitle:
		return scrollback.ParamErrorf(op, "title", i18n.TitleTooLong, maxTitle)
	case checkProjectName(op, c.Project) != nil:
		return checkProjectName(op, c.Project)
	case utf8.RuneCountInString(c.Instructions) > maxInstructions:
		return scrollback.ParamErrorf(op, "instructions", i18n.InstructionsTooLong, maxInstructions)
	case c.Settings.RecallScope != "" && c.Settings.RecallScope != scrollback.ScopeConversation &&
		c.Settings.RecallScope != scrollback.ScopeProject && c.Settings.RecallScope != scrollback.ScopeAll:
		return scrollback.ParamErrorf(op, "recall_scope", i18n.RecallScopeSettingIsOneOf,
			c.Settings.RecallScope)
	case c.Settings.Keep != "" && c.Settings.Keep != scrollback.ScopeConversation &&
		c.Settings.Keep != scrollback.ScopeProject:
		return scrollback.ParamErrorf(op, "keep", i18n.KeepIsOneOf, c.Settings.Keep)
	case c.Settings.Door != "":
		return scrollback.ParamErrorf(op, "door", i18n.DoorIsOfProject)
	case c.Limit < 0:
		return scrollback.ParamErrorf(op, "limit", i18n.LimitIsNumberOfTokens)
	case len(c.PinnedSeqs) > scrollback.PinsMax:
		return scrollback.ParamErrorf(op, "pinned_seqs", i18n.TooManyPins, scrollback.PinsMax)
	}
	return nil
}

// PatchConversation changes a conversation's own fields; its sub-agents go with it to another
// project. With ifVersion set, any other version is a conflict that wraps
// scrollback.ErrPrecondition.
func (s *Store) PatchConversation(ctx context.Context, id scrollback.ConversationID, ifVersion int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	const op = "store.PatchConversation"
	was := ""
	out, err := s.d.Log.PatchConversation(ctx, id, s.Now(), func(c *scrollback.Conversation) error {
		was = c.Project
		if ifVersion != 0 && c.Version != ifVersion {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationAtVersion,
				c.Version).WithReason(scrollback.ErrPrecondition)
		}
		if err := edit(c); err != nil {
			return err
		}
		return completeConversation(op, c)
	})
	if err != nil || out.Project == was {
		return out, err
	}
	return out, s.Agents.editAgents(ctx, id, func(c *scrollback.Conversation) bool {
		moves := c.Project != out.Project
		c.Project = out.Project
		return moves
	})
}

// ReadHead returns a conversation and its current branch, also by an id that was given up.
func (s *Store) ReadHead(ctx context.Context, id scrollback.ConversationID) (Head, error) {
	return readNow(ctx, s, AliasConversation, id, s.d.Log.ReadHead)
}

// FindProject returns the project of a conversation.
func (s *Store) FindProject(ctx context.Context, id scrollback.ConversationID) (string, error) {
	h, err := s.ReadHead(ctx, id)
	return h.Project, err
}

// ListLineage returns a conversation and the ancestors whose messages its path may inherit,
// nearest first.
func (s *Store) ListLineage(ctx context.Context, id scrollback.ConversationID) ([]scrollback.ConversationID, error) {
	h, err := s.ReadHead(ctx, id)
	if err != nil {
		return nil, err
	}
	return append([]scrollback.ConversationID{h.ID}, h.Ancestors...), nil
}

// minPrefix is how many characters of an id must be given to look it up.
const minPrefix = 8

// maxCandidates bounds how many conversations are listed for an ambiguous name.
const maxCandidates = 5

// ResolveName finds a conversation by what a person calls it: an id, a unique beginning of
// one (at least 8 characters), "latest", or its place in the list, from 1. A name that
// fits several is invalid, and the error lists them. It looks only in the given projects,
// or in all if they are nil.
func (s *Store) ResolveName(ctx context.Context, name string, projects []string) (scrollback.ConversationID, error) {
	const op = "store.ResolveName"
	name = strings.ToLower(strings.TrimSpace(name))
	if projects != nil && len(projects) == 0 {
		return "", scrollback.Errorf(scrollback.NotFound, op, i18n.NoConversation, name)
	}
	place, err := strconv.Atoi(name)
	switch {
	case name == "latest":
		return s.findListed(ctx, 1, projects)
	case err == nil && len(name) < minPrefix:
		return s.findListed(ctx, place, projects)
	case len(name) < minPrefix:
		return "", scrollback.Errorf(scrollback.NotFound, op,
			i18n.NoConversationWithPrefix, name, minPrefix)
	}
	found, err := s.d.Log.ListConversations(ctx,
		driver.ListQuery{Prefix: name, Projects: projects, Limit: maxCandidates + 1})
	if err == nil && len(found) == 0 {
		found, err = s.Aliases.findNamed(ctx, name, projects)
	}
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", scrollback.Errorf(scrollback.NotFound, op, i18n.NoConversation, name)
	case len(found) == 1 || string(found[0].ID) == name:
		return found[0].ID, nil
	}
	var list strings.Builder
	for _, c := range found[:min(len(found), maxCandidates)] {
		list.WriteString("\n  " + string(c.ID) + "  " + search.ClipText(c.Title, 60))
	}
	if len(found) > maxCandidates {
		list.WriteString("\n  …")
	}
	return "", scrollback.ParamErrorf(op, "conversation", i18n.IDIsAmbiguous, name, list.String())
}

// findListed returns the conversation at a place in the list, from 1.
func (s *Store) findListed(ctx context.Context, place int, projects []string) (scrollback.ConversationID, error) {
	const op = "store.ResolveName"
	if place < 1 {
		return "", scrollback.ParamErrorf(op, "conversation", i18n.ListCountsFromOne, place)
	}
	q := driver.ListQuery{Projects: projects, Limit: scrollback.ListMax}
	for {
		page, err := s.d.Log.ListConversations(ctx, q)
		switch {
		case err != nil:
			return "", err
		case place <= len(page):
			return page[place-1].ID, nil
		case len(page) < q.Limit && place == 1:
			return "", scrollback.Errorf(scrollback.NotFound, op, i18n.NoConversationYet)
		case len(page) < q.Limit:
			return "", scrollback.Errorf(scrollback.NotFound, op, i18n.ListHasNoNumber, place)
		}
		place -= len(page)
		last := page[len(page)-1]
		q.Before = &driver.ListKey{At: last.UpdatedAt, ID: string(last.ID)}
	}
}

// ListConversations returns a page and the cursor of the next, empty at the end.
func (s *Store) ListConversations(ctx context.Context, q scrollback.ListQuery) ([]scrollback.Conversation,
	string, error) {
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, "", err
	}
	within := boundProjects(q.Project, q.Projects)
	if within != nil && len(within) == 0 {
		return nil, "", nil
	}
	items, err := s.d.Log.ListConversations(ctx,
		driver.ListQuery{Projects: within, Title: q.Title, Trash: q.Trash, Pinned: q.Pinned, AgentOf: q.AgentOf,
			Before: before, Limit: limit + 1})
	if err != nil || len(items) <= limit {
		return items, "", err
	}
	items = items[:limit]
	last := items[limit-1]
	return items, encodeCursor(driver.ListKey{At: last.UpdatedAt, ID: string(last.ID)}), nil
}

// PurgeConversation removes a conversation for good, except what others inherit, and returns what
// stayed and which artifacts nothing mentions any more. With trashedBy, a time in ms, one
// that has not been in the trash since then is conflict.
func (s *Store) PurgeConversation(ctx context.Context, id scrollback.ConversationID,
	trashedBy int64) (PurgeResult, error) {
	return s.purgeConversation(ctx, driver.Purge{Conversation: id, TrashedBy: trashedBy})
}

// purgeConversation purges step by step, and goes on with what was purged earlier and is needed no more.
func (s *Store) purgeConversation(ctx context.Context, q driver.Purge) (PurgeResult, error) {
	var all driver.PurgeResult
	q.Limit = purgeStep
	defer s.index.NotePurged()
	for first := true; q.Conversation != ""; first = false {
		q.Now = s.Now()
		p, err := s.d.Log.PurgeConversation(ctx, q)
		if err != nil {
			return all, err
		}
		all.Removed += p.Removed
		all.Loose = append(all.Loose, p.Loose...)
		if p.Done {
			if first || all.Kept == 0 {
				all.Kept = p.Kept
			}
			q.Conversation = p.Next
			q.Stone = nil
		}
	}
	all.Done = true
	return all, nil
}

// purgeStep is how many messages one transaction of a purge removes: others can write in
// between.
const purgeStep = 500

// boundProjects returns the projects to look in, given one that is named, or none, and those that may
// be seen; nil for all.
func boundProjects(named string, within []string) []string {
	switch {
	case named == "":
		return within
	case within == nil || slices.Contains(within, named):
		return []string{named}
	}
	return []string{}
}
