package kept

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/same"
)

// Settle says which of the sentences that are kept of a conversation still stand. It takes the rows
// of a path (see [scrollback.Kept]) and returns one entry for each sentence of each message, by
// seq, in its state: done where a later message says so, withdrawn where a later one takes it back,
// and whatever a person said of it last, if the talk did not go on about it since. A sentence
// that was said again stands in each place, in the same state.
func Settle(rows []scrollback.Kept) []scrollback.Kept {
	return NewSettler().Settle(rows)
}

// Settler settles the rows of one conversation several times. It reads each sentence once, and goes on where the
// rows are those of the last time and more, whatever was left out of these. It is safe for concurrent use. A nil one
// remembers nothing.
type Settler struct {
	mu         sync.Mutex // of all that follows
	times      int        // it has settled
	statements readTexts[*statement]
	todos      readTexts[openTodo] // without places
	news       readTexts[[]newsSentence]
	last       talk
	compared   int // pairs of sentences, ever
}

// readTexts are sentences as they were read.
type readTexts[T any] map[string]*readText[T]

// readText is a sentence as it was read, and the last time that it was needed.
type readText[T any] struct {
	is T
	at int
}

// find returns what a sentence is read as, and notes the time.
func (r readTexts[T]) find(text string, now int, read func(string) T) T {
	known := r[text]
	if known == nil {
		known = &readText[T]{is: read(text)}
		r[text] = known
	}
	known.at = now
	return known.is
}

// maxUnneeded bounds how many sentences are remembered beside those that were needed the last time.
const maxUnneeded = 4096

// forget leaves out what was not needed at a time, if there is much.
func (r readTexts[T]) forget(now int) {
	if len(r) > maxUnneeded {
		maps.DeleteFunc(r, func(_ string, known *readText[T]) bool { return known.at != now })
	}
}

// talk is a talk as it was read: its entries, what took back or replaced which of them, and what stands at its end.
type talk struct {
	entries  []settledEntry
	outcomes []outcome
	standing *standing
	slots    []int // of the entries in standing, or -1
}

// settledEntry is which entry one is.
type settledEntry struct {
	id   scrollback.KeptID
	seq  int64
	role scrollback.Role
}

// outcome says that one entry ended another.
type outcome struct{ by, at int }

// NewSettler makes a settler.
func NewSettler() *Settler {
	return &Settler{statements: readTexts[*statement]{}, todos: readTexts[openTodo]{},
		news: readTexts[[]newsSentence]{}}
}

// Settle is [Settle].
func (r *Settler) Settle(rows []scrollback.Kept) []scrollback.Kept {
	entries, _ := r.SettleEnds(rows)
	return entries
}

// SettleEnds is Settle, and returns the sentences besides that have ended something.
func (r *Settler) SettleEnds(rows []scrollback.Kept) (entries, ends []scrollback.Kept) {
	if r == nil {
		r = NewSettler()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times++
	s := &settling{Settler: r, at: make(map[scrollback.KeptID]int, len(rows)),
		entries: make([]scrollback.Kept, 0, len(rows))}
	var people []scrollback.Kept
	for _, k := range rows {
		if k.Change != "" {
			people = append(people, k)
		}
		if _, known := s.at[k.ID]; known {
			continue
		}
		s.at[k.ID] = len(s.entries)
		entry := k
		entry.State = scrollback.KeptOpen
		entry.Change = ""
		s.entries = append(s.entries, entry)
	}
	slices.SortStableFunc(s.entries, func(a, b scrollback.Kept) int { // of one message whatever its id is
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Text, b.Text), compareEnds(a.Kind, b.Kind))
	})
	s.endedAt = make([]int64, len(s.entries))
	s.ends = make([]bool, len(s.entries))
	for i := range s.entries {
		s.at[s.entries[i].ID] = i
	}
	s.readTodos()
	s.readTalk()
	s.applyPeople(people)
	r.statements.forget(r.times)
	r.todos.forget(r.times)
	r.news.forget(r.times)
	for i := range s.entries {
		if k := &s.entries[i]; k.Kind == End && s.ends[i] {
			ends = append(ends, *k)
		}
	}
	return slices.DeleteFunc(s.entries, func(k scrollback.Kept) bool { return k.Kind == End }), ends
}

// compareEnds puts a sentence that only ends others behind the same one that is kept.
func compareEnds(a, b scrollback.KeptKind) int {
	switch {
	case a == b || a != End && b != End:
		return 0
	case a == End:
		return 1
	}
	return -1
}

// KeyOf returns what two sentences have in common that say the same.
func KeyOf(k scrollback.Kept) string {
	if k.Kind == scrollback.KeptTodo {
		if key := TodoKey(k.Text); key != "" {
			return "todo " + key
		}
	}
	return string(k.Kind) + " " + same.NormalForm(k.Text)
}

// settling is the work of Settle.
type settling struct {
	*Settler
	entries []scrollback.Kept
	at      map[scrollback.KeptID]int
	endedAt []int64 // when the talk ended an entry; 0 if it did not
	ends    []bool  // which entries ended others
}

