package threading

import (
	"context"
	"slices"
	"time"
)

// Scope says whose threads a request may meet: those of one caller in one project. Threads of two
// scopes never meet.
type Scope struct {
	Project string
	Caller  string
}

// These name what is stored. Their makers choose them; here they are only compared.
type (
	ThreadID  string
	RequestID string
	BranchID  string
)

// Place is where an atom is: the Seq-th atom of every path that leads through it. A root has the Seq 0
// and no atom.
type Place struct {
	Branch BranchID
	Seq    int
}

// Reach is a branch, and how far a path follows it.
type Reach = Place

// AtomRow is a stored atom. A driver has it by place (its key), by parent, and by each of the three
// anchors Key, Call and Quote.Anchor, all within the scope and within a thread.
type AtomRow struct {
	Place  Place
	Parent Place // Seq is one less; a first atom has the root of its thread, or the place of the fork
	Thread ThreadID
	// Request is the one that brought it, or whose answer it is.
	Request RequestID
	// Message is what keeps it, as the store names that; empty where nothing does. Threading only carries it.
	Message string
	Role    Role
	Kind    Kind
	Key     Hash
	Call    Hash
	Quote   Quote
	// Rolling is the rolling hash of the path up to here, Answers how many of its atoms are of answers of ours.
	Rolling Hash
	Answers int
	// Ours says that it is of an answer of ours, or quotes a summary of ours.
	Ours bool
	// Partial says that it is of an interrupted answer; Text is then its normal form, else empty.
	Partial bool
	Text    string
	// Order grows with each atom that is stored.
	Order int64
}

// RequestRow is a request that was threaded. A driver has it by id, by scope and rolling hash, by scope and body,
// and by thread and base, in each newest first.
type RequestRow struct {
	ID     RequestID
	Scope  Scope
	Thread ThreadID // empty if it is a side call whose thread is not known
	// Atoms is how many atoms it had, Rolling the rolling hash of all of them.
	Atoms   int
	Rolling Hash
	Body    Hash
	// Profile is a hash of the model, the tools and the instructions.
	Profile Hash
	// Base is the place behind which it went on, End that of its newest atom, Tip that of the end of its answer.
	Base Place
	End  Place
	Tip  Place
	// Side is the name of a side call, which is in no thread's tree.
	Side string
	// Beside says that it went on from a place that had something behind it, Overlap that another request of
	// the thread ran when it came, Leaf that it was found to be one.
	Beside  bool
	Overlap bool
	Leaf    bool
	// Less says that the client sent less than it once had, with this request or before it.
	Less bool

	State     State
	Delivered bool
	// At is when it came, and once it has ended when that was.
	At time.Time
}

// ThreadRow is a thread. A driver has it by id.
type ThreadRow struct {
	ID    ThreadID
	Scope Scope
	// Root is the place behind which its first atoms are: one of its own, or that of the fork in another thread.
	Root Place
	// Ancestors are the threads that it forks, the nearest first.
	Ancestors []ThreadID
	// Tip is the end of what the newest request brought and was answered.
	Tip     Place
	Newest  RequestID
	Dialect Dialect
	// Tools says that a turn of it was offered tools, Parent which thread it is a sub-agent of.
	Tools  bool
	Parent ThreadID
	// Open is how many of its requests run, side calls excepted. A driver counts them; one whose process is gone
	// runs no longer.
	Open int
}

// NameRow says that a name has named a thread. A driver has it by scope and name, in the order in which they came. An
// explicit name has the scope of its project, without a caller.
type NameRow struct {
	Scope  Scope
	Name   string
	Thread ThreadID
}

// SummaryRow is the answer to a side call that may take the place of a history. A driver has it by scope, and by scope
// and name, newest first.
type SummaryRow struct {
	Scope   Scope
	Name    string // of the conversation, as the client called it
	Request RequestID
	Thread  ThreadID // that it summarises; empty if that is not known
	// Place is the end of the history that it summarises, zero if that is not known.
	Place Place
	// Text is the normal form of what was answered, Items the keys of its compaction items.
	Text  string
	Items []Hash
	Order int64
}

