package driver

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Index is the full-text index of the log: a view, made behind the log in batches. What is
// not in it yet is behind its watermark, in the order in which messages were stored.
type Index interface {
	// ReadState says how far the index reaches.
	ReadState(ctx context.Context) (IndexState, error)

	// ReadUnindexed reads messages that were stored after the one with number After, ascending: at
	// most Limit, and no more once they have Bytes of parts (0: as much as there is).
	ReadUnindexed(ctx context.Context, q UnindexedQuery) ([]NumberedMessage, error)

	// PutDocuments adds documents and moves the watermark; see [DocumentBatch]. It reports whether it
	// did: false, and nothing is written, if somebody else moved it first.
	PutDocuments(ctx context.Context, d DocumentBatch) (bool, error)

	// Reset empties the index and sets its watermark before the first message, for terms
	// that are cut in the way that Cut names.
	Reset(ctx context.Context, cut int) error

	// Maintain takes one bounded step of what keeps the index small and quick, such as merging
	// and forgetting what was purged, and reports whether there is more to do.
	Maintain(ctx context.Context) (more bool, err error)

	// FindPostings finds the places of terms; see [PostingQuery].
	FindPostings(ctx context.Context, q PostingQuery) ([]Postings, error)

	// FindBranches returns the branches with these numbers, by number; unknown ones are left out, and
	// so are those of other projects than Projects (nil: all). Unless Trash, a branch of a
	// conversation in the trash is there as far as a live one of Projects inherits it, with
	// the Heir; see [IndexedBranch.InheritFrom].
	FindBranches(ctx context.Context, q IndexedBranchQuery) (map[int64]IndexedBranch, error)

	// ListBranchesOf lists all branches of some conversations.
	ListBranchesOf(ctx context.Context, ids []scrollback.ConversationID) ([]IndexedBranch, error)

	// FindWorkedBranches finds the branches of what was worked on in some folders; see [FolderQuery].
	FindWorkedBranches(ctx context.Context, q FolderQuery) ([]WorkedBranch, error)

	// ListWorkedNumbers lists the numbers of such branches, ascending, whatever their projects, also
	// of what is in the trash. It is quick for thousands of conversations.
	ListWorkedNumbers(ctx context.Context, q FolderQuery) ([]int64, error)

	// ReadMarks returns what is known of the documents at places without reading the messages,
	// ascending; places without a document are left out.
	ReadMarks(ctx context.Context, places []Place) ([]Mark, error)

	// ReadMessagesAt reads the messages at places, ascending. Those that are gone are left out.
	ReadMessagesAt(ctx context.Context, places []Place) ([]scrollback.Message, error)

	// ReadVectorState says how far the vectors of messages reach, which are made behind the log as well.
	ReadVectorState(ctx context.Context) (VectorState, error)

	// PutVectors adds vectors and moves their watermark; see [VectorBatch]. It reports whether it did:
	// false, and nothing is written, if somebody else moved it first.
	PutVectors(ctx context.Context, b VectorBatch) (bool, error)

	// ResetVectors removes all vectors and sets their watermark before the first message, for those of
	// another model.
	ResetVectors(ctx context.Context, model string) error

	// ReadSketches reads what of vectors is compared first; see [SketchQuery].
	ReadSketches(ctx context.Context, q SketchQuery) ([]Sketch, error)

	// ReadVectors reads the vectors at places, ascending, without their sketches; places without one are
	// left out.
	ReadVectors(ctx context.Context, places []Place) ([]MessageVector, error)
}

// Place is where a message stands in the log: the number of its branch, and its seq there.
// The places of neighbours on a branch are neighbours as numbers.
type Place uint64

// NewPlace makes a place. Numbers of branches begin at 1, are below 1<<31 and never come twice.
func NewPlace(branch, seq int64) Place { return Place(uint64(branch)<<32 | uint64(uint32(seq))) }

// Branch returns the number of the branch.
func (p Place) Branch() int64 { return int64(p >> 32) }

// Seq returns the seq of the message.
func (p Place) Seq() int64 { return int64(uint32(p)) }

// IndexState is how far an index reaches. Cut names the way in which its terms were cut.
// Messages up to the number Watermark are in it; Newest is the number of the newest
// message. Numbers grow, with gaps.
type IndexState struct {
	Cut       int
	Watermark int64
	Newest    int64
	Documents int64 // in the index
	Terms     int64 // in all of them together
}

// UnindexedQuery reads what is behind an index. Known may return a message that was stored, so that it need not be read
// again: a driver then returns fewer messages where it likes, as long as any are left. It may be nil.
type UnindexedQuery struct {
	After int64
	Limit int
	Bytes int64
	Known func(scrollback.MessageID) (scrollback.Message, bool)
}

// NumberedMessage is a message with its number in the order of storing, and its place.
type NumberedMessage struct {
	scrollback.Message
	Number int64
	Place  Place
}

// DocumentBatch is the messages after From up to To, cut into terms. Those without terms are
// left out, and moved past all the same. PutDocuments is false unless the index is of Cut and its
// watermark is From.
type DocumentBatch struct {
	Cut      int
	From, To int64
	All      []Document
}

