package search

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Bounds of what is picked.
const (
	maxPicked   = scrollback.SearchDepth // messages that are read and ranked
	minPicked   = 60                     // messages that a question brings, if there are that many around what matches
	maxDistance = 25                     // messages on each side that are taken in until there are
)

// pick is a message to be read, and the words around it.
type pick struct {
	place driver.Place
	windowWords
	score float64
}

// picks is what is to be read. all says that nothing else matched.
type picks struct {
	best []pick
	all  bool
}

// picker chooses what is read.
type picker struct {
	*search
	a      *parsedQuery
	o      *scope
	p      *queryPostings
	events []wordMatch
	filter driver.PostingQuery // Role, From and To
}

// hasFilter reports whether the filter keeps anything out.
func (k *picker) hasFilter() bool {
	return k.filter.Role != "" || k.filter.From != 0 || k.filter.To != 0
}

// pickMessages chooses the best messages by the words in their windows: for a question also those
// that hold none themselves, for a look-up only those that do.
func (k *picker) pickMessages(ctx context.Context) (picks, map[driver.Place]scrollback.Message, error) {
	if k.a.Demanded {
		return k.pickPhrases(ctx, k.a.Quoted, maxPicked)
	}
	out, err := k.pickByWords(ctx)
	if err == nil && len(k.a.Quoted) > 0 {
		var quoted []pick
		if quoted, err = k.pickQuoted(ctx); err == nil {
			out = addPicks(out, quoted)
		}
	}
	if err == nil && k.a.question && k.a.wishes {
		var wished []pick
		if wished, err = k.pickWishes(ctx); err == nil {
			out = addPicks(out, wished)
		}
	}
	if err != nil {
		return out, nil, err
	}
	ms, err := k.readPicked(ctx, k.o, out.best)
	return out, ms, err
}

// pickByWords picks messages by all words, quoted or not.
func (k *picker) pickByWords(ctx context.Context) (picks, error) {
	best, all, err := k.pickStrongest(ctx, k.events)
	if err != nil {
		return picks{}, err
	}
	out, err := k.expandPicks(ctx, best)
	if err == nil && k.hasFilter() && !all && len(out) < maxPicked { // what passes the filter is further down
		var passing []wordMatch
		if passing, err = k.filterEvents(ctx); err != nil {
			return picks{}, err
		}
		var more []pick
		if more, all, err = k.pickStrongest(ctx, passing); err != nil {
			return picks{}, err
		}
		out, err = k.expandPicks(ctx, append(more, best...))
	}
	if len(out) > maxPicked {
		return picks{out[:maxPicked], false}, err
	}
	return picks{out, all}, err
}

// expandPicks returns what is read for some matches: for a look-up these, for a question the messages
// around them, and more of them where few are around.
func (k *picker) expandPicks(ctx context.Context, centres []pick) ([]pick, error) {
	if !k.a.question {
		slices.SortFunc(centres, comparePicks)
		return k.filterPicks(ctx, slices.CompactFunc(centres, func(a, b pick) bool { return a.place == b.place }))
	}
	around, err := k.pickAround(ctx, centres, maxReach)
	if err == nil && len(around) < minPicked {
		around, err = k.pickAround(ctx, centres, maxDistance)
	}
	return around, err
}

// filterEvents returns the events that the filter lets through.
func (k *picker) filterEvents(ctx context.Context) ([]wordMatch, error) {
	q := k.filter
	q.Within = k.o.within
	for i, t := range k.p.terms {
		if !k.p.skipped[i] && k.p.lists[i].Holding > 0 {
			q.Terms = append(q.Terms, t)
		}
	}
	lists, err := k.look.Postings(ctx, q)
	if err != nil {
		return nil, err
	}
	passes := map[driver.Place]bool{}
	for _, l := range lists {
		for _, at := range l.Places {
			passes[at] = true
		}
	}
	var out []wordMatch
	for _, e := range k.events {
		if passes[e.place] {
			out = append(out, e)
		}
	}
	return out, nil
}

// pickStrongest returns the best of some events that are in the scope, and whether these are all.
func (k *picker) pickStrongest(ctx context.Context, events []wordMatch) ([]pick, bool, error) {
	for _, most := range []int{2 * maxPicked, len(events)} {
		all := k.selectTop(events, most).heap
		slices.SortFunc(all, comparePicks)
		var best []pick
		for len(all) > 0 && len(best) < maxPicked { // as few lines are read as it takes
			some := all[:min(len(all), maxPicked-len(best))]
			all = all[len(some):]
			var numbers []int64
			for _, c := range some {
				numbers = append(numbers, c.place.Branch())
			}
			if err := k.o.readBranches(ctx, numbers); err != nil {
				return nil, false, err
			}
			for _, c := range some {
				if k.o.contains(c.place) {
					best = append(best, c)
				}
			}
		}
		whole := len(events) <= most && len(all) == 0
		if whole || len(best) == maxPicked || most >= len(events) { // else most of them are elsewhere
			return best, whole, nil
		}
	}
	return nil, true, nil
}

