package search

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// scope is where a search looks: in the conversations that it names, or everywhere that
// the lines' query lets it. Lines are known as far as they were needed.
type scope struct {
	s        *searching
	within   []driver.Run // nil: everywhere
	messages int64        // in within
	projects []string
	lines    map[int64]*driver.Line // nil for one that is not let through
	numbers  map[scrollback.BranchID]int64
}

// scopeOf is the scope of a query.
func (s *searching) scopeOf(ctx context.Context, q scrollback.SearchQuery) (*scope, error) {
	if q.Conversation == "" {
		return s.scopeWithout(nil, q.Projects), nil
	}
	head, err := s.d.Read.Head(ctx, q.Conversation)
	if err != nil {
		return nil, err
	}
	lines, err := s.look.LinesOf(ctx, slices.Concat([]scrollback.ConversationID{q.Conversation}, head.Ancestors, q.Agents))
	if err != nil {
		return nil, err
	}
	if lines, err = s.letThrough(ctx, lines, q.Projects); err != nil {
		return nil, err
	}
	return s.scopeWithin(lines), nil
}

// scopeWithin is the scope of some lines.
func (s *searching) scopeWithin(lines []driver.Line) *scope {
	o := s.scopeWithout(nil, nil)
	o.within = []driver.Run{}
	for _, l := range lines {
		o.know(l)
		if l.Head >= l.First {
			o.within = append(o.within, driver.Run{First: driver.PlaceOf(l.Number, l.First), Last: driver.PlaceOf(l.Number, l.Head)})
			o.messages += l.Head - l.First + 1
		}
	}
	slices.SortFunc(o.within, func(a, b driver.Run) int { return comparePlaces(a.First, b.First) })
	return o
}

// scopeWithout is the scope of all lines of some projects but a few.
func (s *searching) scopeWithout(lines []driver.Line, projects []string) *scope {
	o := &scope{s: s, projects: projects, lines: map[int64]*driver.Line{}, numbers: map[scrollback.BranchID]int64{}}
	for _, l := range lines {
		o.lines[l.Number] = nil
	}
	return o
}

// letThrough leaves out the lines of other projects.
func (s *searching) letThrough(ctx context.Context, lines []driver.Line, projects []string) ([]driver.Line, error) {
	if projects == nil {
		return lines, nil
	}
	q := driver.LineQuery{Projects: projects, Trash: true}
	for _, l := range lines {
		q.Numbers = append(q.Numbers, l.Number)
	}
	let, err := s.look.Lines(ctx, q)
	return slices.DeleteFunc(lines, func(l driver.Line) bool { _, ok := let[l.Number]; return !ok }), err
}

func (o *scope) know(l driver.Line) {
	o.lines[l.Number], o.numbers[l.Branch] = &l, l.Number
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

// learn reads the lines with some numbers that are not known. Those that the scope does not
// let through become nil.
func (o *scope) learn(ctx context.Context, numbers []int64) error {
	numbers = slices.DeleteFunc(numbers, func(n int64) bool { _, known := o.lines[n]; return known })
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	found := map[int64]driver.Line{}
	if o.within == nil {
		var err error
		if found, err = o.s.look.Lines(ctx, driver.LineQuery{Numbers: numbers, Projects: o.projects}); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		o.lines[n] = nil
		if l, ok := found[n]; ok {
			o.know(l)
		}
	}
	return nil
}

// lets reports whether messages of a branch are in the scope.
func (o *scope) lets(number int64) bool { return o.lines[number] != nil }

// at is the place of seq on the path of a branch, as far as its lines are known.
func (o *scope) at(number, seq int64) (driver.Place, bool) {
	l := o.lines[number]
	if l == nil || seq < 1 || seq > l.Head {
		return 0, false
	}
	for seq < l.First {
		if l = o.lines[l.Parent]; l == nil {
			return 0, false
		}
	}
	return driver.PlaceOf(l.Number, seq), true
}

// on reports whether a place is on the path of a branch.
func (o *scope) on(branch scrollback.BranchID, p driver.Place) bool {
	at, ok := o.at(o.numbers[branch], p.Seq())
	return ok && at == p
}

// parents learns the lines from which branches were forked near a place.
func (o *scope) parents(ctx context.Context, places []driver.Place) error {
	for range reach {
		var missing []int64
		for _, p := range places {
			l := o.lines[p.Branch()]
			for l != nil && p.Seq()-reach < l.First && l.Parent != 0 {
				parent, known := o.lines[l.Parent]
				if !known && o.within == nil {
					missing = append(missing, l.Parent)
				}
				l = parent
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := o.learn(ctx, missing); err != nil {
			return err
		}
	}
	return nil
}

// forks are the known lines by the branch that they were forked from.
func (o *scope) forks() map[int64][]*driver.Line {
	out := map[int64][]*driver.Line{}
	for _, l := range o.lines {
		if l != nil && l.Parent != 0 {
			out[l.Parent] = append(out[l.Parent], l)
		}
	}
	return out
}
