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
	statements readTexts[*statement]
	todos      readTexts[openTodo] // without places
	news       readTexts[[]newsSentence]
	last       talk
}

// readTexts are sentences as they were read.
type readTexts[T any] map[string]T

// find returns what a sentence is read as.
func (r readTexts[T]) find(text string, read func(string) T) T {
	is, known := r[text]
	if !known {
		is = read(text)
		r[text] = is
	}
	return is
}

// maxOtherTexts bounds how many sentences are remembered beside those of the talk.
const maxOtherTexts = 4096

// forget leaves out the sentences that are not of a talk, if there is much.
func (r readTexts[T]) forget(talk []scrollback.Kept) {
	if len(r) <= maxOtherTexts+len(talk) {
		return
	}
	texts := make(map[string]bool, len(talk))
	for i := range talk {
		texts[talk[i].Text] = true
	}
	maps.DeleteFunc(r, func(text string, _ T) bool { return !texts[text] })
}

// talk is a talk as it was read: its entries, and what stands at its end.
type talk struct {
	entries  []settledEntry
	replaced []outcome // of traits and instructions
	done     []outcome // of to-dos
	standing *standing
	todos    *Todos
	places   []scrollback.KeptID // that todos has
}

// settledEntry is which entry one is, and its slot in standing or its place in todos; -1 for none.
type settledEntry struct {
	id    scrollback.KeptID
	seq   int64
	role  scrollback.Role
	todo  string // its key
	slot  int
	place int
}

// outcome says that one entry ended another.
type outcome struct{ by, at int }

