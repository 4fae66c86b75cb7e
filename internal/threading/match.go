package threading

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Purpose says what a request is for.
type Purpose string

// The purposes of requests.
const (
	Turn       Purpose = "turn"       // somebody said something new
	ToolStep   Purpose = "tool step"  // results of tools
	Retry      Purpose = "retry"      // the same again, for there is no finished answer
	Regenerate Purpose = "regenerate" // the same again for another answer
	Join       Purpose = "join"       // the same while Earlier runs: its answer is this one's too
	Replay     Purpose = "replay"     // the same again: the answer of Earlier is sent, without a call
	Refuse     Purpose = "refuse"     // the same too often: 429, with RetryAfter
	SideCall   Purpose = "side call"  // no turn: named by Side
	WarmUp     Purpose = "warm-up"    // no answer is wanted
)

// Course says how the path of a request goes on.
type Course string

// The courses of paths.
const (
	Begins    Course = "begins"    // a thread that the client did not name, or names for the first time
	NewLane   Course = "new lane"  // another thread under a name that has threads
	Continues Course = "continues" // behind what was said last
	Trimmed   Course = "trimmed"   // the same, but the history begins with atoms that are new
	Branches  Course = "branches"  // behind something that others stand behind already: the past was edited
	Forks     Course = "forks"     // a new thread under another name, whose past is in the one it forks
	Compacted Course = "compacted" // behind the end; the client put a summary in the place of its history
	Chained   Course = "chained"   // behind the answer or at the end of the conversation that was named
	Unknown   Course = "unknown"   // behind the end of the named thread, though nothing of the history is known
)

// Match is what a request was found to be.
type Match struct {
	Purpose Purpose
	Course  Course
	// Thread is the one that it goes on with, empty if Begin makes a new one. Of a side call it is the one that it
	// is about, if that is known.
	Thread ThreadID
	// Base is the place behind which New comes. It is zero where a thread begins.
	Base Place
	// New are the atoms that are not stored yet, in their order, each with the items that it was made of.
	New []Atom
	// Sent is how many atoms the request has up to Base, those that are stored. From is the item behind the last of
	// them: the context and the thinking from it on are new too.
	Sent int
	From int
	// Known are items from From on that are stored already: what a client keeps of its history behind a summary.
	Known []int
	// Adopted is how many of New belong to a past that we never answered: those before its last turn.
	Adopted int
	// Less says that the client sends less than it once had: it compacted, or its history was cut.
	Less bool
	// Fork is the thread that a new one forks, Parent the one that it is a sub-agent of.
	Fork   ThreadID
	Parent ThreadID
	// Side is the name of a side call. Summary says that its answer may take the place of a history.
	Side    string
	Summary bool
	// Late are results behind Base that such a history has and that no turn has brought: a client that compacts in the
	// middle of a round of tools sends them in its request for the summary alone.
	Late []Atom
	// Compaction is what the client did to its history, if this request shows it first: by our answer to a side call,
	// or by a summary that we did not make.
	Compaction *ClientCompaction
	// Leaf says that the request is a turn beside the path: it has the name of a thread, but neither its history nor
	// its tools. Leaves are requests that are leaves from now on.
	Leaf   bool
	Leaves []RequestID
	// Earlier is the request that is joined or whose answer is sent again.
	Earlier *RequestRow
	// RetryAfter is set if the purpose is Refuse.
	RetryAfter time.Duration
	// UnknownChain says that the answer or conversation that the request goes on from is not known.
	UnknownChain bool

	request *Request
	scope   Scope
	row     RequestRow
	thread  *ThreadRow
	rolling Hash // of the path up to Base
	answers int  // on it
	free    bool // whether the next place of Base's branch is free
	named   bool // whether the thread has the request's name already
	answer  *AnswerRow
}

// ClientCompaction is a client's own compaction.
type ClientCompaction struct {
	// Summary is the summary in normal form, as we answered it. It is empty if an item of ours came back, or if somebody
	// else made it.
	Summary string
	// Request is the side call that made it, empty if that is not known.
	Request RequestID
	// Quoted is the item of the request that quotes it, or that is the item.
	Quoted int
	// Through is the last place of the path that the client left out: what follows up to Base was sent again.
	Through Place
}

// Matcher finds the thread of requests. It is used by many at once.
type Matcher struct {
	Index Index
	Table *Table
}

// maxLanes is how many threads of one name are looked at: the first, and the newest ones.
const maxLanes = 64

// search is the work on one request.
type search struct {
	*Matcher
	history
	scope    Scope
	request  *Request
	lanes    []ThreadRow
	lineages map[BranchID][]Reach
}

