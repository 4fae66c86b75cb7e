package evidence

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// Facts are what is known about how well a stretch of a conversation fits a prompt.
type Facts struct {
	Identifier bool // a rare identifier of the prompt stands in it, or a rare proper name
	Proper     bool // of the two, only a proper name does
	Long       bool // the conversation has very many messages
	Dense      bool // the prompt is in a script without spaces
	Together   int  // informative words near each other
	Features   []Feature

	weight, here float64 // of the words in it, by how few conversations of the store and of the place have them
}

// Feature is what speaks for something or against it.
type Feature struct {
	Name  string
	Value float64
}

// Weights are what each feature counts for, by the name of what is decided and that of the feature.
type Weights map[string]float64

// What is decided: to speak, and to tell a message. Each has a constant, and what the sum must reach; of a prompt in a
// script without spaces, of which pairs of characters are counted that nobody wrote as words, this is another.
const (
	Speak    = "speak"
	Tell     = "tell"
	Constant = "constant"
	Bar      = "bar"
	DenseBar = "bar, dense"
)

// Score sums up features.
func (w Weights) Score(decided string, all []Feature) float64 {
	sum := w[decided+" "+Constant]
	for _, f := range all {
		sum += w[decided+" "+f.Name] * f.Value
	}
	return sum
}

// The weights are learned by bench/recall: go -C bench run ./recall -learn-hooks.
//
//go:embed weights.tsv
var weightsTable string

// Learned returns the weights of weights.tsv. They are not to be changed.
var Learned = sync.OnceValue(func() Weights {
	out := Weights{}
	for line := range strings.Lines(weightsTable) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if line[0] == '#' || f[0] == "decided" {
			continue
		}
		hundredths, err := strconv.Atoi(f[2])
		if err != nil {
			panic("evidence: weights.tsv: " + line)
		}
		out[f[0]+" "+f[1]] = float64(hundredths) / 100
	}
	return out
})

// properWeight is what a rare proper name counts for, as much as other identifiers. It is not learned: in the
// sets that weights are learned from, too few prompts have one.
const properWeight = 1.2

// Score returns how well a stretch fits, in the scale of the bars.
func (f Facts) Score(w Weights) float64 {
	return w.Score(Speak, f.Features) + properWeight*oneIf(f.Proper)
}

// Judge reports whether to speak, and why or why not. Two words that say something must be near each other, or a rare
// identifier: one word alone says nothing.
func Judge(f Facts, w Weights) (speak bool, why string) {
	bar := w[Speak+" "+Bar]
	if f.Dense {
		bar = w[Speak+" "+DenseBar]
	}
	switch {
	case f.Long && !f.Identifier:
		return false, "the conversation is long"
	case f.Together < 2 && !f.Identifier:
		return false, "too few words fit"
	case f.Score(w) < bar:
		return false, "it does not fit well enough"
	case f.Identifier:
		return true, "a rare name fits"
	}
	return true, "its words fit"
}

// weighFacts sums up how well a stretch fits; covered are the words in it. What [finding.readBest] adds is how well
// the others do.
func (f *finding) weighFacts(s *Stretch, covered map[int]bool) Facts {
	p := &f.prompt
	var out Facts
	var matched []int
	var rarities []float64
	allHere := 0.0
	dense := 0
	for w := range p.words {
		if p.words[w].dense {
			dense++
		}
		allHere += f.here[w]
		if covered[w] {
			matched = append(matched, w)
			out.weight += f.weights[w]
			out.here += f.here[w]
			rarities = append(rarities, (f.weights[w]+f.here[w])/2)
		}
	}
	slices.SortFunc(rarities, func(a, b float64) int { return cmp.Compare(b, a) })
	rarities = append(rarities, 0, 0)
	out.Dense = 2*dense > len(p.words)
	out.Together = f.countInformative(matched)
	asked := 0.0
	answered := 0.0
	identifier := false
	proper := false
	said := map[int]bool{} // proper names: what has only some of them is about somebody else
	for _, m := range s.messages {
		if m.Role == scrollback.RoleUser {
			asked = max(asked, m.weight)
		} else {
			answered = max(answered, m.weight)
		}
		identifier = identifier || m.named &&
			slices.ContainsFunc(m.words, func(w int) bool { return p.words[w].name != "" && f.rare[w] })
		for _, i := range m.proper {
			said[i] = true
		}
		proper = proper || len(m.proper) > 0 &&
			slices.ContainsFunc(m.words, func(w int) bool { return p.words[w].proper && f.rare[w] })
	}
	proper = proper && len(said) == len(p.proper)
	out.Identifier = identifier || proper
	out.Proper = proper && !identifier
	total := max(f.total, tiny)
	coveredHere := out.here / max(allHere, tiny)
	order := oneIf(p.tone == Order)
	out.Features = []Feature{
		{"covered", out.weight / total},              // share of the prompt's weight
		{"covered here", coveredHere},                // the same, by how few conversations of the place have a word
		{"covered here, order", coveredHere * order}, // of a prompt that gives an order
		{"weight", out.weight},
		{"rarest", rarities[0]}, // of the words that fit
		{"second rarest", rarities[1]},
		{"together", math.Log1p(float64(out.Together))},
		{"identifier", oneIf(identifier)},
		{"asked", asked},                             // the most weight in one message of a person
		{"answered", answered},                       // and of a model
		{"unseen", f.unseen / total},                 // share of words that nobody wrote anywhere
		{"away", f.away / total},                     // how much better another place fits
		{"words", math.Log1p(float64(len(p.words)))}, // and the rest: how the prompt asks
		{"past", oneIf(p.tone == Past)},
		{"question", oneIf(p.tone == Question)},
		{"why", oneIf(p.asks.why)},
		{"again", oneIf(p.asks.again)},
		{"permission", oneIf(p.asks.permission)},
		{"make", oneIf(p.asks.make)},
	}
	return out
}

// tiny is divided by instead of nothing.
const tiny = 1e-9

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
