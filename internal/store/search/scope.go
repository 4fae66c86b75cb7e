package search

import (
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// scope is where a search looks: in the conversations that it names, or everywhere that
// the lines' query lets it. Lines are known as far as they were needed.
type scope struct {
	s        *search
	within   []driver.PlaceRun // nil: everywhere
	messages int64             // in within, if all of its lines are known
	whole    bool              // all lines of within are known
	listed   []int64           // ascending: of these lines, or of all but these
	but      bool
	projects []string
	lines    map[int64]*driver.IndexedBranch // nil for one that is not let through
	numbers  map[scrollback.BranchID]int64
	postings map[string]driver.Postings // of terms that were looked for
}

// scopeOf returns the scope of a query.
func (s *search) scopeOf(ctx context.Context, q scrollback.SearchQuery) (*scope, error) {
	if q.Conversation == "" {
		return s.scopeOn(nil, false, q.Projects), nil
	}
	head, err := s.d.Log.ReadHead(ctx, q.Conversation)
	if err != nil {
		return nil, err
	}
	lines, err := s.look.ListBranchesOf(ctx,
		slices.Concat([]scrollback.ConversationID{q.Conversation}, head.Ancestors, q.Agents))
	if err != nil {
		return nil, err
	}
	if lines, err = s.filterBranches(ctx, lines, q.Projects); err != nil {
		return nil, err
	}
	return s.scopeWithin(lines), nil
}

// scopeWithin returns the scope of some lines.
func (s *search) scopeWithin(lines []driver.IndexedBranch) *scope {
	o := s.scopeOn(nil, false, nil)
	o.within = []driver.PlaceRun{}
	o.whole = true
	for _, l := range lines {
		o.addBranch(l)
		if l.Head >= l.First {
			o.within = append(o.within, driver.PlaceRun{First: driver.NewPlace(l.Number, l.First),
				Last: driver.NewPlace(l.Number, l.Head)})
			o.messages += l.Head - l.First + 1
		}
	}
	slices.SortFunc(o.within, func(a, b driver.PlaceRun) int { return comparePlaces(a.First, b.First) })
	return o
}

// scopeOn returns the scope of the lines with some numbers, ascending, or of all lines but these,
// as far as they are of some projects. There may be thousands: they are read as they are
// needed, and words weigh what they weigh everywhere.
func (s *search) scopeOn(numbers []int64, only bool, projects []string) *scope {
	o := &scope{s: s, projects: projects, listed: numbers, but: !only, lines: map[int64]*driver.IndexedBranch{},
		numbers: map[scrollback.BranchID]int64{}, postings: map[string]driver.Postings{}}
	if only {
		o.within = []driver.PlaceRun{}
		for _, n := range numbers {
			o.within = append(o.within, driver.PlaceRun{First: driver.NewPlace(n, 0), Last: driver.NewPlace(n, math.MaxUint32)})
		}
	}
	return o
}

// filterBranches leaves out the lines of other projects.
func (s *search) filterBranches(ctx context.Context, lines []driver.IndexedBranch,
	projects []string) ([]driver.IndexedBranch, error) {
	if projects == nil {
		return lines, nil
	}
	q := driver.IndexedBranchQuery{Projects: projects, Trash: true}
	for _, l := range lines {
		q.Numbers = append(q.Numbers, l.Number)
	}
	let, err := s.look.FindBranches(ctx, q)
	return slices.DeleteFunc(lines, func(l driver.IndexedBranch) bool { _, ok := let[l.Number]; return !ok }), err
}

func (o *scope) addBranch(l driver.IndexedBranch) {
	o.lines[l.Number] = &l
	o.numbers[l.Branch] = l.Number
}

func comparePlaces(a, b driver.Place) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// readBranches reads the lines with some numbers that are not known. Those that the scope does not
// let through become nil.
func (o *scope) readBranches(ctx context.Context, numbers []int64) error {
	numbers = slices.DeleteFunc(numbers, func(n int64) bool { _, known := o.lines[n]; return known })
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	found := map[int64]driver.IndexedBranch{}
	if !o.whole {
		var err error
		there := slices.DeleteFunc(slices.Clone(numbers),
			func(n int64) bool { _, among := slices.BinarySearch(o.listed, n); return among == o.but })
		if found, err = o.s.look.FindBranches(ctx,
			driver.IndexedBranchQuery{Numbers: there, Projects: o.projects}); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		o.lines[n] = nil
		if l, ok := found[n]; ok {
			o.addBranch(l)
		}
	}
	return nil
}

// contains reports whether a message is in the scope: of a branch in the trash, only what is
// inherited is.
func (o *scope) contains(p driver.Place) bool {
	l := o.lines[p.Branch()]
	return l != nil && (l.Heir == "" || p.Seq() <= l.Head)
}

// findHeir returns the line of a message whose conversation is in the trash, or nil. It says which
// live conversation inherits it.
func (o *scope) findHeir(m scrollback.Message) *driver.IndexedBranch {
	if l := o.lines[o.numbers[m.Branch]]; l != nil && l.Heir != "" {
		return l
	}
	return nil
}

// findHome returns the conversation in which a message is found.
func (o *scope) findHome(m scrollback.Message) scrollback.ConversationID {
	if l := o.findHeir(m); l != nil {
		return l.Heir
	}
	return m.ConversationID
}

// placeOnPath returns the place of seq on the path of a branch, as far as its lines are known.
func (o *scope) placeOnPath(number, seq int64) (driver.Place, bool) {
	l := o.lines[number]
	if l == nil || seq < 1 || seq > l.Head {
		return 0, false
	}
	for seq < l.First {
		if l = o.lines[l.Parent]; l == nil {
			return 0, false
		}
	}
	return driver.NewPlace(l.Number, seq), true
}

// isOnPath reports whether a place is on the path of a branch.
func (o *scope) isOnPath(branch scrollback.BranchID, p driver.Place) bool {
	at, ok := o.placeOnPath(o.numbers[branch], p.Seq())
	return ok && at == p
}

// readPath learns the lines that a branch comes from.
func (o *scope) readPath(ctx context.Context, branch scrollback.BranchID) error {
	for l := o.lines[o.numbers[branch]]; l != nil && l.Parent != 0 && !o.whole; l = o.lines[l.Parent] {
		if err := o.readBranches(ctx, []int64{l.Parent}); err != nil {
			return err
		}
	}
	return nil
}

// readParents learns the lines from which branches were forked near a place.
func (o *scope) readParents(ctx context.Context, places []driver.Place) error {
	for range maxReach {
		var missing []int64
		for _, p := range places {
			l := o.lines[p.Branch()]
			for l != nil && p.Seq()-maxReach < l.First && l.Parent != 0 {
				parent, known := o.lines[l.Parent]
				if !known && !o.whole {
					missing = append(missing, l.Parent)
				}
				l = parent
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := o.readBranches(ctx, missing); err != nil {
			return err
		}
	}
	return nil
}

// listForks returns the known lines by the branch that they were forked from.
func (o *scope) listForks() map[int64][]*driver.IndexedBranch {
	out := map[int64][]*driver.IndexedBranch{}
	for _, l := range o.lines {
		if l != nil && l.Parent != 0 {
			out[l.Parent] = append(out[l.Parent], l)
		}
	}
	return out
}
