package search

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of what is read to see whether it holds quoted words in their order.
const (
	maxVerified   = 1200          // where they are demanded
	maxQuoted     = maxPicked / 3 // messages with a phrase that are ranked beside what other words find
	quotedPhrases = 4             // of a query, for which they are
)

// pickQuoted picks the messages that hold any of the phrases among other words: those words alone
// may not bring them.
func (k *picker) pickQuoted(ctx context.Context) ([]pick, error) {
	var out []pick
	for _, p := range k.a.Quoted[:min(len(k.a.Quoted), quotedPhrases)] {
		got, _, err := k.pickPhrases(ctx, []terms.Phrase{p}, maxQuoted/min(len(k.a.Quoted), quotedPhrases))
		if err != nil {
			return nil, err
		}
		out = append(out, got.best...)
	}
	return out, nil
}

// pickPhrases picks at most most messages that hold all of some phrases, and reads them.
func (k *picker) pickPhrases(ctx context.Context, phrases []terms.Phrase, most int) (picks,
	map[driver.Place]scrollback.Message, error) {
	places, err := k.findQuoted(ctx, phrases)
	if err != nil {
		return picks{}, nil, err
	}
	events := make([]wordMatch, 0, len(places))
	for _, p := range places {
		events = append(events, wordMatch{place: p})
	}
	loose := k.events
	top := newTop(len(events))
	for _, e := range events {
		w := windowsOnBranch(loose, e.place)
		top.addPick(pick{e.place, w, k.p.estimateScore(w)})
	}
	all := top.heap
	var numbers []int64
	for _, c := range all {
		numbers = append(numbers, c.place.Branch())
	}
	if err := k.o.readBranches(ctx, numbers); err != nil {
		return picks{}, nil, err
	}
	all = slices.DeleteFunc(all, func(c pick) bool { return !k.o.contains(c.place) })
	slices.SortFunc(all, comparePicks)
	var out picks
	read := map[driver.Place]scrollback.Message{}
	for from := 0; ; {
		if len(out.best) >= most || from >= min(len(all), maxVerified) {
			out.all = from >= len(all) && len(out.best) <= most
			for _, c := range out.best[min(len(out.best), most):] {
				delete(read, c.place)
			}
			out.best = out.best[:min(len(out.best), most)]
			return out, read, nil
		}
		some := all[from:min(from+maxPicked, maxVerified, len(all))]
		from += len(some)
		ms, err := k.readPicked(ctx, k.o, some)
		if err != nil {
			return picks{}, nil, err
		}
		for _, c := range some {
			if len(out.best) > most {
				break
			}
			if m, ok := ms[c.place]; ok && k.quotedShare(ctx, m, phrases) == 1 {
				out.best = append(out.best, c)
				read[c.place] = m
			}
		}
	}
}

// findQuoted returns the places that hold every term of some phrases and pass the filter.
func (k *picker) findQuoted(ctx context.Context, phrases []terms.Phrase) ([]driver.Place, error) {
	var want []string
	for _, phrase := range phrases {
		for _, t := range phrase.Terms {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	q := k.filter
	q.Within = k.o.within
	q.Terms = want
	q.Most = maxPlacesOfTerm
	lists, err := k.look.Postings(ctx, q)
	if err != nil {
		return nil, err
	}
	var found []driver.Place
	var common []string
	first := true
	for i, l := range lists {
		switch {
		case l.Holding > maxPlacesOfTerm:
			common = append(common, want[i])
		case first:
			found = l.Places
			first = false
		default:
			found = intersectPlaces(found, l.Places)
		}
	}
	if len(common) == 0 || !first && len(found) == 0 {
		return found, nil
	}
	q.Terms = common
	q.Most = 0
	if !first {
		q.Within = nil
		for _, p := range found {
			q.Within = append(q.Within, driver.PlaceRun{First: p, Last: p})
		}
	}
	if lists, err = k.look.Postings(ctx, q); err != nil {
		return nil, err
	}
	for _, l := range lists {
		if first {
			found = l.Places
			first = false
		} else {
			found = intersectPlaces(found, l.Places)
		}
	}
	return found, nil
}

// intersectPlaces returns the places in two lists that ascend.
func intersectPlaces(a, b []driver.Place) []driver.Place {
	var out []driver.Place
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			out = append(out, a[0])
			a = a[1:]
			b = b[1:]
		}
	}
	return out
}

// quotedShare returns the share of some phrases that a message holds as they are quoted.
func (s *search) quotedShare(ctx context.Context, m scrollback.Message, phrases []terms.Phrase) float64 {
	text := IndexedText(m.Parts)
	if len(ListArtifacts(m.Parts)) > 0 {
		text = s.text(ctx, m)
	}
	held := 0
	for _, phrase := range phrases {
		if s.containsPhrase(text, phrase.Order) {
			held++
		}
	}
	return float64(held) / float64(len(phrases))
}

// containsPhrase reports whether a text holds the phrase, term after term.
func (s *search) containsPhrase(text string, phrase []string) bool {
	places, _ := s.finder.TermPlaces(text, phrase, MaxTerms)
	for _, first := range places[0] {
		i := 1
		for i < len(phrase) {
			if _, there := slices.BinarySearch(places[i], first+i); !there {
				break
			}
			i++
		}
		if i == len(phrase) {
			return true
		}
	}
	return false
}