// Document is one message as the index has it. Terms are lower-case letters, marks and
// digits only, in any order, each as often as it occurs; with Counts, how often each of them does.
type Document struct {
	Mark
	Terms  []string
	Counts []int32 // nil, or as many as Terms
}

// Mark is what an index keeps of a document besides its terms. Length is how many terms it has.
type Mark struct {
	Place     Place
	Role      scrollback.Role
	CreatedAt int64
	Length    int
}

// PostingQuery finds the places of Terms. A term that ends in '*' stands for every term with
// that beginning. Within narrows to runs of places, ascending (nil: everywhere); Role and the
// time, From <= CreatedAt < To, narrow too (To 0 is open). Of a term that more than Most
// documents hold, no places are read (0: all are).
type PostingQuery struct {
	Terms    []string
	Within   []PlaceRun
	Role     scrollback.Role
	From, To int64
	Most     int
}

// Matches reports whether a document is within what a query is narrowed to.
func (q PostingQuery) Matches(m Mark) bool {
	if q.Role != "" && m.Role != q.Role || m.CreatedAt < q.From || q.To != 0 && m.CreatedAt >= q.To {
		return false
	}
	if q.Within == nil {
		return true
	}
	i := sort.Search(len(q.Within), func(i int) bool { return q.Within[i].Last >= m.Place })
	return i < len(q.Within) && q.Within[i].First <= m.Place
}

// PlaceRun is a run of places of one branch: First to Last.
type PlaceRun struct{ First, Last Place }

// Postings are where a term is: Places ascend, Counts is how often it is in each, at most
// 255. Holding is how many documents of the whole index hold it, whatever the query is
// narrowed to.
type Postings struct {
	Holding int64
	Places  []Place
	Counts  []uint8
}

// IndexedBranchQuery finds branches by their numbers.
type IndexedBranchQuery struct {
	Numbers  []int64
	Projects []string
	Trash    bool
}

// IndexedBranch is a branch as the index sees it: its own messages are from First to Head. Before
// First, its path is that of Parent (0: none).
type IndexedBranch struct {
	Number       int64
	Branch       scrollback.BranchID
	Conversation scrollback.ConversationID
	Parent       int64
	First, Head  int64

	// Of a conversation in the trash: a live conversation that inherits messages up to Head,
	// and its branch.
	Heir    scrollback.ConversationID
	Through scrollback.BranchID
}

// BranchFork is a branch that was forked from another at a seq. Wanted says that its conversation is
// live and one of those that are asked for, Trashed that it is in the trash.
type BranchFork struct {
	Branch          scrollback.BranchID
	At              int64
	Conversation    scrollback.ConversationID
	Trashed, Wanted bool
}

// InheritFrom returns what a live conversation inherits of a branch of one in the trash, through
// any number of others in the trash: the branch up to the furthest message that any inherits,
// with that heir, or the newest of these. It returns false if nobody inherits anything. forks
// has what was forked from each branch.
func (l IndexedBranch) InheritFrom(forks map[scrollback.BranchID][]BranchFork) (IndexedBranch, bool) {
	type inherited struct {
		branch scrollback.BranchID
		head   int64
	}
	out := l
	out.Head = l.First - 1
	for open := []inherited{{l.Branch, l.Head}}; len(open) > 0; {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, f := range forks[at.branch] {
			head := min(at.head, f.At)
			switch {
			case head < l.First:
			case f.Trashed:
				open = append(open, inherited{f.Branch, head})
			case f.Wanted && cmp.Or(cmp.Compare(head, out.Head), cmp.Compare(f.Conversation, out.Heir),
				cmp.Compare(f.Branch, out.Through)) > 0:
				out.Head = head
				out.Heir = f.Conversation
				out.Through = f.Branch
			}
		}
	}
	return out, out.Heir != ""
}

// FolderQuery finds the conversations that were worked on in some folders or below them: their
// own folders are there, or those where they come from. Sub-agents of these count too, and
// what is in the trash does not. Folders are absolute, without a separator at the end.
type FolderQuery struct {
	Folders  []string
	Projects []string // of the conversations; nil for no such bound
}

// PrefixesBelow returns the beginnings of the folders below one, on whichever system.
func PrefixesBelow(folder string) []string { return []string{folder + "/", folder + `\`} }

// HasFolder reports whether a folder is one of the query's or below it.
func (q FolderQuery) HasFolder(folder string) bool {
	return slices.ContainsFunc(q.Folders, func(f string) bool {
		return f != "" && folder == f || slices.ContainsFunc(PrefixesBelow(f),
			func(begin string) bool { return strings.HasPrefix(folder, begin) })
	})
}

// WorkedBranch is a branch of a conversation that was worked on in a folder. At is when the newest
// message that is the branch's own was said, in Unix ms: 0 if there is none.
type WorkedBranch struct {
	IndexedBranch
	Project string
	Agent   bool // of a sub-agent
	Current bool // it is the branch that the conversation stands on
	At      int64
}