func (s *settling) end(e outcome, state scrollback.KeptState) {
	s.entries[e.at].State = state
	s.endedAt[e.at] = s.entries[e.by].CreatedAt
	s.ends[e.by] = true
}

// messageEnd returns the place behind the entries of the message that an entry is of.
func (s *settling) messageEnd(from int) int {
	to := from + 1
	for to < len(s.entries) && s.entries[to].Seq == s.entries[from].Seq {
		to++
	}
	return to
}

// readTodos ends the to-dos that the messages say are done; a message ends only what was said before it. What one
// sentence ends depends on all that is open by then, so the whole talk is gone through each time: what its sentences
// say is known, and most say nothing of the kind.
func (s *settling) readTodos() {
	var todos Todos
	for from := 0; from < len(s.entries); {
		to := s.messageEnd(from)
		for i := from; i < to; i++ {
			k := &s.entries[i]
			if !todos.mayClose(k.Role) {
				continue
			}
			for _, at := range todos.closedIn(k.Role, s.news.find(k.Text, s.times, readNews)) {
				s.end(outcome{i, at}, scrollback.KeptDone)
			}
		}
		for i := from; i < to; i++ {
			if k := &s.entries[i]; k.Kind == scrollback.KeptTodo {
				todos.add(s.todos.find(k.Text, s.times, readTodo), i)
			}
		}
		from = to
	}
}

// readTalk ends the traits and instructions that the messages take back or replace; a message ends only what was said
// before it. Whether one sentence ends another depends on these two alone, so that what ended what the last time does
// so again where both are still there.
func (s *settling) readTalk() {
	known := s.matchLast()
	for _, e := range known.outcomes {
		s.end(e, scrollback.KeptWithdrawn)
	}
	if known.to == len(s.entries) { // nothing came that may end what stands
		return
	}
	next := talk{make([]settledEntry, len(s.entries)), known.outcomes, s.last.standing, known.slots}
	for i := range s.entries {
		k := &s.entries[i]
		next.entries[i] = settledEntry{k.ID, k.Seq, k.Role}
	}
	if known.whole {
		next.standing.drop(known.gone)
	} else {
		next.standing = newStanding()
		next.slots = make([]int, 0, len(s.entries))
		for i := range known.to {
			next.slots = append(next.slots, s.stand(next.standing, i))
		}
	}
	for from := known.to; from < len(s.entries); {
		to := s.messageEnd(from)
		for i := from; i < to; i++ {
			k := &s.entries[i]
			if k.Kind == scrollback.KeptTodo || k.Role != scrollback.RoleUser {
				continue
			}
			now := s.statements.find(k.Text, s.times, makeStatement)
			if !now.mayWithdraw() {
				continue
			}
			for _, id := range next.standing.takeReplaced(now, &s.compared) {
				e := outcome{i, s.at[id]}
				s.end(e, scrollback.KeptWithdrawn)
				next.outcomes = append(next.outcomes, e)
			}
		}
		for i := from; i < to; i++ {
			next.slots = append(next.slots, s.stand(next.standing, i))
		}
		from = to
	}
	next.tidy()
	s.last = next
}

// stand adds an entry to those that stand, and returns its slot; -1 if it has ended, or cannot be replaced.
func (s *settling) stand(among *standing, i int) int {
	k := &s.entries[i]
	if k.Kind != scrollback.KeptTrait && k.Kind != scrollback.KeptInstruction || k.State != scrollback.KeptOpen {
		return -1
	}
	return among.add(k.ID, s.statements.find(k.Text, s.times, makeStatement))
}

// knownTalk is what is known of the entries up to a place from the last time.
type knownTalk struct {
	to       int
	outcomes []outcome
	slots    []int
	whole    bool  // nothing else was read then but what is gone, so that what stood then still does
	gone     []int // slots
}

// matchLast finds what is known from the last time. What is gone since takes nothing else with it, unless it ended
// something: then all from its message on is unknown.
func (s *settling) matchLast() (out knownTalk) {
	was := s.last.entries
	places := make([]int, len(was)) // among the entries; -1 for what is gone
	ended := s.last.outcomes        // by what ended, ascending
	i := 0
	for ; i < len(was) && out.to < len(s.entries); i++ {
		places[i] = -1
		isHere := s.isAt(&was[i], out.to)
		if isHere {
			places[i] = out.to
			out.slots = append(out.slots, s.last.slots[i])
			out.to++
		} else if at, known := s.at[was[i].id]; known && s.isAt(&was[i], at) { // something came before it
			break
		} else if slot := s.last.slots[i]; slot >= 0 {
			out.gone = append(out.gone, slot)
		}
		missed := false
		for ; len(ended) > 0 && ended[0].by == i; ended = ended[1:] {
			if at := places[ended[0].at]; at >= 0 && isHere {
				out.outcomes = append(out.outcomes, outcome{places[i], at})
			} else {
				missed = missed || at >= 0
			}
		}
		if missed {
			break
		}
	}
	out.whole = i == len(was) && i > 0
	if n := out.to; n > 0 && n < len(s.entries) && s.entries[n].Seq == s.entries[n-1].Seq { // of a message only a part
		out.cut(s.messageStart(n))
	}
	return out
}

