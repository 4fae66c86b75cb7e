package search

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// verified is how many messages are read at most to see whether they hold quoted words in
// their order.
const verified = 1200

// phrases picks the messages that hold all quoted words, and reads them.
func (k *picker) phrases(ctx context.Context) (picks, map[driver.Place]scrollback.Message, error) {
	places, err := k.quoted(ctx)
	if err != nil {
		return picks{}, nil, err
	}
	events := make([]event, 0, len(places))
	for _, p := range places {
		events = append(events, event{place: p})
	}
	loose := k.events
	top := newTop(len(events))
	for _, e := range events {
		w := beside(loose, e.place)
		top.add(pick{e.place, w, k.p.guess(w)})
	}
	all := top.heap
	var numbers []int64
	for _, c := range all {
		numbers = append(numbers, c.place.Branch())
	}
	if err := k.o.learn(ctx, numbers); err != nil {
		return picks{}, nil, err
	}
	all = slices.DeleteFunc(all, func(c pick) bool { return !k.o.lets(c.place) })
	slices.SortFunc(all, better)
	var out picks
	read := map[driver.Place]scrollback.Message{}
	for from := 0; ; {
		if len(out.best) >= picked || from >= min(len(all), verified) {
			out.all = from >= len(all) && len(out.best) <= picked
			out.best = out.best[:min(len(out.best), picked)]
			return out, read, nil
		}
		some := all[from:min(from+picked, len(all))]
		from += len(some)
		ms, err := k.located(ctx, k.o, some)
		if err != nil {
			return picks{}, nil, err
		}
		for _, c := range some {
			if m, ok := ms[c.place]; ok && k.holds(ctx, m) {
				out.best = append(out.best, c)
				read[c.place] = m
			}
		}
	}
}

// quoted are the places that hold every term of the quoted words and pass the filter.
func (k *picker) quoted(ctx context.Context) ([]driver.Place, error) {
	var want []string
	for _, phrase := range k.a.Must {
		for _, t := range phrase {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	q := k.filter
	q.Within = k.o.within
	q.Terms = want
	q.Most = commonest
	lists, err := k.look.Postings(ctx, q)
	if err != nil {
		return nil, err
	}
	var found []driver.Place
	var common []string
	first := true
	for i, l := range lists {
		switch {
		case l.Holding > commonest:
			common = append(common, want[i])
		case first:
			found = l.Places
			first = false
		default:
			found = both(found, l.Places)
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
			found = both(found, l.Places)
		}
	}
	return found, nil
}

// both are the places in two lists that ascend.
func both(a, b []driver.Place) []driver.Place {
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

// holds reports whether a message holds all quoted words as they are quoted.
func (k *picker) holds(ctx context.Context, m scrollback.Message) bool {
	text := Text(m.Parts)
	if len(Artifacts(m.Parts)) > 0 {
		text = k.text(ctx, m)
	}
	for _, phrase := range k.a.Must {
		if !phraseIn(text, phrase) {
			return false
		}
	}
	return true
}

// phraseIn reports whether a text holds the phrase, term after term.
func phraseIn(text string, phrase []string) bool {
	places, _ := terms.TermPlaces(text, phrase, MaxTerms)
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
