package evidence

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/internal/told"
)

// Query asks what answers a prompt.
type Query struct {
	Prompt  string
	Place   Place
	Session Session
	Told    map[Seen]bool // in this session
	Kept    bool          // the last answers in it said nothing
	Most    int           // messages
}

// Answer is what was found, and why it is told or not.
type Answer struct {
	Found []Found
	Facts Facts    // of the best stretch
	Why   string   // to speak, or to be silent
	Terms []string // that fitted
}

// Bounds of a search.
const (
	tailMost = 512 // messages behind the index that are looked at
	// a word that more messages have says nothing: one in so many, but at least and at most so many
	commonShare   = 25
	commonLeast   = 2000
	commonMost    = 20_000
	considered    = 8 // conversations whose messages are read
	reach         = 5 // how far behind the words their answer may stand
	textBytes     = 16 << 10
	longMessages  = 300 // a conversation of more answers only by an identifier
	leastRarity   = 3   // conversations that may have a rare identifier, in a small store
	rareShare     = 100 // one in so many conversations, in a big one
	informative   = 0.3 // the weight from which a word says something
	plainDiscount = 0.3 // of words of any work
	denseUnseen   = 0.5 // of pairs of characters that nobody wrote: they may be no word
	wordUnseen    = 0.7 // of the weight of a word that nobody wrote
	wholeShare    = 0.3 // of the weight of words that stand elsewhere in the conversation
	windowSeqs    = 6
	fewBranches   = 400 // conversations that may have a word which tells places from each other
)

// Find returns what answers a prompt, at most q.Most messages of one conversation, best first.
func (s *Store) Find(ctx context.Context, q Query) (Answer, error) {
	p := readPrompt(q.Prompt)
	if len(p.words) == 0 {
		return Answer{Why: "no informative word"}, nil
	}
	all, err := s.consider(ctx, p, q)
	if err != nil || len(all) == 0 {
		return Answer{Why: "nothing here fits"}, err
	}
	best := all[0]
	out := Answer{Facts: best.Facts, Terms: best.Terms}
	var speak bool
	if speak, out.Why = Judge(best.Facts, Learned()); !speak {
		return out, nil
	}
	out.Found = best.addCorrection(best.Choose(Learned(), cmp.Or(q.Most, 2)), all)
	if len(out.Found) == 0 {
		out.Why = "told already, or it says nothing more"
	}
	return out, nil
}

// Consider returns the stretches of conversations that fit a prompt best, best first and at most one of each
// conversation. Find judges the first; the weights are learned from all.
func (s *Store) Consider(ctx context.Context, q Query) ([]*Stretch, error) {
	return s.consider(ctx, readPrompt(q.Prompt), q)
}

func (s *Store) consider(ctx context.Context, p prompt, q Query) ([]*Stretch, error) {
	f := &finding{store: s, prompt: p, told: q.Told}
	var err error
	if f.in, err = s.listScope(ctx, q.Place); err != nil || f.in.count == 0 {
		return nil, err
	}
	if f.may, err = s.newAdmission(ctx, q.Place, q.Session); err != nil {
		return nil, err
	}
	if err := f.readPostings(ctx); err != nil {
		return nil, err
	}
	return f.readBest(ctx)
}

// finding is a search under way.
type finding struct {
	store  *Store
	prompt prompt
	in     scope
	may    *admission
	told   map[Seen]bool

	look     lookup
	branches []branchWords // by number
	weights  []float64     // by word: how few conversations of the store have it
	here     []float64     // by word: how few of the place
	total    float64       // of all weights
	rare     []bool        // by word: few conversations have it
	unseen   float64       // of those that nobody wrote
	away     float64       // how much more of the weight a conversation of another place has than any of this one
	found    []candidate
	finder   terms.Finder
}

// lookup reads marks and messages at places.
type lookup interface {
	Postings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error)
	FindBranches(ctx context.Context, q driver.IndexedBranchQuery) (map[int64]driver.IndexedBranch, error)
	ReadMessagesAt(ctx context.Context, places []driver.Place) ([]scrollback.Message, error)
}

// candidate is a stretch of a branch that has words of the prompt.
type candidate struct {
	number int64
	seq    int64 // where it has the most
	score  float64
}

// readPostings weighs the words, and finds where in the scope they stand.
func (f *finding) readPostings(ctx context.Context) error {
	look, err := f.store.index.TakeSnapshotOfIndex(ctx, tailMost)
	if err != nil {
		return err
	}
	f.look = look
	common := int(min(max(look.State.Documents/commonShare, commonLeast), commonMost))
	postings, err := look.Postings(ctx, driver.PostingQuery{Terms: f.prompt.terms, Most: common})
	if err != nil {
		return err
	}
	all := f.in.count
	for _, p := range postings {
		if n := len(p.Places); n > 0 {
			all = max(all, int(p.Places[n-1].Branch()))
		}
	}
	f.weighWords(postings, all, int64(common))
	f.findStretches(f.listHits(postings))
	return nil
}