// isAt reports whether an entry of the last time is at a place.
func (s *settling) isAt(was *settledEntry, at int) bool {
	k := &s.entries[at]
	return k.ID == was.id && k.Seq == was.seq && k.Role == was.role
}

// messageStart returns the place of the first entry of the message that an entry is of.
func (s *settling) messageStart(at int) int {
	for at > 0 && s.entries[at-1].Seq == s.entries[at].Seq {
		at--
	}
	return at
}

// cut leaves only what is known up to a place.
func (k *knownTalk) cut(to int) {
	k.to = to
	k.slots = k.slots[:to]
	k.outcomes = slices.DeleteFunc(k.outcomes, func(e outcome) bool { return e.by >= to })
	k.whole = false
}

// applyPeople applies what people said of sentences, one after the other, wherever these were said.
func (s *settling) applyPeople(said []scrollback.Kept) {
	if len(said) == 0 {
		return
	}
	same := map[string][]int{}
	keys := make([]string, len(s.entries))
	for i := range s.entries {
		keys[i] = KeyOf(s.entries[i])
		same[keys[i]] = append(same[keys[i]], i)
	}
	for _, k := range said {
		for _, i := range same[keys[s.at[k.ID]]] {
			if k.State != scrollback.KeptOpen || s.endedAt[i] <= k.CreatedAt {
				s.entries[i].State = k.State
			}
		}
	}
}

// standing are the statements that stand, by what a later one must share with them to replace them.
type standing struct {
	all    []standingOne
	alive  int
	named  map[string][]*standingName // by how they begin
	valued []int                      // slots of those that have one of several values
	round  int
}

// standingOne is a statement that stands, or stood, in its slot. Shared is how many of its names the statement has
// that is compared in a round.
type standingOne struct {
	id            scrollback.KeptID
	of            *statement // nil if it no longer stands
	round, shared int
}

// standingName is a name, and the slots of the statements that have it, once for each time.
type standingName struct {
	text   string
	common bool
	slots  []int
}

func newStanding() *standing { return &standing{named: map[string][]*standingName{}} }

// add adds a statement, and returns its slot.
func (t *standing) add(id scrollback.KeptID, s *statement) int {
	slot := len(t.all)
	t.all = append(t.all, standingOne{id: id, of: s})
	t.alive++
	for _, w := range s.names {
		name := t.findName(w.text)
		name.slots = append(name.slots, slot)
	}
	if s.hasValue() {
		t.valued = append(t.valued, slot)
	}
	return slot
}

func (t *standing) findName(text string) *standingName {
	begin := beginOf(text)
	for _, name := range t.named[begin] {
		if name.text == text {
			return name
		}
	}
	name := &standingName{text: text, common: common()[text]}
	t.named[begin] = append(t.named[begin], name)
	return name
}

// drop takes out the statements in some slots.
func (t *standing) drop(slots []int) {
	for _, slot := range slots {
		if t.all[slot].of != nil {
			t.all[slot].of = nil
			t.alive--
		}
	}
}

// takeReplaced takes out the statements that a later one replaces, and returns their ids. It adds to compared how many
// it was compared with.
func (t *standing) takeReplaced(now *statement, compared *int) (ids []scrollback.KeptID) {
	t.round++
	var some []int
	find := func(slot, shared int) {
		one := &t.all[slot]
		if one.of == nil {
			return
		}
		if one.round != t.round {
			one.round = t.round
			one.shared = 0
			some = append(some, slot)
		}
		one.shared += shared
	}
	for begin := range now.index {
		for _, name := range t.named[begin] {
			if !now.index.has(name.text) {
				continue
			}
			shared := 1
			if name.common {
				shared = 0
			}
			for _, slot := range name.slots {
				find(slot, shared)
			}
		}
	}
	for _, slot := range t.valued {
		find(slot, 0)
	}
	slices.Sort(some)
	*compared += len(some)
	for _, slot := range some {
		if one := &t.all[slot]; now.replacesSharing(one.of, one.shared) {
			ids = append(ids, one.id)
			one.of = nil
			t.alive--
		}
	}
	return ids
}

// leastTidied is how many slots there may be, however few of them stand.
const leastTidied = 256

// tidy makes the slots fewer if most of what is in them no longer stands.
func (t *talk) tidy() {
	was := t.standing
	if len(was.all) < max(leastTidied, 2*was.alive) {
		return
	}
	t.standing = newStanding()
	for i, slot := range t.slots {
		if slot < 0 {
			continue
		}
		t.slots[i] = -1
		if one := was.all[slot]; one.of != nil {
			t.slots[i] = t.standing.add(one.id, one.of)
		}
	}
}
