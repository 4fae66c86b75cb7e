// Package search finds messages by words and ranks them, the same way on every
// database: the database brings candidates by their terms, and what follows is
// judged here by rarity and closeness of words, names, dates and who spoke.
//
// Words it adds: ask (a query as it is understood), cue (what makes a match more likely
// without narrowing), passage (the piece of a text that matches best).
//
// Invariants: a search writes nothing; the order depends on what was found and the
// given time, not on a map's order or a clock.
//
// It may not know the store, SQL, HTTP or models.
package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/store/vectors"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Log is what is searched: the messages of a driver through their index. Text is what a
// message is found by, with the text of its artifacts.
type Log struct {
	*driver.Driver
	Look *index.Snapshot
	Text func(context.Context, scrollback.Message) string
	Ask  Question // nil: words alone count
}

// search is a search under way.
type search struct {
	d      *driver.Driver
	look   *index.Snapshot
	text   func(context.Context, scrollback.Message) string
	w      WeightSet
	except []scrollback.MessageID
	finder terms.Finder // texts of candidates are cut again for several features

	ask  Question        // until it was called
	near *vectors.Lookup // what it returned
}

// searchResult is what a search ranks. all says that nothing else matched.
type searchResult struct {
	parsedQuery
	scope *scope
	all   bool
	best  []*Candidate
}

// Run finds messages by words and ranks them; now is what dates without a year are
// read by, in the query's zone. A query without a word to look for is invalid. It looks in
// Projects, and does not read Project.
func Run(ctx context.Context, l Log, q scrollback.SearchQuery, now time.Time) (scrollback.SearchResult, error) {
	out := scrollback.SearchResult{Hits: []scrollback.Hit{}}
	s := search{d: l.Driver, look: l.Look, text: l.Text, w: DefaultWeights(), except: q.Except, ask: l.Ask}
	f, err := s.rankFolderFirst(ctx, q, inZone(q.Zone, now))
	if err != nil {
		return out, err
	}
	if out.Truncated = !f.all; f.all {
		out.Total = len(f.best)
		out.Conversations = f.countConversations()
	}
	skip := min(max(q.Offset, 0), len(f.best))
	var read int
	out.Hits, read, err = s.readHits(ctx, f, skip, q)
	if next := skip + read; next < len(f.best) {
		out.Next = &next
	}
	if q.Order == scrollback.OrderTime {
		slices.SortFunc(out.Hits, func(a, b scrollback.Hit) int {
			return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Seq, b.Seq),
				cmp.Compare(a.MessageID, b.MessageID))
		})
	}
	return out, err
}

// rankFolderFirst brings the best, best first: those of the query's folders before all others.
func (s *search) rankFolderFirst(ctx context.Context, q scrollback.SearchQuery, now time.Time) (searchResult, error) {
	if q.Conversation != "" || len(q.Folders) == 0 {
		o, err := s.scopeOf(ctx, q)
		if err != nil {
			return searchResult{}, err
		}
		return s.rankInScope(ctx, q, now, o)
	}
	numbers, err := s.look.ListWorkedNumbers(ctx, driver.FolderQuery{Folders: q.Folders})
	if err != nil {
		return searchResult{}, err
	}
	here, err := s.rankInScope(ctx, q, now, s.scopeOn(numbers, true, q.Projects))
	if err != nil || q.InFolders {
		return here, err
	}
	f, err := s.rankInScope(ctx, q, now, s.scopeOn(numbers, false, q.Projects))
	if err != nil {
		return f, err
	}
	f.best = append(here.best, f.best...)
	f.all = here.all && f.all
	for _, l := range here.scope.lines { // hits of either are looked at from here
		if l != nil {
			f.scope.addBranch(*l)
		}
	}
	return f, nil
}

