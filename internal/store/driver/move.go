package driver

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Adoption brings rows of a history that was made elsewhere, with the ids they have
// there, in one transaction; what is empty brings nothing. In this order:
//
//  1. An unknown conversation is stored, and hidden: it is as one that was purged
//     and has heirs, of which other methods know only the branches and what is on
//     them. A hidden one inherits from the rest of Conversation.Ancestors too (see
//     [MergeAncestors]): the history that brought it may have needed fewer. One that
//     people see is conflict if it does not inherit from all of them, if it is in the
//     trash, or if an open turn holds it; an open turn whose lease has ended is closed
//     first, as [BeginRequest] does it. Any one is conflict while its purge is under way.
//  2. Each of Branches grows.
//  3. Segments are stored, and Mentions noted. A segment that is known stays as it
//     is; it is conflict if that is another one. Kept, rows of people about sentences, is added; a
//     row whose id and change are known stays as it is.
//  4. Views replace what branches show, and Folds are entered as CommitFold does it,
//     those that are known only if they were undone meanwhile. How much a view hides
//     follows from the messages, whatever it says.
//  5. With Current, that branch becomes the current one, Edit may change the
//     conversation's own fields, and a hidden conversation is seen from then on, as
//     Conversation says. What people see was changed last when Conversation was, if
//     not later.
//  6. With Current, Left is stored if its id is unknown: a turn that has ended, with the
//     draft that it left. It becomes the newest turn if that branch ends with its LastSeq.
//
// With Merge, what another store knows better is taken as it is there: a conversation in the trash is written to, one
// that people see inherits from more, Edit may put it in the trash or take it out, and what Edit changes gets no stamp
// of this store but Clocks, which are stored in any case. What is pinned follows from the clocks. Readings are stored.
type Adoption struct {
	Conversation scrollback.Conversation
	Merge        bool
	Clocks       []stamp.Clock
	Readings     []Reading
	Now          int64
	Branches     []AdoptedBranch
	Segments     []scrollback.Segment
	Mentions     []scrollback.Artifact
	Kept         []scrollback.Kept
	Views        []ViewRepair
	Folds        []scrollback.StoredReceipt
	Current      scrollback.BranchID
	Left         *scrollback.Turn
	Edit         func(*scrollback.Conversation)
	Salvage      func(expired scrollback.Turn) []Entry
}

// AdoptedBranch appends Entries to a branch that ends with IfHead (else conflict). An
// unknown one is stored first, and leaves its parent as for [Rewind]; a known
// one that leaves another message, or is of another conversation, is conflict. Its
// UpdatedAt becomes that of Branch.
type AdoptedBranch struct {
	scrollback.Branch
	IfHead  int64
	Entries []Entry
}

// Reading says that the messages of a branch were written to another one, Born, from a seq on: their places there
// were taken by others when they came.
type Reading struct {
	Conversation scrollback.ConversationID
	Branch       scrollback.BranchID
	From         int64
	Born         scrollback.BranchID
}

// HideConversation returns a conversation as it is kept while nobody sees it.
func HideConversation(c scrollback.Conversation, now int64) scrollback.Conversation {
	return scrollback.Conversation{ID: c.ID, Project: c.Project, Parent: c.Parent, Ancestors: c.Ancestors, Version: 1,
		CreatedAt: now, UpdatedAt: now, DeletedAt: now, PurgedAt: now, Roots: []string{}, PinnedSeqs: []int64{}}
}

// MergeAncestors joins what two accounts of one conversation say it inherits from, nearest
// first. Each may leave out ancestors that its branches do not need.
func MergeAncestors(known, more []scrollback.ConversationID) []scrollback.ConversationID {
	var all []scrollback.ConversationID
	rest := known
	for _, id := range more {
		if i := slices.Index(rest, id); i >= 0 {
			all = append(all, rest[:i]...)
			rest = rest[i+1:]
		}
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	for _, id := range rest {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}
