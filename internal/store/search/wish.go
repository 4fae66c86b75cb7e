package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// wishTerms are words of sentences that say what a person wants kept to, or likes. A
// question about that seldom shares a word with them.
var wishTerms = sync.OnceValue(func() []string {
	out := strings.Fields(`一律 总是 永远 从不 从来 务必 以后 不要 别再 喜欢 偏好 习惯 讨厌 最爱 过敏 吃素 我只 宁可 宁愿 更愿 受不 不了 不吃 不喝 不碰 头疼 反胃 害怕`)
	out = append(out, foreign.Words("wish-term")...)
	for _, w := range strings.Fields(`always never prefer preference favourite favorite please instead avoid rather usually fan hate dislike
		enjoy love like want allergic vegetarian vegan interested goal budget stand bear refuse only best bore drain afraid sick diet
		eat drink wear drive follow habit mostly choose go`) {
		out = append(out, terms.SplitTerms(w)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// Bounds of what is read because it may be a wish.
const (
	wishesPicked = maxPicked / 5
	wishPlaces   = 5_000 // of one term
)

// pickWishes returns messages of people that say what they want kept to, like, or what is so about them,
// the best of them first: those with rare words of wishes, and with words of the question around.
func (k *picker) pickWishes(ctx context.Context) ([]pick, error) {
	q := driver.PostingQuery{Terms: wishTerms(), Within: k.o.within, Role: scrollback.RoleUser, From: k.filter.From,
		To: k.filter.To, Most: wishPlaces}
	if k.filter.Role != "" && k.filter.Role != q.Role {
		return nil, nil
	}
	lists, err := k.look.Postings(ctx, q)
	if err != nil {
		return nil, err
	}
	worth := map[driver.Place]float64{}
	for _, l := range lists {
		rare := math.Log(1 + float64(k.countDocuments())/float64(max(l.Holding, 1)))
		for _, at := range l.Places {
			worth[at] += rare
		}
	}
	best := newTop(4 * wishesPicked) // some are elsewhere
	for at, rare := range worth {
		w := windowsOnBranch(k.events, at)
		best.addPick(pick{at, w, rare + k.p.estimateScore(w)})
	}
	numbers := make([]int64, len(best.heap))
	for i, c := range best.heap {
		numbers[i] = c.place.Branch()
	}
	if err := k.o.readBranches(ctx, numbers); err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(best.heap, func(c pick) bool { return !k.o.contains(c.place) })
	slices.SortFunc(out, comparePicks)
	ms, err := k.readPicked(ctx, k.o, out)
	if err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(c pick) bool {
		text := clipBytes(IndexedText(ms[c.place].Parts), cueBytes)
		return scoreTrait(text) == 0 && scoreStanding(text) == 0
	})
	return out[:min(len(out), wishesPicked)], nil
}

// addPicks puts more among what is read, in the place of the least of it.
func addPicks(best picks, more []pick) picks {
	there := map[driver.Place]bool{}
	for _, c := range best.best {
		there[c.place] = true
	}
	more = slices.DeleteFunc(more, func(c pick) bool {
		was := there[c.place]
		there[c.place] = true
		return was
	})
	if over := len(best.best) + len(more) - maxPicked; over > 0 {
		best.best = best.best[:len(best.best)-over]
		best.all = false
	}
	best.best = append(best.best, more...)
	return best
}
