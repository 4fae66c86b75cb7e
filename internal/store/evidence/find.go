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
	Facts Facts
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
	windowSeqs    = 6
	questionShare = 0.3  // of the weight of a question
	requestShare  = 0.8  // and of what a person says otherwise
	askedShare    = 0.85 // of the words of a question that its answer does not repeat
	secondShare   = 0.6  // of the score of the best message that a second one has at least
	wordUnseen    = 0.7  // of the weight of a word that nobody wrote
	laterShare    = 0.3  // of the score of the best message that a later answer has at least
)

// Find returns what answers a prompt, at most q.Most messages of one conversation, best first.
func (s *Store) Find(ctx context.Context, q Query) (Answer, error) {
	p := readPrompt(q.Prompt)
	if len(p.words) == 0 {
		return Answer{Why: "no informative word"}, nil
	}
	in, err := s.listScope(ctx, q.Place)
	if err != nil || len(in) == 0 {
		return Answer{Why: "no conversation here"}, err
	}
	may, err := s.newAdmission(ctx, q.Place, q.Session)
	if err != nil {
		return Answer{}, err
	}
	f := &finding{store: s, prompt: p, in: in, may: may, told: q.Told}
	if err := f.readPostings(ctx); err != nil {
		return Answer{}, err
	}
	best, err := f.readBest(ctx)
	if err != nil || best == nil {
		return Answer{Why: "nothing fits"}, err
	}
	out := Answer{Facts: best.facts, Terms: best.fitted}
	speak, why := Judge(best.facts)
	out.Why = why
	if !speak {
		return out, nil
	}
	out.Found = f.choose(best, cmp.Or(q.Most, 2))
	if len(out.Found) == 0 {
		out.Why = "told already, or it says nothing more"
	}
	return out, nil
}

// finding is a search under way.
type finding struct {
	store  *Store
	prompt prompt
	in     scope
	may    *admission
	told   map[Seen]bool

	look    lookup
	weights []float64 // by word
	total   float64   // of all of them
	rare    []bool    // by word: few conversations have it
	found   []candidate
	finder  terms.Finder
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
	all := len(f.in)
	for _, p := range postings {
		if n := len(p.Places); n > 0 {
			all = max(all, int(p.Places[n-1].Branch()))
		}
	}
	var hits []wordHit
	for i, w := range f.prompt.words {
		branches := map[int64]bool{}
		isCommon := false
		for _, t := range w.terms {
			isCommon = isCommon || postings[t].Holding > int64(common)
			for _, p := range postings[t].Places {
				branches[p.Branch()] = true
				if f.in[p.Branch()] {
					hits = append(hits, wordHit{p, i})
				}
			}
		}
		weight := weigh(len(branches), all)
		if isCommon {
			weight = 0
		}
		if w.plain {
			weight *= plainDiscount
		}
		if len(branches) == 0 {
			weight *= unseen(w)
		}
		f.rare = append(f.rare, len(branches) > 0 && len(branches) <= max(leastRarity, all/rareShare))
		f.weights = append(f.weights, weight)
		f.total += weight
	}
	f.findStretches(hits)
	return nil
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
		best.score += 0.3 * whole
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

// stretch is a candidate whose messages were read.
type stretch struct {
	candidate
	conversation scrollback.ConversationID
	tool         string
	messages     []heard
	facts        Facts
	fitted       []string
}

// heard is a message of a person or a model, with the words of the prompt that are in it.
type heard struct {
	scrollback.Message
	text   string
	words  []int
	weight float64
	names  bool // an identifier of the prompt stands in it, as it stands there
}

// readBest reads the best candidates and returns the one that fits best.
func (f *finding) readBest(ctx context.Context) (*stretch, error) {
	all := f.found[:min(len(f.found), considered)]
	numbers := make([]int64, len(all))
	for i, c := range all {
		numbers[i] = c.number
	}
	branches, err := f.look.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: numbers})
	if err != nil {
		return nil, err
	}
	var best *stretch
	for _, c := range all {
		b, live := branches[c.number]
		if !live || b.Heir != "" {
			continue
		}
		s, err := f.readStretch(ctx, c, b)
		if err != nil {
			return nil, err
		}
		if s != nil && (best == nil || s.facts.Covered > best.facts.Covered+1e-9) {
			best = s
		}
	}
	return best, nil
}

