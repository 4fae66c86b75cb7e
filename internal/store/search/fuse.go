package search

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// fuseOffset is how many places at the top of a ranking differ little.
const fuseOffset = 10

// ranking is an order of messages, best first, and what it counts for beside others.
type ranking struct {
	best   []*Candidate
	weight float64
}

// fuseRankings joins orders of messages, which may have been found in different ways, to one: each place
// gives weight / (10 + place), and a message has the sum of what its places give. Scores need not be
// comparable. A message keeps the candidate of the ranking in which its place gives most.
func fuseRankings(all []ranking) []*Candidate {
	type fused struct {
		*Candidate
		sum, most float64
	}
	of := map[scrollback.MessageID]*fused{}
	for _, r := range all {
		for i, c := range r.best {
			gives := r.weight / float64(fuseOffset+i)
			f := of[c.Message.ID]
			if f == nil {
				f = &fused{}
				of[c.Message.ID] = f
			}
			if f.sum += gives; gives > f.most {
				f.most = gives
				f.Candidate = c
			}
		}
	}
	out := make([]*Candidate, 0, len(of))
	for _, f := range of {
		f.Score = f.sum
		out = append(out, f.Candidate)
	}
	slices.SortFunc(out, func(a, b *Candidate) int { return cmp.Or(cmp.Compare(b.Score, a.Score), byAge(b, a)) })
	return out
}