// NewSettler makes a settler.
func NewSettler() *Settler {
	return &Settler{statements: readTexts[*statement]{}, todos: readTexts[openTodo]{},
		news: readTexts[[]newsSentence]{}, last: talk{standing: newStanding(), todos: &Todos{}}}
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
	s.readTalk()
	s.applyPeople(people)
	r.statements.forget(s.entries)
	r.todos.forget(s.entries)
	r.news.forget(s.entries)
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

// readTalk ends what the messages say is over. A message ends only what was said before it, and what ended what the
// last time does so again where both are still there.
func (s *settling) readTalk() {
	known := s.matchLast()
	next := talk{make([]settledEntry, len(s.entries)), known.replaced, known.done, s.last.standing, s.last.todos,
		s.last.places}
	for i := range s.entries {
		k := &s.entries[i]
		next.entries[i] = settledEntry{k.ID, k.Seq, k.Role, "", -1, -1}
	}
	copy(next.entries, known.entries)
	for _, e := range known.replaced {
		s.end(e, scrollback.KeptWithdrawn)
	}
	for _, e := range known.done {
		s.end(e, scrollback.KeptDone)
	}
	isOld := known.to == len(s.entries) // nothing came that may end what is open
	if !isOld || !known.hasTodos {
		s.readTodos(&known, &next)
	}
	if isOld {
		return
	}
	s.readStanding(&known, &next)
	next.tidy()
	s.last = next
}

// readTodos ends the to-dos that the messages say are done, from where that is not known.
func (s *settling) readTodos(known *knownTalk, next *talk) {
	from := known.to
	switch {
	case !known.hasTodos:
		from = 0
		next.done = nil
		next.todos = &Todos{}
		next.places = nil
	case known.whole:
		for _, e := range known.gone {
			next.todos.forget(e.todo, e.place)
		}
	default:
		was := next.todos
		next.todos = &Todos{touched: was.touched, counted: was.counted}
		next.places = nil
		for i := range from {
			s.noteTodo(next, i)
		}
	}
	for from < len(s.entries) {
		to := s.messageEnd(from)
		for i := from; i < to; i++ {
			k := &s.entries[i]
			if !next.todos.mayClose(k.Role) {
				continue
			}
			for _, place := range next.todos.closedIn(k.Role, s.news.find(k.Text, readNews)) {
				e := outcome{i, s.at[next.places[place]]}
				s.end(e, scrollback.KeptDone)
				next.done = append(next.done, e)
			}
		}
		for i := from; i < to; i++ {
			s.noteTodo(next, i)
		}
		from = to
	}
}

// noteTodo adds an entry to the to-dos if it is one that is open.
func (s *settling) noteTodo(to *talk, i int) {
	k := &s.entries[i]
	e := &to.entries[i]
	e.place = -1
	if k.Kind != scrollback.KeptTodo {
		return
	}
	one := s.todos.find(k.Text, readTodo)
	e.todo = one.key
	if k.State == scrollback.KeptOpen && one.key != "" {
		e.place = len(to.places)
		to.places = append(to.places, k.ID)
		to.todos.add(one, e.place)
	}
}

// readStanding ends the traits and instructions that the messages take back or replace, from where that is not known.
func (s *settling) readStanding(known *knownTalk, next *talk) {
	if known.whole {
		for _, e := range known.gone {
			next.standing.drop(e.slot)
		}
	} else {
		next.standing = newStanding()
		for i := range known.to {
			s.noteStanding(next, i)
		}
	}
	for from := known.to; from < len(s.entries); {
		to := s.messageEnd(from)
		for i := from; i < to; i++ {
			k := &s.entries[i]
			if k.Kind == scrollback.KeptTodo || k.Role != scrollback.RoleUser {
				continue
			}
			now := s.statements.find(k.Text, makeStatement)
			if !now.mayWithdraw() {
				continue
			}
			for _, id := range next.standing.takeReplaced(now) {
				e := outcome{i, s.at[id]}
				s.end(e, scrollback.KeptWithdrawn)
				next.replaced = append(next.replaced, e)
			}
		}
		for i := from; i < to; i++ {
			s.noteStanding(next, i)
		}
		from = to
	}
}

// noteStanding adds an entry to what stands if it does, and can be replaced.
func (s *settling) noteStanding(to *talk, i int) {
	k := &s.entries[i]
	e := &to.entries[i]
	e.slot = -1
	if (k.Kind == scrollback.KeptTrait || k.Kind == scrollback.KeptInstruction) && k.State == scrollback.KeptOpen {
		e.slot = to.standing.add(k.ID, s.statements.find(k.Text, makeStatement))
	}
}

// knownTalk is what is known of the entries up to a place from the last time.
type knownTalk struct {
	to             int
	entries        []settledEntry
	replaced, done []outcome
	hasTodos       bool           // what the to-dos among them came to
	whole          bool           // nothing else was read then but what is gone, so that what stood then still does
	gone           []settledEntry // since
}

// matchLast finds what is known from the last time. What is gone since takes nothing else with it, unless it ended
// something: then all from its message on is unknown. Of to-dos nothing is known where one is gone that may have come
// between others and their end.
func (s *settling) matchLast() knownTalk {
	was := s.last.entries
	out := knownTalk{hasTodos: true}
	at := make([]int, len(was)) // among the entries; -1 for what is gone
	replaced := outcomes{s.last.replaced, at}
	done := outcomes{s.last.done, at}
	i := 0
	for ; i < len(was) && out.to < len(s.entries); i++ {
		at[i] = -1
		isHere := s.isAt(&was[i], out.to)
		if isHere {
			at[i] = out.to
			out.entries = append(out.entries, was[i])
			out.to++
		} else if at, known := s.at[was[i].id]; known && s.isAt(&was[i], at) { // something came before it
			break
		} else {
			out.gone = append(out.gone, was[i])
			out.hasTodos = out.hasTodos && !(was[i].todo != "" && s.last.todos.isTouched(was[i].todo))
		}
		found, missed := done.takeBy(i)
		out.done = append(out.done, found...)
		out.hasTodos = out.hasTodos && !missed
		found, missed = replaced.takeBy(i)
		out.replaced = append(out.replaced, found...)
		if missed {
			break
		}
	}
	out.whole = i == len(was) && i > 0
	if n := out.to; n > 0 && n < len(s.entries) && s.entries[n].Seq == s.entries[n-1].Seq { // of a message only a part
		out.cut(s.messageStart(n))
	}
	if !out.hasTodos {
		out.done = nil
	}
	return out
}

// outcomes are those of the last time that are left, and where entries of that time are now.
type outcomes struct {
	left []outcome
	at   []int
}

// takeBy takes out those of an entry, and returns them as they are now; missed says that one no longer happens.
func (o *outcomes) takeBy(by int) (found []outcome, missed bool) {
	for ; len(o.left) > 0 && o.left[0].by == by; o.left = o.left[1:] {
		switch at := o.at[o.left[0].at]; {
		case at < 0: // nothing to end
		case o.at[by] < 0:
			missed = true
		default:
			found = append(found, outcome{o.at[by], at})
		}
	}
	return found, missed
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
	isBehind := func(e outcome) bool { return e.by >= to }
	k.to = to
	k.entries = k.entries[:to]
	k.replaced = slices.DeleteFunc(k.replaced, isBehind)
	k.done = slices.DeleteFunc(k.done, isBehind)
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

// drop takes out the statement in a slot, if one stands there; -1 is none.
func (t *standing) drop(slot int) {
	if slot >= 0 && t.all[slot].of != nil {
		t.all[slot].of = nil
		t.alive--
	}
}

// takeReplaced takes out the statements that a later one replaces, and returns their ids. It compares it once with each
// that it may replace.
func (t *standing) takeReplaced(now *statement) (ids []scrollback.KeptID) {
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
	for _, slot := range some {
		if one := &t.all[slot]; now.replacesSharing(one.of, one.shared) {
			ids = append(ids, one.id)
			one.of = nil
			t.alive--
		}
	}
	return ids
}

// leastTidied is how many slots, or places of to-dos, there may be, however few of them are of what stands.
const leastTidied = 256

// tidy makes the slots and places fewer if most of what is in them no longer stands.
func (t *talk) tidy() {
	if was := t.standing; len(was.all) >= max(leastTidied, 2*was.alive) {
		t.standing = newStanding()
		for i := range t.entries {
			e := &t.entries[i]
			if e.slot < 0 {
				continue
			}
			one := was.all[e.slot]
			if e.slot = -1; one.of != nil {
				e.slot = t.standing.add(one.id, one.of)
			}
		}
	}
	if was := t.todos; len(t.places) >= max(leastTidied, 2*was.countOpen()) {
		t.todos = &Todos{touched: was.touched, counted: was.counted}
		t.places = nil
		for i := range t.entries {
			e := &t.entries[i]
			if e.place < 0 {
				continue
			}
			one := was.open[e.todo]
			isOpen := slices.Contains(one.at, e.place)
			if e.place = -1; isOpen {
				e.place = len(t.places)
				t.places = append(t.places, e.id)
				one.at = nil
				t.todos.add(one, e.place)
			}
		}
	}
}
