package kept

import (
	"cmp"
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
// rows are those of the last time and more. It is safe for concurrent use. A nil one
// remembers nothing.
type Settler struct {
	mu         sync.Mutex // of all that follows
	statements map[string]*statement
	todos      map[string]openTodo // by text, without places
	keys       map[scrollback.KeptID]string
	last       talk
}

// maxStatements bounds how many sentences a settler remembers.
const maxStatements = 4096

// talk is a talk as it was read: its entries, and what ended which of them.
type talk struct {
	entries  []scrollback.Kept
	outcomes []outcome
}

// outcome says that one entry ended another.
type outcome struct {
	by, at int
	state  scrollback.KeptState
}

// NewSettler makes a settler.
func NewSettler() *Settler {
	return &Settler{statements: map[string]*statement{}, todos: map[string]openTodo{},
		keys: map[scrollback.KeptID]string{}}
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
	s := &settling{Settler: r, at: map[scrollback.KeptID]int{}, ends: map[int]bool{}}
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
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Text, b.Text))
	})
	s.endedAt = make([]int64, len(s.entries))
	for i, k := range s.entries {
		s.at[k.ID] = i
	}
	s.readTalk()
	for _, k := range people {
		s.apply(k)
	}
	for i, k := range s.entries {
		switch {
		case k.Kind != End:
			entries = append(entries, k)
		case s.ends[i]:
			ends = append(ends, k)
		}
	}
	return entries, ends
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
	entries  []scrollback.Kept
	at       map[scrollback.KeptID]int
	endedAt  []int64 // when the talk ended an entry; 0 if it did not
	ends     map[int]bool
	outcomes []outcome
}

func (r *Settler) read(text string) *statement {
	known := r.statements[text]
	if known == nil {
		if len(r.statements) >= maxStatements {
			clear(r.statements)
		}
		known = makeStatement(text)
		r.statements[text] = known
	}
	return known
}

func (r *Settler) readTodo(text string) openTodo {
	one, known := r.todos[text]
	if !known {
		if len(r.todos) >= maxStatements {
			clear(r.todos)
		}
		one = readTodo(text)
		r.todos[text] = one
	}
	return one
}

func (r *Settler) keyOf(k scrollback.Kept) string {
	key, known := r.keys[k.ID]
	if !known {
		if len(r.keys) >= maxStatements {
			clear(r.keys)
		}
		key = KeyOf(k)
		r.keys[k.ID] = key
	}
	return key
}

// readTalk ends what the messages say is over. A message ends only what was said before it, so that what was read the
// last time holds for all that is the same from the beginning.
func (s *settling) readTalk() {
	var todos Todos
	var standing standing
	from := s.countKnown()
	open := make([]bool, from)
	for i := range from {
		open[i] = true
	}
	for _, e := range s.last.outcomes {
		if e.by < from {
			s.end(e)
			open[e.at] = false
		}
	}
	note := func(i int) {
		switch s.entries[i].Kind {
		case scrollback.KeptTodo:
			todos.add(s.readTodo(s.entries[i].Text), i)
		case scrollback.KeptTrait, scrollback.KeptInstruction:
			standing.add(i, s.read(s.entries[i].Text))
		case End: // ends others, and does not stand
		}
	}
	if from == len(s.entries) {
		return // nothing came that may end what is open
	}
	for i := range from {
		if open[i] {
			note(i)
		}
	}
	for from < len(s.entries) {
		to := from
		for to < len(s.entries) && s.entries[to].Seq == s.entries[from].Seq {
			to++
		}
		for i := from; i < to; i++ {
			k := s.entries[i]
			for _, at := range todos.Closed(k.Role, k.Text) {
				s.end(outcome{i, at, scrollback.KeptDone})
			}
			if k.Kind == scrollback.KeptTodo || k.Role != scrollback.RoleUser {
				continue
			}
			if now := s.read(k.Text); now.mayWithdraw() {
				for _, at := range standing.takeReplaced(now) {
					s.end(outcome{i, at, scrollback.KeptWithdrawn})
				}
			}
		}
		for i := from; i < to; i++ {
			note(i)
		}
		from = to
	}
	if len(s.entries) > len(s.last.entries) || s.countKnown() < len(s.entries) {
		s.last = talk{s.entries, s.outcomes}
	}
}

// countKnown counts the entries that are those of the last time, from the first on, to the end of a message.
func (s *settling) countKnown() int {
	was := s.last.entries
	n := 0
	for n < min(len(was), len(s.entries)) && was[n].ID == s.entries[n].ID && was[n].Seq == s.entries[n].Seq &&
		was[n].Role == s.entries[n].Role {
		n++
	}
	for n > 0 && (n < len(was) && was[n].Seq == was[n-1].Seq ||
		n < len(s.entries) && s.entries[n].Seq == s.entries[n-1].Seq) {
		n--
	}
	return n
}

func (s *settling) end(e outcome) {
	s.entries[e.at].State = e.state
	s.endedAt[e.at] = s.entries[e.by].CreatedAt
	s.ends[e.by] = true
	s.outcomes = append(s.outcomes, e)
}

// apply applies what a person said of a sentence, wherever it was said.
func (s *settling) apply(k scrollback.Kept) {
	key := s.keyOf(s.entries[s.at[k.ID]])
	for i := range s.entries {
		if s.keyOf(s.entries[i]) != key || k.State == scrollback.KeptOpen && s.endedAt[i] > k.CreatedAt {
			continue
		}
		s.entries[i].State = k.State
	}
}

// standing are the statements that stand, by what a later one must share with them to replace them.
type standing struct {
	named  map[string][]int // by how their names begin
	valued []int            // that have one of several values
	of     map[int]*statement
}

func (t *standing) add(at int, s *statement) {
	if t.of == nil {
		t.of = map[int]*statement{}
		t.named = map[string][]int{}
	}
	t.of[at] = s
	for begin := range s.index {
		t.named[begin] = append(t.named[begin], at)
	}
	if s.hasValue() {
		t.valued = append(t.valued, at)
	}
}

// takeReplaced takes out the statements that a later one replaces, and returns their places.
func (t *standing) takeReplaced(now *statement) (places []int) {
	try := func(at int) {
		if was := t.of[at]; was != nil && now.replaces(was) {
			places = append(places, at)
			delete(t.of, at)
		}
	}
	for begin := range now.index {
		for _, at := range t.named[begin] {
			try(at)
		}
	}
	for _, at := range t.valued {
		try(at)
	}
	slices.Sort(places)
	return places
}