// AnswerRow says what an answer's id stands for. A driver has it by scope and id.
type AnswerRow struct {
	Scope  Scope
	ID     string
	Thread ThreadID
	Place  Place
	// Empty says that it answered a warm-up that went on from nothing: a request that goes on from it has its
	// whole history.
	Empty bool
}

// Rows are what a store writes together. Nil and empty ones are left alone; a row that is there is replaced, except
// that atoms are only added, a request that is a leaf stays one, and a name that has named a thread keeps its place.
type Rows struct {
	Thread  *ThreadRow
	Atoms   []AtomRow
	Request *RequestRow
	Name    *NameRow
	Summary *SummaryRow
	Answer  *AnswerRow
	// Leaves are requests that are leaves from now on.
	Leaves []RequestID
}

// Others returns the threads that rows are of and that do not come with them, each once: they are there already.
func (r *Rows) Others() []ThreadID {
	var out []ThreadID
	add := func(id ThreadID) {
		if id != "" && (r.Thread == nil || r.Thread.ID != id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, row := range r.Atoms {
		add(row.Thread)
	}
	if r.Request != nil {
		add(r.Request.Thread)
	}
	if r.Name != nil {
		add(r.Name.Thread)
	}
	if r.Summary != nil {
		add(r.Summary.Thread)
	}
	if r.Answer != nil {
		add(r.Answer.Thread)
	}
	return out
}

// AnchorQuery asks for atoms by their anchors.
type AnchorQuery struct {
	Scope Scope
	// Threads are where to look. If there are none, the whole scope is meant, and only that.
	Threads []ThreadID
	// Anchors are keys, calls or beginnings of quotes, at most 512.
	Anchors []Hash
	// Limit is how many atoms of one anchor are wanted, the newest.
	Limit int
}

// Index is what the matcher asks of a store. Every method is one look-up by an index and returns at most what its
// limit says; what is not there is an empty result and no error. A list begins with the newest, unless said
// otherwise.
//
// Begin and Finish of a match are written in one transaction each. Two requests at once may want the same place: the
// second then fails by the key of atoms, and is matched, or finished, again. That one body runs once at a time is up to
// the caller, who lets those with the same one match one after another.
type Index interface {
	// Thread returns a thread, or nil.
	Thread(ctx context.Context, id ThreadID) (*ThreadRow, error)
	// Named returns the threads that a name has named, in the order in which they came: the first one, and the
	// newest up to the limit.
	Named(ctx context.Context, scope Scope, name string, limit int) ([]ThreadRow, error)
	// Request returns a request, or nil.
	Request(ctx context.Context, id RequestID) (*RequestRow, error)
	// Rolled returns turns whose atoms roll to one of the hashes, at most limit of each.
	Rolled(ctx context.Context, scope Scope, hashes []Hash, limit int) ([]RequestRow, error)
	// Same returns the requests with a body since a time, and those that run, and how often it was asked besides,
	// when nothing was stored.
	Same(ctx context.Context, scope Scope, body Hash, since time.Time, limit int) ([]RequestRow, int, error)
	// Beside returns turns that go on from a place, and turns of the thread that were beside others
	// when they came and are not known to be leaves.
	Beside(ctx context.Context, thread ThreadID, base Place, limit int) ([]RequestRow, error)
	// Anchored returns atoms by their anchors.
	Anchored(ctx context.Context, q AnchorQuery) ([]AtomRow, error)
	// At returns the atom at a place, or nil if it is a root.
	At(ctx context.Context, place Place) (*AtomRow, error)
	// Lineage returns the branches of the path that ends on a branch, from its end to its root, across forks:
	// each with the Seq up to which the path follows it. That of the first is not meant.
	Lineage(ctx context.Context, branch BranchID) ([]Reach, error)
	// Following returns the atoms behind a place, in all threads.
	Following(ctx context.Context, place Place, limit int) ([]AtomRow, error)
	// Partials returns the atoms of interrupted answers of threads.
	Partials(ctx context.Context, threads []ThreadID, limit int) ([]AtomRow, error)
	// Summaries returns the summaries of a name, or of the whole scope if the name is empty.
	Summaries(ctx context.Context, scope Scope, name string, limit int) ([]SummaryRow, error)
	// Answer returns what an answer's id stands for, or nil.
	Answer(ctx context.Context, scope Scope, id string) (*AnswerRow, error)
}