// FindCandidates returns the messages that a search ranks, with their features, in no particular
// order: what weights are learned from. [RankCandidates] ranks them.
func FindCandidates(ctx context.Context, l Log, q scrollback.SearchQuery, now time.Time) ([]*Candidate, error) {
	s := search{d: l.Driver, look: l.Look, text: l.Text, w: DefaultWeights(), except: q.Except}
	o, err := s.scopeOf(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := s.parseQuery(q, inZone(q.Zone, now))
	if err != nil {
		return nil, err
	}
	all, _, err := s.findCandidates(ctx, &a, o)
	return all, err
}

// inZone returns a time as it is in a zone; nil is UTC.
func inZone(zone *time.Location, t time.Time) time.Time {
	if zone == nil {
		return t.UTC()
	}
	return t.In(zone)
}

// parseQuery reads a query, and what else narrows it.
func (s *search) parseQuery(q scrollback.SearchQuery, now time.Time) (parsedQuery, error) {
	a, err := parseQuery(q.Query, now)
	if err != nil {
		return a, err
	}
	if a.IsEmpty() {
		return a, scrollback.ParamErrorf("search.Run", "query", i18n.QueryHasNoWord)
	}
	a.narrow(q)
	for i := range a.parts {
		a.parts[i].narrow(q)
	}
	return a, nil
}

// narrow applies the role and the time of a query's parameters.
func (a *parsedQuery) narrow(q scrollback.SearchQuery) {
	a.role = cmp.Or(q.Role, a.role)
	a.from = max(a.from, q.From)
	if q.To != 0 {
		a.to = earlierEnd(a.to, q.To)
	}
}

// What a place in the ranking of a query and of one of its parts counts for; see [fuseRankings].
const (
	wholeWeight = 0.5
	partWeight  = 1
)

// rankInScope finds messages in a scope and ranks them, by words and by what they mean.
func (s *search) rankInScope(ctx context.Context, q scrollback.SearchQuery, now time.Time,
	o *scope) (searchResult, error) {
	f, err := s.rankByWords(ctx, q, now, o)
	if err == nil {
		err = s.rankByMeaning(ctx, &f)
	}
	return f, err
}

// rankByWords finds messages in a scope and ranks them. A query that asks for more than one thing, or
// that asks in the midst of other talk, is ranked as a whole and by its questions.
func (s *search) rankByWords(ctx context.Context, q scrollback.SearchQuery, now time.Time,
	o *scope) (searchResult, error) {
	f := searchResult{scope: o}
	var err error
	if f.parsedQuery, err = s.parseQuery(q, now); err != nil {
		return f, err
	}
	if f.best, f.all, err = s.rankQuery(ctx, &f.parsedQuery, o); err != nil || len(f.parts) == 0 {
		return f, err
	}
	rankings := []ranking{{f.best, wholeWeight}}
	for i := range f.parts {
		best, all, err := s.rankQuery(ctx, &f.parts[i], o)
		if err != nil {
			return f, err
		}
		f.all = f.all && all
		rankings = append(rankings, ranking{best, partWeight})
	}
	f.best = fuseRankings(rankings)
	if len(f.best) > maxPicked {
		f.best = f.best[:maxPicked]
		f.all = false
	}
	return f, nil
}

// rankQuery finds the messages for a query in a scope, best first. all says that nothing else matched.
func (s *search) rankQuery(ctx context.Context, a *parsedQuery, o *scope) (best []*Candidate, all bool, err error) {
	best, all, err = s.findCandidates(ctx, a, o)
	RankCandidates(best, s.w)
	return best, all, err
}

// findCandidates brings what is to be ranked for a query in a scope.
func (s *search) findCandidates(ctx context.Context, a *parsedQuery, o *scope) (all []*Candidate, whole bool,
	err error) {
	p, err := s.readPostings(ctx, a, o)
	if err != nil {
		return nil, false, err
	}
	k := &picker{search: s, a: a, o: o, p: p, events: p.listEvents(a),
		filter: driver.PostingQuery{Role: a.role, From: a.from, To: a.to}}
	best, ms, err := k.pickMessages(ctx)
	if err != nil {
		return nil, false, err
	}
	j := newScorer(s, a, o, p)
	if err := j.addCandidates(ctx, ms); err != nil {
		return nil, false, err
	}
	if a.question {
		err = k.lookAgain(ctx, j)
	}
	return j.all, best.all, err
}

// countConversations counts those that the messages are in.
func (f searchResult) countConversations() int {
	in := map[scrollback.ConversationID]bool{}
	for _, c := range f.best {
		in[f.scope.findHome(c.Message)] = true
	}
	return len(in)
}

// readPicked reads messages by their places.
func (s *search) readPicked(ctx context.Context, o *scope, all []pick) (map[driver.Place]scrollback.Message, error) {
	places := make([]driver.Place, len(all))
	for i, c := range all {
		places[i] = c.place
	}
	slices.Sort(places)
	ms, err := s.look.ReadMessagesAt(ctx, places)
	if err != nil {
		return nil, err
	}
	out := make(map[driver.Place]scrollback.Message, len(ms))
	for _, m := range ms {
		if n, known := o.numbers[m.Branch]; known {
			out[driver.NewPlace(n, m.Seq)] = m
		}
	}
	return out, nil
}