// weighWords weighs each word by how many of all conversations have it, and of those of the place. One that more than
// common messages have weighs nothing.
func (f *finding) weighWords(postings []driver.Postings, all int, common int64) {
	fits := map[int64]float64{} // by branch, the weight of its rare words
	f.branches = make([]branchWords, all+1)
	var list []int64 // the branches of a word
	for i, w := range f.prompt.words {
		list = list[:0]
		inPlace := 0
		factor := 1.0
		if w.plain {
			factor = plainDiscount
		}
		for _, t := range w.terms {
			if postings[t].Holding > common {
				factor = 0
			}
			before := int64(-1)
			for _, p := range postings[t].Places {
				number := p.Branch()
				if number == before || f.branches[number].last == i+1 {
					continue
				}
				before = number
				f.branches[number].last = i + 1
				list = append(list, number)
				if f.in.has(number) {
					inPlace++
				}
			}
		}
		here := factor * weigh(inPlace, f.in.count)
		weight := factor * weigh(len(list), all)
		if len(list) == 0 {
			weight *= unseen(w)
			f.unseen += weight
		}
		if len(list) <= fewBranches {
			for _, number := range list {
				fits[number] += weight
			}
		}
		for _, number := range list {
			f.branches[number].whole += weight
			f.branches[number].most = max(f.branches[number].most, weight)
		}
		f.rare = append(f.rare, len(list) > 0 && len(list) <= max(leastRarity, all/rareShare))
		f.weights = append(f.weights, weight)
		f.here = append(f.here, here)
		f.total += weight
	}
	here := 0.0
	elsewhere := 0.0
	for number, fit := range fits {
		if f.in.has(number) {
			here = max(here, fit)
		} else {
			elsewhere = max(elsewhere, fit)
		}
	}
	f.away = elsewhere - here
}

// branchWords are the words of a prompt that a branch has: the last one that was counted, their weight, and that of the
// heaviest.
type branchWords struct {
	last        int
	whole, most float64
}

// listHits lists where words stand in those branches of the place that may be among the best: each scores at least with
// its heaviest word, and at most with all of its words near each other.
func (f *finding) listHits(postings []driver.Postings) (hits []wordHit) {
	least := make([]float64, considered) // of the best, ascending
	for number, b := range f.branches {
		if b.last == 0 || !f.in.has(int64(number)) {
			continue
		}
		if at := b.most + wholeShare*b.whole; at > least[0] {
			least[0] = at
			for i := 1; i < considered && least[i-1] > least[i]; i++ {
				least[i-1], least[i] = least[i], least[i-1]
			}
		}
	}
	for i, w := range f.prompt.words {
		for _, t := range w.terms {
			may := false
			before := int64(-1)
			for _, p := range postings[t].Places {
				if number := p.Branch(); number != before {
					before = number
					may = f.in.has(number) && (1+wholeShare)*f.branches[number].whole+tiny >= least[0]
				}
				if may {
					hits = append(hits, wordHit{p, i})
				}
			}
		}
	}
	return hits
}

// wordHit is a place in the scope where a word of the prompt stands.
type wordHit struct {
	place driver.Place
	word  int
}

// findStretches finds the best stretch of each branch, best first.
func (f *finding) findStretches(hits []wordHit) {
	slices.SortFunc(hits, func(a, b wordHit) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.word, b.word))
	})
	for from := 0; from < len(hits); {
		to := from
		number := hits[from].place.Branch()
		seen := map[int]bool{}
		whole := 0.0
		for ; to < len(hits) && hits[to].place.Branch() == number; to++ {
			if !seen[hits[to].word] {
				seen[hits[to].word] = true
				whole += f.weights[hits[to].word]
			}
		}
		best := candidate{number: number, score: -1}
		for i := from; i < to; i++ {
			if i > from && hits[i].place == hits[i-1].place {
				continue
			}
			near := map[int]bool{}
			score := 0.0
			for j := i; j < to && hits[j].place.Seq()-hits[i].place.Seq() < windowSeqs; j++ {
				if !near[hits[j].word] {
					near[hits[j].word] = true
					score += f.weights[hits[j].word]
				}
			}
			if score > best.score {
				best.score = score
				best.seq = hits[i].place.Seq()
			}
		}
		best.score += wholeShare * whole
		f.found = append(f.found, best)
		from = to
	}
	slices.SortFunc(f.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number)) // the newer branch
	})
}

// unseen returns how much of its weight a word keeps that nobody wrote: it may be another word for what was said. One
// that is written elsewhere and not here is about something else.
func unseen(w promptWord) float64 {
	if w.dense {
		return denseUnseen
	}
	return wordUnseen
}

