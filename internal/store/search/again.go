package search

import (
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of the second look.
const (
	againHits   = 5    // of the best, which are completed
	againBytes  = 1024 // of each, in which names are looked for
	againNames  = 32   // of each
	againPlaces = 200  // of a name, at most: it is rare
	againPicked = 40   // messages that are read and ranked besides
	againLack   = 0.25 // of the question's words, by their rarity, that a hit lacks at least
)

// lookAgain completes the best hits: it finds messages that hold words of the question which one
// of these lacks, and share a rare name with it. Who is asked about was named there, and what is
// asked stands here.
func (k *picker) lookAgain(ctx context.Context, j *scorer) error {
	if k.p.total == 0 || k.a.Words < 2 {
		return nil
	}
	best := slices.Clone(j.all)
	RankCandidates(best, k.w)
	var there uint64 // words that stand anywhere
	for i, w := range k.p.words {
		if w > 0 {
			there |= 1 << i
		}
	}
	lacks := map[string]uint64{} // by name, what the hits lack that hold it
	holders := map[string][]driver.Place{}
	var names []string
	for _, c := range best[:min(len(best), againHits)] {
		lack := there &^ c.held
		if k.p.weightShare(lack) < againLack || c.held == 0 {
			continue
		}
		own := terms.NamesIn(clipBytes(c.text, againBytes))
		for _, name := range own[:min(len(own), againNames)] {
			if slices.Contains(k.a.Any, name) {
				continue
			}
			if lacks[name] == 0 {
				names = append(names, name)
			}
			lacks[name] |= lack
			holders[name] = append(holders[name], c.place)
		}
	}
	if len(names) == 0 {
		return nil
	}
	lists, err := k.look.Postings(ctx, driver.PostingQuery{Terms: names, Within: k.o.within, Most: againPlaces})
	if err != nil {
		return err
	}
	links := map[driver.Place]float64{}
	for i, l := range lists {
		name := names[i]
		rarity := 1 / math.Log2(1+float64(max(l.Holding, 1)))
		for _, at := range l.Places {
			e, found := findEvent(k.events, at)
			if !found || slices.Contains(holders[name], at) {
				continue
			}
			gain := rarity * k.p.weightOf(k.events[e].words&lacks[name]) / k.p.weightOf(lacks[name])
			if gain > 0 {
				links[at] = max(links[at], gain)
			}
		}
	}
	if err := k.readLinked(ctx, j, links); err != nil {
		return err
	}
	for at, gain := range links {
		if c := j.read[at]; c != nil {
			c.Linked = gain
		}
	}
	return nil
}

// readLinked makes candidates of the best messages that are linked to hits and are none yet.
func (k *picker) readLinked(ctx context.Context, j *scorer, links map[driver.Place]float64) error {
	top := newTop(againPicked)
	for at, gain := range links {
		if j.read[at] == nil {
			top.addPick(pick{place: at, score: gain})
		}
	}
	if len(top.heap) == 0 {
		return nil
	}
	var numbers []int64
	for _, c := range top.heap {
		numbers = append(numbers, c.place.Branch())
	}
	if err := k.o.readBranches(ctx, numbers); err != nil {
		return err
	}
	more := slices.DeleteFunc(top.heap, func(c pick) bool { return !k.o.contains(c.place) })
	slices.SortFunc(more, comparePicks)
	more, err := k.filterPicks(ctx, more)
	if err != nil || len(more) == 0 {
		return err
	}
	ms, err := k.readPicked(ctx, k.o, more)
	if err != nil {
		return err
	}
	return j.addCandidates(ctx, ms)
}
