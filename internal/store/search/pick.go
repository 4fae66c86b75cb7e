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
	picked   = scrollback.SearchDepth // messages that are read and ranked
	fewest   = 60                     // messages that a question brings, if there are so many around what matches
	farthest = 25                     // messages on each side that are taken in until there are
)

// pick is a message to be read, and the words around it.
type pick struct {
	place driver.Place
	windows
	score float64
}

// picks is what is to be read. all says that nothing else matched.
type picks struct {
	best []pick
	all  bool
}

// picker chooses what is read.
type picker struct {
	*searching
	a      *ask
	o      *scope
	p      *posted
	events []event
	filter driver.PostingQuery // Role, From and To
}

// narrowed reports whether the filter keeps anything out.
func (k *picker) narrowed() bool {
	return k.filter.Role != "" || k.filter.From != 0 || k.filter.To != 0
}

// pick chooses the best messages by the words in their windows: for a question also those
// that hold none themselves, for a look-up only those that do.
func (k *picker) pick(ctx context.Context) (picks, map[driver.Place]scrollback.Message, error) {
	if len(k.a.Must) > 0 {
		return k.phrases(ctx)
	}
	out, err := k.loose(ctx)
	if err == nil && k.a.question && k.a.wishes {
		var wished []pick
		if wished, err = k.wished(ctx); err == nil {
			out = withWishes(out, wished)
		}
	}
	if err != nil {
		return out, nil, err
	}
	ms, err := k.located(ctx, k.o, out.best)
	return out, ms, err
}

// loose is pick without quoted words.
func (k *picker) loose(ctx context.Context) (picks, error) {
	best, all, err := k.strongest(ctx, k.events)
	if err != nil {
		return picks{}, err
	}
	out, err := k.expand(ctx, best)
	if err == nil && k.narrowed() && !all && len(out) < picked { // what passes the filter is further down
		var passing []event
		if passing, err = k.passing(ctx); err != nil {
			return picks{}, err
		}
		var more []pick
		if more, all, err = k.strongest(ctx, passing); err != nil {
			return picks{}, err
		}
		out, err = k.expand(ctx, append(more, best...))
	}
	if len(out) > picked {
		return picks{out[:picked], false}, err
	}
	return picks{out, all}, err
}

// expand is what is read for some matches: for a look-up these, for a question the messages
// around them, and more of them where few are around.
func (k *picker) expand(ctx context.Context, centres []pick) ([]pick, error) {
	if !k.a.question {
		slices.SortFunc(centres, better)
		return k.let(ctx, slices.CompactFunc(centres, func(a, b pick) bool { return a.place == b.place }))
	}
	around, err := k.around(ctx, centres, reach)
	if err == nil && len(around) < fewest {
		around, err = k.around(ctx, centres, farthest)
	}
	return around, err
}

// passing are the events that the filter lets through.
func (k *picker) passing(ctx context.Context) ([]event, error) {
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
	var out []event
	for _, e := range k.events {
		if passes[e.place] {
			out = append(out, e)
		}
	}
	return out, nil
}

// strongest are the best of some events that are in the scope, and whether these are all.
func (k *picker) strongest(ctx context.Context, events []event) ([]pick, bool, error) {
	for _, most := range []int{2 * picked, len(events)} {
		all := k.top(events, most).heap
		slices.SortFunc(all, better)
		var best []pick
		for len(all) > 0 && len(best) < picked { // as few lines are read as it takes
			some := all[:min(len(all), picked-len(best))]
			all = all[len(some):]
			var numbers []int64
			for _, c := range some {
				numbers = append(numbers, c.place.Branch())
			}
			if err := k.o.learn(ctx, numbers); err != nil {
				return nil, false, err
			}
			for _, c := range some {
				if k.o.lets(c.place) {
					best = append(best, c)
				}
			}
		}
		whole := len(events) <= most && len(all) == 0
		if whole || len(best) == picked || most >= len(events) { // else most of them are elsewhere
			return best, whole, nil
		}
	}
	return nil, true, nil
}