// Match returns what a request is, at a time. It fails only where the index does.
func (m *Matcher) Match(ctx context.Context, scope Scope, r *Request, now time.Time) (*Match, error) {
	h := m.Table.takeApart(r.System, r.Items)
	s := &search{Matcher: m, history: h, scope: scope, request: r, lineages: map[BranchID][]Reach{}}
	out := &Match{request: r, scope: scope, New: h.atoms}
	out.row = RequestRow{Scope: scope, Atoms: len(h.atoms), Body: HashOf(r.Body.String(), r.Name),
		Profile: s.profile(), State: Running, At: now}
	if len(h.rolling) > 0 {
		out.row.Rolling = h.rolling[len(h.rolling)-1]
	}
	if done, err := s.findSame(ctx, out, now); done || err != nil {
		return out, err
	}
	side := m.Table.recognise(r, h)
	if side.name == "" && !m.Table.isTurn(r) {
		quotes, err := s.quotesAnswers(ctx)
		if err != nil {
			return nil, err
		}
		if quotes {
			side = sideCall{name: sideSummary, summary: true}
		}
	}
	if err := s.findLanes(ctx); err != nil {
		return nil, err
	}
	if side.name != "" {
		return out, s.describeSideCall(ctx, out, side)
	}
	found, err := s.findChain(ctx, out)
	if err != nil {
		return nil, err
	}
	if !found {
		if err := s.findPath(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, s.complete(ctx, out)
}

// profile returns a hash of the model, the tools, and the beginning of the instructions; behind that clients write the
// time and the state of a repository.
func (s *search) profile() Hash {
	tools := slices.Clone(s.request.Tools)
	slices.Sort(tools)
	instructions := ""
	for _, text := range s.context {
		if !s.Table.isContext(text) {
			words := strings.Fields(text)
			instructions = strings.Join(words[:min(len(words), 24)], " ")
			break
		}
	}
	return HashOf(s.request.Model, instructions, strings.Join(tools, "\n"))
}

// findLanes reads the threads of the request's name.
func (s *search) findLanes(ctx context.Context) error {
	name := s.name()
	if name == "" {
		return nil
	}
	if s.request.Explicit { // it may be the thread's own id
		_, id, _ := strings.Cut(name, ":")
		thread, err := s.Index.Thread(ctx, ThreadID(id))
		if err != nil {
			return err
		}
		if thread != nil && thread.Scope.Project == s.scope.Project {
			s.lanes = []ThreadRow{*thread}
			return nil
		}
	}
	lanes, err := s.Index.Named(ctx, nameScope(s.scope, s.request), name, maxLanes)
	if s.request.Explicit && len(lanes) > 1 {
		lanes = lanes[:1]
	}
	s.lanes = lanes
	return err
}

// nameScope returns the scope in which a request's name counts: an explicit one in its whole project.
func nameScope(scope Scope, r *Request) Scope {
	if r.Explicit {
		scope.Caller = ""
	}
	return scope
}

// name returns the name under which the request's thread is known.
func (s *search) name() string { return nameOf(s.request) }

func nameOf(r *Request) string {
	if r.Conversation != "" && r.Chain == "" {
		return ConversationName(r.Conversation)
	}
	return r.Name
}

// isNameless reports whether nothing says which conversation the request is of.
func (s *search) isNameless() bool { return s.name() == "" || s.request.Weak }

// forks reports whether a thread that the request goes on with is forked by that, for its name is a new one.
func (s *search) forks() bool { return !s.isNameless() && len(s.lanes) == 0 }

// inLanes reports whether the request's name has named a thread.
func (s *search) inLanes(id ThreadID) bool {
	return slices.ContainsFunc(s.lanes, func(t ThreadRow) bool { return t.ID == id })
}

// findChain finds the place that a request names, and reports whether there is one.
func (s *search) findChain(ctx context.Context, out *Match) (bool, error) {
	r := s.request
	switch {
	case r.Chain != "":
		row, err := s.Index.Answer(ctx, s.scope, r.Chain)
		if err != nil {
			return false, err
		}
		if row == nil || row.Empty {
			out.UnknownChain = row == nil
			return false, nil
		}
		thread, err := s.Index.Thread(ctx, row.Thread)
		if err != nil || thread == nil {
			return false, err
		}
		resent, err := s.resends(ctx, thread)
		if resent || err != nil {
			s.lanes = []ThreadRow{*thread}
			return false, err
		}
		out.thread = thread
		out.Base = row.Place
	case r.Conversation != "" && len(s.lanes) > 0:
		out.thread = &s.lanes[0]
		out.Base = out.thread.Tip
		newest, err := s.Index.Request(ctx, out.thread.Newest)
		if err != nil {
			return false, err
		}
		if newest != nil && newest.State != Finished {
			out.Base = newest.Base // what failed may be said again
		}
	default:
		return false, nil
	}
	out.Course = Chained
	for len(out.New) > 0 {
		following, err := s.Index.Following(ctx, out.Base, maxFollowing)
		if err != nil {
			return false, err
		}
		at := slices.IndexFunc(following, func(row AtomRow) bool {
			return row.Thread == out.thread.ID && out.New[0].equals(row)
		})
		if at < 0 {
			break
		}
		out.Base = following[at].Place
		out.New = out.New[1:]
	}
	if r.Conversation != "" && len(out.New) > 0 && out.Base != out.thread.Tip {
		newest, err := s.Index.Request(ctx, out.thread.Newest)
		if err != nil {
			return false, err
		}
		if newest != nil && out.Base == newest.Base {
			out.Base = out.thread.Tip // something else is said instead of what failed
		}
	}
	return true, nil
}

// resends reports whether a request that names an answer of a thread has the history of the thread all the same.
func (s *search) resends(ctx context.Context, thread *ThreadRow) (bool, error) {
	if !slices.ContainsFunc(s.atoms, func(a Atom) bool { return a.Role == Assistant }) {
		return false, nil
	}
	best, err := s.align(ctx, thread)
	return best != nil && best.ours, err
}

// maxFollowing is how many atoms behind a place are looked at.
const maxFollowing = 64

// findPath finds the path by the history.
func (s *search) findPath(ctx context.Context, out *Match) error {
	going, err := s.findNewest(ctx)
	if err != nil {
		return err
	}
	if going != nil {
		out.thread = going.thread
		out.Base = going.node.Place
		out.New = s.atoms[going.end+1:]
		out.Sent = going.end + 1
		out.From = s.atoms[going.end].Last + 1
		out.Course = Continues
		return nil
	}
	if err := s.separate(ctx); err != nil {
		return err
	}
	best, err := s.findBest(ctx)
	if err != nil {
		return err
	}
	if done, err := s.findCompaction(ctx, best, out); done || err != nil {
		return err
	}
	if best == nil || !best.ours {
		if done, err := s.findUnnoticed(ctx, best, out); done || err != nil {
			return err
		}
	}
	if best != nil {
		if done, err := s.follow(ctx, best, out); done || err != nil {
			return err
		}
	}
	s.begin(out)
	return nil
}

// begin is for a request whose history is not known.
func (s *search) begin(out *Match) {
	out.New = s.atoms
	if len(s.lanes) == 0 || s.request.Weak {
		out.Course = Begins
		return
	}
	first := &s.lanes[0]
	switch {
	case said(s.atoms):
		// A history under a known name: the client has compacted it by a call that nobody recognised.
		out.Course = Unknown
		out.thread = first
		out.Base = first.Tip
		out.Less = true
	case s.request.OwnID() == first.ID: // who names it by its id goes on behind its newest message
		out.Course = Unknown
		out.thread = first
		out.Base = first.Tip
		out.Less = first.Tip != first.Root
	case s.request.Explicit:
		out.Course = Branches
		out.thread = first
		out.Base = first.Root
	case len(s.request.Tools) == 0 && first.Tools:
		out.Course = Branches
		out.thread = first
		out.Base = first.Root
		out.Leaf = true
	default:
		out.Course = NewLane
	}
}

// follow goes on with the thread whose path fits best, and reports whether that is evidence enough.
func (s *search) follow(ctx context.Context, best *fit, out *Match) (bool, error) {
	node := best.node
	thread := best.thread
	following, err := s.Index.Following(ctx, node.Place, maxFollowing)
	if err != nil {
		return false, err
	}
	if !best.ours {
		if best.ours, err = s.quotesSummary(ctx, best); err != nil {
			return false, err
		}
	}
	open := !slices.ContainsFunc(following, func(row AtomRow) bool { return !row.Partial })
	switch {
	case s.inLanes(thread.ID) && !s.request.Weak:
	case best.ours:
	case s.isNameless() && open && best.first == 0 && thread.Open == 0:
		// The first prompt again, behind which there is at most the beginning of an answer.
	default:
		return false, nil
	}
	out.thread = thread
	out.Course = Continues
	out.New = s.atoms[best.end+1:]
	out.Sent = best.matched
	out.From = s.atoms[best.end].Last + 1
	base := node
	if len(out.New) > 0 && out.New[0].Role == User {
		if base, following, err = s.passUnsent(ctx, base, best); err != nil {
			return false, err
		}
	}
	if best.first > 0 {
		summary, err := s.summaryBehind(ctx, following, thread, best.first)
		if err != nil {
			return false, err
		}
		if summary != nil {
			base = *summary
			if following, err = s.Index.Following(ctx, base.Place, maxFollowing); err != nil {
				return false, err
			}
		}
	}
	out.Base = base.Place
	forks := s.forks()
	knows := thread
	if forks {
		knows = &ThreadRow{Root: out.Base, Ancestors: append([]ThreadID{thread.ID}, thread.Ancestors...)}
	}
	before, _, err := s.unknown(ctx, s.atoms[:best.first], knows)
	if err != nil {
		return false, err
	}
	if len(before) > 0 {
		out.Course = Trimmed
	}
	if len(before) > 0 && best.start.Seq > 1 {
		lineage, err := s.lineage(ctx, best.start)
		if err != nil {
			return false, err
		}
		out.Compaction = &ClientCompaction{Quoted: before[0].First, Through: stepBack(lineage, best.start)}
	}
	beside, err := s.inherited(ctx, following, thread)
	if err != nil {
		return false, err
	}
	if len(out.New) > 0 && len(beside) > 0 {
		out.Course = Branches
	}
	out.New = slices.Concat(before, out.New)
	if forks {
		out.Course = Forks
		out.Fork = thread.ID
	}
	return true, nil
}

// quotesSummary reports whether a history begins with a summary of ours that is in the thread, though not on the path.
func (s *search) quotesSummary(ctx context.Context, best *fit) (bool, error) {
	a := s.newAlignment(best.thread, s.atoms[:min(best.first, summaryAtoms)])
	for i := range a.atoms {
		rows, err := a.at(ctx, i)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(rows, func(row AtomRow) bool { return row.Ours }) {
			return true, nil
		}
	}
	return false, nil
}

// isFinishedAnswer reports whether an atom is of an answer that was not interrupted.
func isFinishedAnswer(row AtomRow) bool { return row.Role == Assistant && !row.Partial }

// passUnsent returns the last atom of the answers behind a base that the client did not send again, and what follows.
func (s *search) passUnsent(ctx context.Context, base AtomRow, best *fit) (AtomRow, []AtomRow, error) {
	for {
		following, err := s.Index.Following(ctx, base.Place, maxFollowing)
		if err != nil {
			return base, nil, err
		}
		next, err := s.unsentAnswer(ctx, base, following, best)
		if next == nil || err != nil {
			return base, following, err
		}
		base = *next
	}
}

// unsentAnswer returns the first atom of an answer behind a base that the client did not send again, or nil: what is
// left of the answer that the base is of, or the newest one. Where others have gone on behind the answer, and the base
// is not on the way to the end of the thread, the client has edited the past instead, unless the history does not begin
// with that of the path.
func (s *search) unsentAnswer(ctx context.Context, base AtomRow, following []AtomRow, best *fit) (*AtomRow, error) {
	thread := best.thread
	var newest *AtomRow
	partial := false
	wentOn := false
	own, err := s.inherited(ctx, following, thread)
	if err != nil {
		return nil, err
	}
	for _, row := range own {
		if row.Role != Assistant && row.Role != Tool {
			continue
		}
		if base.Ours && row.Ours && row.Request == base.Request {
			return &row, nil
		}
		partial = partial || row.Partial
		if newest == nil || row.Order > newest.Order {
			newest = &row
		}
		behind, err := s.behindAnswer(ctx, row)
		if err != nil {
			return nil, err
		}
		wentOn = wentOn || slices.ContainsFunc(behind, func(a AtomRow) bool { return a.Role == User })
	}
	if wentOn && !partial && best.first == 0 {
		onTip, err := s.onPath(ctx, base.Place, thread.Tip)
		if err != nil || !onTip {
			return nil, err
		}
	}
	return newest, nil
}

// behindAnswer returns what stands behind the last atom of an answer that begins with one.
func (s *search) behindAnswer(ctx context.Context, first AtomRow) ([]AtomRow, error) {
	behind, err := s.Index.Following(ctx, first.Place, maxFollowing)
	for range maxFollowing {
		next := slices.IndexFunc(behind, func(row AtomRow) bool { return row.Ours && row.Request == first.Request })
		if next < 0 || err != nil {
			break
		}
		behind, err = s.Index.Following(ctx, behind[next].Place, maxFollowing)
	}
	return behind, err
}

// summaryBehind returns what stands behind the base and before it in the request: a summary, with which the client kept
// the end of its history. What follows in the request comes behind it.
func (s *search) summaryBehind(ctx context.Context, following []AtomRow, thread *ThreadRow, first int) (*AtomRow,
	error) {
	var summary *AtomRow
	for range maxSummaries {
		own, err := s.inherited(ctx, following, thread)
		if err != nil {
			return nil, err
		}
		next := slices.IndexFunc(own, func(row AtomRow) bool {
			return slices.ContainsFunc(s.atoms[:first], func(a Atom) bool { return a.equals(row) })
		})
		if next < 0 {
			break
		}
		summary = &own[next]
		if following, err = s.Index.Following(ctx, summary.Place, maxFollowing); err != nil {
			return nil, err
		}
	}
	return summary, nil
}

// known returns the items from where the new ones begin that are of no new atom.
func (s *search) known(out *Match) (items []int) {
	for _, a := range s.atoms {
		if a.First < out.From || slices.ContainsFunc(out.New, func(n Atom) bool { return n.First == a.First }) {
			continue
		}
		for i := a.First; i <= a.Last; i++ {
			items = append(items, i)
		}
	}
	return items
}

// complete fills in what follows from the path.
func (s *search) complete(ctx context.Context, out *Match) error {
	out.Known = s.known(out)
	if out.Course != Forks && out.thread != nil {
		out.Thread = out.thread.ID
	}
	out.named = out.thread != nil && s.inLanes(out.thread.ID)
	out.row.Base = out.Base
	if out.thread == nil {
		out.Purpose = purposeOf(out.New)
		out.Adopted = countPast(out.New)
		return s.findParent(ctx, out)
	}
	out.row.Overlap = out.thread.Open > 0 && out.Course != Forks
	base, err := s.Index.At(ctx, out.Base)
	if err != nil {
		return err
	}
	following, err := s.Index.Following(ctx, out.Base, maxFollowing)
	if err != nil {
		return err
	}
	next := Place{out.Base.Branch, out.Base.Seq + 1}
	out.free = !slices.ContainsFunc(following, func(row AtomRow) bool { return row.Place == next }) &&
		(base == nil || base.Thread == out.thread.ID) && out.Course != Forks
	inThread := slices.ContainsFunc(following, func(row AtomRow) bool { return row.Thread == out.thread.ID })
	out.row.Beside = inThread && len(out.New) > 0
	out.Purpose = purposeOf(out.New)
	out.Adopted = countPast(out.New)
	if base != nil {
		out.rolling = base.Rolling
		out.answers = base.Answers
	}
	switch {
	case len(out.New) > 0:
	case slices.ContainsFunc(following, isFinishedAnswer):
		out.Purpose = Regenerate
	case base == nil || base.Role != Assistant || base.Partial:
		out.Purpose = Retry // else there is only context behind an answer
	}
	if out.Course == Forks {
		if err := s.findParent(ctx, out); err != nil {
			return err
		}
	}
	if base == nil {
		return nil
	}
	return s.compareWithBefore(ctx, out, base)
}

// findParent finds the thread that a new one is a sub-agent of.
func (s *search) findParent(ctx context.Context, out *Match) error {
	if s.request.Parent == "" {
		return nil
	}
	parents, err := s.Index.Named(ctx, s.scope, s.request.Parent, 1)
	if len(parents) > 0 {
		out.Parent = parents[0].ID
	}
	return err
}

// compareWithBefore compares a request with the one that brought the base.
func (s *search) compareWithBefore(ctx context.Context, out *Match, base *AtomRow) error {
	before, err := s.Index.Request(ctx, base.Request)
	if err != nil || before == nil {
		return err
	}
	if out.Course != Chained {
		out.Less = out.Less || before.Less || before.Atoms > out.Sent
	}
	out.row.Less = out.Less
	if out.Course == Forks {
		return nil
	}
	return s.findLeaves(ctx, out, before)
}

// purposeOf returns what new atoms are for.
func purposeOf(atoms []Atom) Purpose {
	results := false
	for _, a := range slices.Backward(atoms) {
		if a.Role == User {
			return Turn
		}
		if a.Role == Assistant {
			break
		}
		results = results || a.Kind == Result
	}
	if results {
		return ToolStep
	}
	return Turn
}

// countPast returns how many atoms stand before the last turn: up to the last that the model said, and before.
func countPast(atoms []Atom) int {
	for i, a := range slices.Backward(atoms) {
		if a.Role == Assistant {
			return i + 1
		}
	}
	return 0
}