// readStretch reads the messages of a candidate; nil if it may not speak, or was left for another branch.
func (f *finding) readStretch(ctx context.Context, c candidate, b driver.IndexedBranch) (*stretch, error) {
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
	s := &stretch{candidate: c, conversation: b.Conversation, tool: tool}
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
	s.facts = f.judgeStretch(s, covered)
	s.facts.Long = b.Head > longMessages
	for w := range f.prompt.words {
		if covered[w] {
			s.fitted = append(s.fitted, f.prompt.terms[f.prompt.words[w].terms[0]])
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
	one.names = slices.ContainsFunc(f.prompt.names, func(name string) bool { return strings.Contains(low, name) })
	return one
}

// judgeStretch sums up how well a stretch fits.
func (f *finding) judgeStretch(s *stretch, covered map[int]bool) Facts {
	out := Facts{Tone: f.prompt.tone, Words: len(f.prompt.words)}
	weight := 0.0
	var all, matched []int
	dense := 0
	for w := range f.prompt.words {
		all = append(all, w)
		if f.prompt.words[w].dense {
			dense++
		}
		if covered[w] {
			weight += f.weights[w]
			matched = append(matched, w)
		}
	}
	out.Dense = 2*dense > len(all)
	out.Informative = f.countInformative(all)
	out.Matched = f.countInformative(matched)
	if f.total > 0 {
		out.Covered = weight / f.total
	}
	out.Weight = weight
	for _, m := range s.messages {
		out.Together = max(out.Together, f.countInformative(m.words))
		if m.names {
			for _, w := range m.words {
				if f.prompt.words[w].name != "" && f.rare[w] {
					out.Identifier = true
				}
			}
		}
	}
	return out
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

// choose returns the messages of a stretch that are told: answers before questions.
func (f *finding) choose(s *stretch, most int) []Found {
	anchor := s.seq
	best := -1.0
	for _, m := range s.messages {
		if m.weight > best {
			best = m.weight
			anchor = m.Seq
		}
	}
	type scored struct {
		heard
		score float64
	}
	var all []scored
	var asked *heard // by the person, before a message
	for i := range s.messages {
		m := s.messages[i]
		if m.Role == scrollback.RoleUser {
			asked = &s.messages[i]
		}
		if m.Seq < anchor-1 || m.Seq > anchor+reach || s.facts.Long && !m.names || !f.saysMore(m) {
			continue
		}
		score := m.weight
		switch {
		case m.Role == scrollback.RoleUser && isQuestion(m.text):
			score *= questionShare
		case m.Role == scrollback.RoleUser:
			score *= requestShare
		case asked != nil: // an answer says what it was asked for without its words
			for _, w := range asked.words {
				if !slices.Contains(m.words, w) {
					score += askedShare * f.weights[w]
				}
			}
		}
		all = append(all, scored{m, score})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []Found
	for i, m := range all {
		if f.told[Seen{s.conversation, m.Seq}] {
			if i == 0 {
				return nil // the rest says less
			}
			continue
		}
		share := secondShare
		if m.Role == scrollback.RoleAssistant && m.Seq > all[0].Seq && len(m.words) > 0 { // what became of it
			share = laterShare
		}
		if len(out) == most || i > 0 && m.score < share*all[0].score {
			break
		}
		out = append(out, Found{Conversation: s.conversation, Seq: m.Seq, At: m.CreatedAt, Tool: s.tool, Role: m.Role,
			Text: m.text})
	}
	return out
}

// leastNews is how many words a message has at least that the prompt does not have.
const leastNews = 4

// saysMore reports whether a message says something that the prompt does not say.
func (f *finding) saysMore(m heard) bool {
	news := map[string]bool{}
	terms.EachTerm(clipText(m.text), func(t string) bool {
		if !slices.Contains(f.prompt.terms, t) {
			news[t] = true
		}
		return len(news) < leastNews
	})
	return len(news) >= leastNews
}

// isQuestion reports whether a message only asks.
func isQuestion(text string) bool {
	if len(text) < longQuestion && questionCue().MatchString(text) {
		return true
	}
	return slices.ContainsFunc([]string{"?", "？", "吗", "呢"}, func(end string) bool { return strings.HasSuffix(text, end) })
}

// longQuestion is from how many bytes on only its end says that a message asks.
const longQuestion = 200