// top are the best of some events. Most of those of a common word cannot be among them,
// whatever stands around.
func (k *picker) top(events []event, most int) *top {
	top := newTop(most)
	at := 0 // in k.events, which has all of them
	for _, e := range events {
		if len(top.heap) == most && k.p.lean.own*k.p.weightOf(e.words)+
			(k.p.lean.two+k.p.lean.five)*k.p.total < top.heap[0].score {
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
		w := besideAt(k.events, at)
		top.add(pick{e.place, w, k.p.guess(w)})
	}
	return top
}

// around are the messages at most n away from some, the best first, as far as they pass.
func (k *picker) around(ctx context.Context, centres []pick, n int64) ([]pick, error) {
	places := make([]driver.Place, len(centres))
	for i, c := range centres {
		places[i] = c.place
	}
	if err := k.o.parents(ctx, places); err != nil {
		return nil, err
	}
	forks := k.o.forks()
	var near []driver.Place
	for _, c := range places {
		for d := -n; d <= n; d++ {
			if p, ok := k.o.at(c.Branch(), c.Seq()+d); ok {
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
		w := k.words(p)
		out = append(out, pick{p, w, k.p.guess(w)})
	}
	slices.SortFunc(out, better)
	return k.let(ctx, out)
}

// let keeps of what is sorted what passes the filter, a few more than are needed.
func (k *picker) let(ctx context.Context, all []pick) ([]pick, error) {
	if !k.narrowed() {
		return all, nil
	}
	var out []pick
	for len(all) > 0 && len(out) <= picked {
		some := all[:min(4*picked, len(all))]
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

// words are those around a place, on its path.
func (k *picker) words(p driver.Place) windows {
	w := beside(k.events, p)
	l := k.o.lines[p.Branch()]
	if l == nil || p.Seq()-reach >= l.First {
		return w
	}
	for seq := max(p.Seq()-reach, 1); seq < l.First; seq++ {
		if at, ok := k.o.at(l.Number, seq); ok {
			if i, found := find(k.events, at); found {
				w.add(k.events[i].words, p.Seq()-seq)
			}
		}
	}
	return w
}

// beside are the words around a place, as far as they are on its branch.
func beside(events []event, p driver.Place) windows {
	i, found := find(events, p)
	return wordsBeside(events, i, p, found)
}

// besideAt is beside of the i-th event.
func besideAt(events []event, i int) windows { return wordsBeside(events, i, events[i].place, true) }

// wordsBeside is beside of a place that is, or would be, the i-th event.
func wordsBeside(events []event, i int, p driver.Place, found bool) (w windows) {
	for j := i - 1; j >= 0 && p-events[j].place <= reach; j-- {
		w.add(events[j].words, int64(p-events[j].place))
	}
	if found {
		w.add(events[i].words, 0)
		i++
	}
	for ; i < len(events) && events[i].place-p <= reach; i++ {
		w.add(events[i].words, int64(events[i].place-p))
	}
	return w
}

// find is where a place is among events, or would be.
func find(events []event, p driver.Place) (int, bool) {
	return sort.Find(len(events), func(i int) int { return comparePlaces(p, events[i].place) })
}

// better puts the higher score first, and the newer place of equals.
func better(a, b pick) int {
	return cmp.Or(cmp.Compare(b.score, a.score), comparePlaces(b.place, a.place))
}

// top keeps the best of many, as a heap with the worst on top.
type top struct {
	heap []pick
	most int
}

func newTop(most int) *top { return &top{most: most} }

func (t *top) add(c pick) {
	if len(t.heap) < t.most {
		t.heap = append(t.heap, c)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if better(t.heap[i], t.heap[up]) <= 0 {
				break
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	if t.most == 0 || better(c, t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = c
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < len(t.heap) && better(t.heap[down+1], t.heap[down]) > 0 {
			down++
		}
		if down >= len(t.heap) || better(t.heap[down], t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[down] = t.heap[down], t.heap[i]
		i = down
	}
}