// selectTop returns the best of some events. Most of those of a common word cannot be among them,
// whatever stands around.
func (k *picker) selectTop(events []wordMatch, most int) *topPicks {
	top := newTop(most)
	at := 0 // in k.events, which has all of them
	for _, e := range events {
		if len(top.heap) == most && k.p.factors.own*k.p.weightOf(e.words)+
			(k.p.factors.two+k.p.factors.five)*k.p.total < top.heap[0].score {
			continue
		}
		for step := 1; k.events[at].place != e.place; {
			if next := at + step; next < len(k.events) && k.events[next].place <= e.place {
				at = next
				step = 2 * step
			} else {
				step = 1
			}
		}
		w := windowsOfEvent(k.events, at)
		top.addPick(pick{e.place, w, k.p.estimateScore(w)})
	}
	return top
}

// pickAround returns the messages at most n away from some, the best first, as far as they pass.
func (k *picker) pickAround(ctx context.Context, centres []pick, n int64) ([]pick, error) {
	places := make([]driver.Place, len(centres))
	for i, c := range centres {
		places[i] = c.place
	}
	if err := k.o.readParents(ctx, places); err != nil {
		return nil, err
	}
	forks := k.o.listForks()
	var near []driver.Place
	for _, c := range places {
		for d := -n; d <= n; d++ {
			if p, ok := k.o.placeOnPath(c.Branch(), c.Seq()+d); ok {
				near = append(near, p)
			}
		}
		for _, f := range forks[c.Branch()] {
			for seq := f.First; seq <= min(c.Seq()+n, f.Head) && c.Seq() < f.First; seq++ {
				near = append(near, driver.NewPlace(f.Number, seq))
			}
		}
	}
	slices.Sort(near)
	near = slices.Compact(near)
	out := make([]pick, 0, len(near))
	for _, p := range near {
		w := k.windowsAround(p)
		out = append(out, pick{p, w, k.p.estimateScore(w)})
	}
	slices.SortFunc(out, comparePicks)
	return k.filterPicks(ctx, out)
}

// filterPicks keeps those of the sorted picks that pass the filter, a few more than are needed.
func (k *picker) filterPicks(ctx context.Context, all []pick) ([]pick, error) {
	if !k.hasFilter() {
		return all, nil
	}
	var out []pick
	for len(all) > 0 && len(out) <= maxPicked {
		some := all[:min(4*maxPicked, len(all))]
		all = all[len(some):]
		places := make([]driver.Place, len(some))
		for i, c := range some {
			places[i] = c.place
		}
		slices.Sort(places)
		marks, err := k.look.Marks(ctx, places)
		if err != nil {
			return nil, err
		}
		passes := map[driver.Place]bool{}
		for _, m := range marks {
			passes[m.Place] = k.filter.Matches(m)
		}
		for _, c := range some {
			if passes[c.place] {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// windowsAround returns the words around a place, on its path.
func (k *picker) windowsAround(p driver.Place) windowWords {
	w := windowsOnBranch(k.events, p)
	l := k.o.lines[p.Branch()]
	if l == nil || p.Seq()-maxReach >= l.First {
		return w
	}
	for seq := max(p.Seq()-maxReach, 1); seq < l.First; seq++ {
		if at, ok := k.o.placeOnPath(l.Number, seq); ok {
			if i, found := findEvent(k.events, at); found {
				w.addWords(k.events[i].words, p.Seq()-seq)
			}
		}
	}
	return w
}

// windowsOnBranch returns the words around a place, as far as they are on its branch.
func windowsOnBranch(events []wordMatch, p driver.Place) windowWords {
	i, found := findEvent(events, p)
	return windowsNearEvent(events, i, p, found)
}

// windowsOfEvent is windowsOnBranch for the i-th event.
func windowsOfEvent(events []wordMatch, i int) windowWords {
	return windowsNearEvent(events, i, events[i].place, true)
}

// windowsNearEvent is windowsOnBranch for a place that is, or would be, the i-th event.
func windowsNearEvent(events []wordMatch, i int, p driver.Place, found bool) (w windowWords) {
	for j := i - 1; j >= 0 && p-events[j].place <= maxReach; j-- {
		w.addWords(events[j].words, int64(p-events[j].place))
	}
	if found {
		w.addWords(events[i].words, 0)
		i++
	}
	for ; i < len(events) && events[i].place-p <= maxReach; i++ {
		w.addWords(events[i].words, int64(events[i].place-p))
	}
	return w
}

// findEvent returns where a place is among events, or would be.
func findEvent(events []wordMatch, p driver.Place) (int, bool) {
	return sort.Find(len(events), func(i int) int { return comparePlaces(p, events[i].place) })
}

// comparePicks puts the higher score first, and the newer place of equals.
func comparePicks(a, b pick) int {
	return cmp.Or(cmp.Compare(b.score, a.score), comparePlaces(b.place, a.place))
}

// topPicks keeps the best of many, as a heap with the worst on top.
type topPicks struct {
	heap []pick
	most int
}

func newTop(most int) *topPicks { return &topPicks{most: most} }

func (t *topPicks) addPick(c pick) {
	if len(t.heap) < t.most {
		t.heap = append(t.heap, c)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if comparePicks(t.heap[i], t.heap[up]) <= 0 {
				break
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	if t.most == 0 || comparePicks(c, t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = c
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < len(t.heap) && comparePicks(t.heap[down+1], t.heap[down]) > 0 {
			down++
		}
		if down >= len(t.heap) || comparePicks(t.heap[down], t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[down] = t.heap[down], t.heap[i]
		i = down
	}
}