// Stretch is a few messages of a conversation that have words of a prompt.
type Stretch struct {
	candidate
	Facts Facts
	Terms []string // that fitted

	f            *finding
	conversation scrollback.ConversationID
	tool         string
	messages     []heard
	may          []Message // once they were asked for
}

// heard is a message of a person or a model, with the words of the prompt that are in it.
type heard struct {
	scrollback.Message
	text   string
	words  []int
	weight float64
	named  bool  // an identifier of the prompt stands in it, as it stands there
	proper []int // proper names of the prompt that stand in it, too
}

// readBest reads the best candidates and returns them, the one that fits best first.
func (f *finding) readBest(ctx context.Context) ([]*Stretch, error) {
	all := f.found[:min(len(f.found), considered)]
	numbers := make([]int64, len(all))
	for i, c := range all {
		numbers[i] = c.number
	}
	branches, err := f.look.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: numbers})
	if err != nil {
		return nil, err
	}
	var out []*Stretch
	for _, c := range all {
		b, live := branches[c.number]
		if !live || b.Heir != "" {
			continue
		}
		s, err := f.readStretch(ctx, c, b)
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Stretch) int { return cmp.Compare(b.Facts.weight, a.Facts.weight) })
	for i, s := range out {
		rival := 0.0
		for j, o := range out {
			if j != i {
				rival = max(rival, o.Facts.here)
			}
		}
		s.Facts.Features = append(s.Facts.Features, Feature{"rival", rival})
	}
	return out, nil
}

// readStretch reads the messages of a candidate; nil if it may not speak, or was left for another branch.
func (f *finding) readStretch(ctx context.Context, c candidate, b driver.IndexedBranch) (*Stretch, error) {
	h, err := f.store.d.Log.ReadHead(ctx, b.Conversation)
	if err != nil || h.Branch.ID != b.Branch {
		return nil, err
	}
	tool, may, err := f.may.admit(ctx, h.Conversation)
	if err != nil || !may {
		return nil, err
	}
	var places []driver.Place
	for seq := max(b.First, c.seq-2); seq <= min(b.Head, c.seq+windowSeqs+reach); seq++ {
		places = append(places, driver.NewPlace(c.number, seq))
	}
	ms, err := f.look.ReadMessagesAt(ctx, places)
	if err != nil || len(ms) == 0 {
		return nil, err
	}
	s := &Stretch{candidate: c, f: f, conversation: b.Conversation, tool: tool}
	covered := map[int]bool{}
	for _, m := range ms {
		if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
			continue
		}
		one := f.hear(m)
		if one.text == "" {
			continue
		}
		s.messages = append(s.messages, one)
		if m.Seq >= c.seq && m.Seq < c.seq+windowSeqs {
			for _, w := range one.words {
				covered[w] = true
			}
		}
	}
	s.Facts = f.weighFacts(s, covered)
	s.Facts.Long = b.Head > longMessages
	for w := range f.prompt.words {
		if covered[w] {
			s.Terms = append(s.Terms, f.prompt.terms[f.prompt.words[w].terms[0]])
		}
	}
	return s, nil
}

// hear reads which words of the prompt a message has.
func (f *finding) hear(m scrollback.Message) heard {
	one := heard{Message: m, text: spokenText(m)}
	cut := clipText(one.text)
	has := make([]bool, len(f.prompt.terms))
	f.finder.EachMatch(cut, f.prompt.terms, func(which, _, _ int) bool {
		has[which] = true
		return true
	})
	for i, w := range f.prompt.words {
		if slices.ContainsFunc(w.terms, func(t int) bool { return has[t] }) {
			one.words = append(one.words, i)
			one.weight += f.weights[i]
		}
	}
	low := strings.ToLower(cut)
	says := func(name string) bool { return strings.Contains(low, name) }
	one.named = slices.ContainsFunc(f.prompt.names, says)
	for i, name := range f.prompt.proper {
		if says(name) {
			one.proper = append(one.proper, i)
		}
	}
	return one
}

// countInformative counts the words among some, ascending, that say something. Of a script without spaces the terms are
// pairs of characters which overlap: every two characters count as a word.
func (f *finding) countInformative(words []int) int {
	n := 0
	run := 0 // pairs that overlap
	for i, w := range words {
		if f.weights[w] < informative {
			continue
		}
		at := f.prompt.words[w]
		if !at.dense {
			n++
			continue
		}
		if i > 0 && words[i-1] == w-1 && at.follows {
			run++
		} else {
			run = 1
		}
		if run%2 == 1 {
			n++
		}
	}
	return n
}

// spokenText returns what somebody said in a message, without what this program told an agent.
func spokenText(m scrollback.Message) string {
	text := m.Parts.Text()
	if told.Has(text) {
		text = told.Without(text)
	}
	return strings.TrimSpace(text)
}
