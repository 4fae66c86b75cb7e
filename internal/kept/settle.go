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
	return (*Settler)(nil).Settle(rows)
}

// Settler settles rows several times, and reads each sentence once. It is safe for concurrent use. A nil one remembers
// nothing.
type Settler struct {
	mu         sync.Mutex
	statements map[string]*statement
}

// NewSettler makes a settler.
func NewSettler() *Settler { return &Settler{statements: map[string]*statement{}} }

// Settle is [Settle].
func (r *Settler) Settle(rows []scrollback.Kept) []scrollback.Kept {
	entries, _ := r.SettleEnds(rows)
	return entries
}

// SettleEnds is Settle, and returns the sentences besides that have ended something.
func (r *Settler) SettleEnds(rows []scrollback.Kept) (entries, ends []scrollback.Kept) {
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
	s.keys = make([]string, len(s.entries))
	s.endedAt = make([]int64, len(s.entries))
	for i, k := range s.entries {
		s.at[k.ID] = i
		s.keys[i] = KeyOf(k)
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
	entries []scrollback.Kept
	at      map[scrollback.KeptID]int
	keys    []string
	endedAt []int64 // when the talk ended an entry; 0 if it did not
	ends    map[int]bool
}

func (r *Settler) read(text string) *statement {
	if r == nil {
		return makeStatement(text)
	}
	r.mu.Lock()
	known := r.statements[text]
	r.mu.Unlock()
	if known == nil { // two may make the same one
		known = makeStatement(text)
		r.mu.Lock()
		r.statements[text] = known
		r.mu.Unlock()
	}
	return known
}

// readTalk ends what the messages say is over. A message ends only what was said before it.
func (s *settling) readTalk() {
	var todos Todos
	var standing []int
	statements := make([]*statement, len(s.entries))
	of := func(i int) *statement {
		if statements[i] == nil {
			statements[i] = s.read(s.entries[i].Text)
		}
		return statements[i]
	}
	for from := 0; from < len(s.entries); {
		to := from
		for to < len(s.entries) && s.entries[to].Seq == s.entries[from].Seq {
			to++
		}
		for i := from; i < to; i++ {
			k := s.entries[i]
			for _, at := range todos.Closed(k.Role, k.Text) {
				s.end(at, scrollback.KeptDone, i)
			}
			if k.Kind == scrollback.KeptTodo || k.Role != scrollback.RoleUser || !of(i).mayWithdraw() {
				continue
			}
			standing = slices.DeleteFunc(standing, func(at int) bool {
				over := of(i).replaces(of(at))
				if over {
					s.end(at, scrollback.KeptWithdrawn, i)
				}
				return over
			})
		}
		for i := from; i < to; i++ {
			switch s.entries[i].Kind {
			case scrollback.KeptTodo:
				todos.Add(s.entries[i].Text, i)
			case scrollback.KeptTrait, scrollback.KeptInstruction:
				standing = append(standing, i)
			case End: // ends others, and does not stand
			}
		}
		from = to
	}
}

func (s *settling) end(at int, state scrollback.KeptState, by int) {
	s.entries[at].State = state
	s.endedAt[at] = s.entries[by].CreatedAt
	s.ends[by] = true
}

// apply applies what a person said of a sentence, wherever it was said.
func (s *settling) apply(k scrollback.Kept) {
	key := s.keys[s.at[k.ID]]
	for i := range s.entries {
		if s.keys[i] != key || k.State == scrollback.KeptOpen && s.endedAt[i] > k.CreatedAt {
			continue
		}
		s.entries[i].State = k.State
	}
}
