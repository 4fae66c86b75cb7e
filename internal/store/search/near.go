package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/vectors"
)

// Question looks at the vectors of messages by that of a question, which its text makes; nil where there are
// none. It is called when it is needed, and at most once.
type Question func(ctx context.Context, text string) (*vectors.Lookup, error)

// maxNearest is how many messages are taken that vectors find by themselves.
const maxNearest = 100

// What a place that vectors give counts for beside one that words give: little while words can be found, and more, the
// more of the words that are asked for stand nowhere.
const (
	byWordWeight  = 1
	nearWeight    = 0.2
	unfoundWeight = 1
)

// lookup returns the vectors as the question of a query sees them, or nil.
func (s *search) lookup(ctx context.Context, a *parsedQuery) (*vectors.Lookup, error) {
	if s.ask != nil {
		ask := s.ask
		s.ask = nil
		var err error
		if s.near, err = ask(ctx, a.meaning); err != nil {
			return nil, err
		}
	}
	return s.near, nil
}

// rankByMeaning ranks what words have found by vectors too, and adds what is nearest by these alone. A query that
// demands its words gets nothing else.
func (s *search) rankByMeaning(ctx context.Context, f *searchResult) error {
	if f.Demanded || s.ask == nil && s.near == nil {
		return nil
	}
	near, err := s.lookup(ctx, &f.parsedQuery)
	if err != nil || near == nil {
		return err
	}
	narrowed := driver.PostingQuery{Within: f.scope.within, Role: f.role, From: f.from, To: f.to}
	nearest, err := near.FindNearest(ctx, narrowed, f.scope.keepContained)
	if err != nil {
		return err
	}
	byWords := map[driver.Place]*Candidate{}
	places := slices.Clone(nearest)
	for _, c := range f.best {
		byWords[c.place] = c
		places = append(places, c.place)
	}
	slices.Sort(places)
	nearness, err := near.Compare(ctx, slices.Compact(places))
	if err != nil {
		return err
	}
	slices.SortFunc(nearest, func(a, b driver.Place) int {
		return cmp.Or(cmp.Compare(nearness[b], nearness[a]), comparePlaces(b, a))
	})
	unfound, err := s.unfoundShare(ctx, f)
	if err != nil {
		return err
	}
	weight := nearWeight + unfoundWeight*unfound
	most := maxNearest
	if len(f.best) == maxPicked { // what comes behind all of these is not read
		most = min(most, int(weight/byWordWeight*(fuseOffset+maxPicked)))
	}
	var fresh []pick
	for _, p := range nearest[:min(len(nearest), most)] {
		if byWords[p] == nil {
			fresh = append(fresh, pick{place: p})
		}
	}
	ranked, err := s.scoreFresh(ctx, f, fresh)
	if err != nil {
		return err
	}
	for _, c := range f.best {
		if _, ok := nearness[c.place]; ok {
			ranked = append(ranked, c)
		}
	}
	slices.SortFunc(ranked, func(a, b *Candidate) int {
		return cmp.Or(cmp.Compare(nearness[b.place], nearness[a.place]), comparePlaces(b.place, a.place))
	})
	f.best = fuseRankings([]ranking{{f.best, byWordWeight}, {ranked, weight}})
	if len(f.best) > maxPicked {
		f.best = f.best[:maxPicked]
		f.all = false
	}
	return nil
}

// unfoundShare returns which share of the words that a query asks for stands in no message of the scope.
func (s *search) unfoundShare(ctx context.Context, f *searchResult) (float64, error) {
	asked := f.parts
	if len(asked) == 0 {
		asked = []parsedQuery{f.parsedQuery}
	}
	words := 0
	unfound := 0
	for i := range asked {
		p, err := s.readPostings(ctx, &asked[i], f.scope)
		if err != nil {
			return 0, err
		}
		words += asked[i].Words
		for _, weight := range p.words[:asked[i].Words] {
			if weight == 0 {
				unfound++
			}
		}
	}
	return float64(unfound) / float64(max(words, 1)), nil
}

// scoreFresh makes candidates of messages that no word has found.
func (s *search) scoreFresh(ctx context.Context, f *searchResult, fresh []pick) ([]*Candidate, error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	places := make([]driver.Place, len(fresh))
	for i, c := range fresh {
		places[i] = c.place
	}
	if err := f.scope.readParents(ctx, places); err != nil {
		return nil, err
	}
	ms, err := s.readPicked(ctx, f.scope, fresh)
	if err != nil {
		return nil, err
	}
	p, err := s.readPostings(ctx, &f.parsedQuery, f.scope)
	if err != nil {
		return nil, err
	}
	j := newScorer(s, &f.parsedQuery, f.scope, p)
	if err := j.addCandidates(ctx, ms); err != nil {
		return nil, err
	}
	return j.all, nil
}

// keepContained returns those of some places that are in the scope.
func (o *scope) keepContained(ctx context.Context, places []driver.Place) ([]driver.Place, error) {
	numbers := make([]int64, len(places))
	for i, p := range places {
		numbers[i] = p.Branch()
	}
	if err := o.readBranches(ctx, numbers); err != nil {
		return nil, err
	}
	var out []driver.Place
	for _, p := range places {
		if o.contains(p) {
			out = append(out, p)
		}
	}
	return out, nil
}
