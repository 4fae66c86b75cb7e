package search

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// What a term counts for that nobody typed, and one that names something.
const (
	guessWeight = 0.7
	exactWeight = 2
	nameWeight  = 0.3 // of a name of somebody who speaks here: said by them is worth more than said of them
)

// Bounds of what is read of a text for its cues, and of a session.
const (
	cueBytes     = 4096
	sessionPause = 90 * time.Minute
)

// scorer is what a search has read, on its way to candidates.
type scorer struct {
	s    *search
	a    *parsedQuery
	o    *scope
	p    *queryPostings
	read map[driver.Place]*Candidate
	all  []*Candidate // by place

	silenced map[string]bool // names of speakers that count for less as words
}

func newScorer(s *search, a *parsedQuery, o *scope, p *queryPostings) *scorer {
	return &scorer{s: s, a: a, o: o, p: p, read: map[driver.Place]*Candidate{}, silenced: map[string]bool{}}
}

// addCandidates makes candidates of messages that were read, unless they are some already.
func (j *scorer) addCandidates(ctx context.Context, ms map[driver.Place]scrollback.Message) error {
	m, err := j.p.measureAround(ctx, j.o, ms)
	if err != nil {
		return err
	}
	var fresh []*Candidate
	for _, place := range slices.Sorted(maps.Keys(ms)) {
		message := ms[place]
		if j.read[place] != nil || slices.Contains(j.s.except, message.ID) {
			continue
		}
		c := &Candidate{Message: message, text: IndexedText(message.Parts), place: place, asked: &j.a.Query,
			news: j.a.newest}
		j.read[place] = c
		fresh = append(fresh, c)
	}
	j.silenceSpeakers(fresh)
	for _, c := range fresh {
		j.scoreWords(m, c)
	}
	for _, c := range fresh {
		j.scoreCues(ctx, c)
		j.inheritFromQuestion(c)
	}
	j.all = append(j.all, fresh...)
	slices.SortFunc(j.all, func(a, b *Candidate) int { return comparePlaces(a.place, b.place) })
	numberSessions(j.all)
	markPeople(j.all)
	return nil
}

// markPeople marks the candidates of branches on which people with names talk: nearly all messages of
// either role have the name of a speaker, and there are two of these or more, each with a tenth of the
// messages. What only looks like a name ("Note: …") is seldom there that often.
func markPeople(all []*Candidate) {
	type branch struct {
		said  int
		named map[string]int
	}
	of := map[int64]*branch{}
	for _, c := range all {
		b := of[c.place.Branch()]
		if b == nil {
			b = &branch{named: map[string]int{}}
			of[c.place.Branch()] = b
		}
		if c.Message.Role != scrollback.RoleUser && c.Message.Role != scrollback.RoleAssistant {
			continue
		}
		b.said++
		if name := speakerOf(c.Message, c.text); name != "" {
			b.named[name]++
		}
	}
	people := map[int64]bool{}
	for number, b := range of {
		speakers := 0
		named := 0
		for _, n := range b.named {
			if 10*n >= b.said {
				speakers++
				named += n
			}
		}
		people[number] = speakers > 1 && 10*named >= 9*b.said
	}
	for _, c := range all {
		c.People = people[c.place.Branch()]
	}
}

// silenceSpeakers makes the names of those who speak count for less as words.
func (j *scorer) silenceSpeakers(all []*Candidate) {
	for _, c := range all {
		if name := speakerOf(c.Message, c.text); name != "" && !j.silenced[name] {
			j.silenced[name] = true
			if !namesPerson(j.a.looseText, name) {
				continue
			}
			terms.EachTerm(name, func(t string) bool {
				for i := range j.a.Words {
					if j.a.Any[i] == t {
						j.p.weights[i] *= nameWeight
						j.p.words[i] *= nameWeight
					}
				}
				return true
			})
		}
	}
	j.p.sumWeights()
}

// scoreWords are the features that come of words.
func (j *scorer) scoreWords(m *measuredTerms, c *Candidate) {
	var room [2*maxReach + 1]windowPart
	around := m.windowParts(j.o, c.place, room[:0])
	own := partsWithin(around, 0)
	c.Own = m.scoreBM25(own, m.mean)
	c.Near2 = m.scoreBM25(partsWithin(around, 2), 5*m.mean)
	c.Near5 = m.scoreBM25(around, (2*maxReach+1)*m.mean)
	held := m.wordsAt(j.a, own)
	c.held = held
	c.Share = j.p.weightShare(held)
	c.Beside = j.p.weightShare(m.wordsAt(j.a, partsWithin(around, 1)))
	there := 0
	for i, w := range j.p.words {
		if w > 0 {
			there++
			if held&(1<<i) != 0 {
				c.Count++
			}
		}
	}
	if there > 0 {
		c.Count /= float64(there)
	}
	if held&j.p.rarest != 0 {
		c.Rarest = 1
	}
	if bits.OnesCount64(held) > 1 && j.p.total > 0 {
		c.Together = j.weighTogether(c.text) / j.p.total
	}
}

// weighTogether returns the weight of the words that stand together in a text as in the query.
func (j *scorer) weighTogether(text string) float64 {
	places, _ := j.s.finder.TermPlaces(text, j.a.Any[:j.a.Words], MaxTerms)
	sum := 0.0
	for i := 1; i < j.a.Words; i++ {
		if areAdjacent(places[i-1], places[i]) {
			sum += min(j.p.weights[i-1], j.p.weights[i])
		}
	}
	return sum
}

// areAdjacent reports whether a place of b is at most three after one of a, or two before
// it. Both ascend.
func areAdjacent(a, b []int) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch d := b[j] - a[i]; {
		case -2 <= d && d <= 3:
			return true
		case d > 0:
			i++
		default:
			j++
		}
	}
	return false
}

// scoreCues are the features that come of who said it, when and how.
func (j *scorer) scoreCues(ctx context.Context, c *Candidate) {
	m := c.Message
	a := j.a
	text := c.text[:min(len(c.text), cueBytes)]
	said := speakerOf(m, text)
	switch {
	case said != "" && namesPerson(a.looseText, said), a.speaker != "" && m.Role == a.speaker:
		c.Speaker = 1
	}
	if said == "" && m.Role == scrollback.RoleUser {
		c.Person = 1
	}
	t := traitsOf(text, a.questionKind, len(a.dates) > 0)
	if m.Role == scrollback.RoleUser || said != "" {
		c.FirstSelf = oneIf(t.self)
	}
	c.Asks = questionShare(text)
	if len(a.dates) > 0 {
		c.Date = scoreDates(a.dates, time.UnixMilli(m.CreatedAt).In(a.zone), t.spokenTimes(text))
	}
	if a.when {
		c.Time = oneIf(t.time)
	}
	c.Kind = a.matchScore(m, t)
	if a.wishes && m.Role == scrollback.RoleUser {
		c.Standing = scoreStanding(text)
		c.Trait = scoreTrait(text)
	}
	if len(a.Quoted) > 0 {
		c.Quoted = j.s.quotedShare(ctx, m, a.Quoted)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// scoreDates says how well a message is of a date that is asked for, or names it in one of the
// texts as seen from its own day.
func scoreDates(asked []daySpan, day time.Time, texts []string) float64 {
	told := []daySpan{dayOf(startOf(day))}
	for _, text := range texts {
		told = append(told, relativeIn(text, day)...)
		for _, d := range datesIn(text, day) {
			told = append(told, d.nearestYear(day))
		}
	}
	best := 0.0
	for _, d := range asked {
		for _, t := range told {
			best = max(best, d.matchScore(t, day.Location()))
		}
	}
	return best
}

// inheritFromQuestion is what an answer inherits of the question right before it: what that holds is not
// said again.
func (j *scorer) inheritFromQuestion(c *Candidate) {
	at, ok := j.o.placeOnPath(c.place.Branch(), c.place.Seq()-1)
	if !ok || strings.TrimSpace(c.text) == "" {
		return
	}
	before := j.read[at]
	if before == nil || !isQuestion(before.text) ||
		before.Message.Role == c.Message.Role && before.Message.Name == c.Message.Name {
		return
	}
	c.Reply = before.Share
}

// numberSessions numbers the runs of candidates without a long pause between them.
func numberSessions(all []*Candidate) {
	n := 0
	for i, c := range all {
		if i > 0 {
			was := all[i-1].Message
			gap := c.Message.CreatedAt - was.CreatedAt
			if c.place.Branch() != all[i-1].place.Branch() || gap > sessionPause.Milliseconds() ||
				gap < -sessionPause.Milliseconds() {
				n++
			}
		}
		c.session = n
	}
}

// A wish that is only for now counts for less than an instruction that stands.
const momentaryWish = 0.6

// scoreStanding returns how far a text holds what a person wants kept to, or likes.
func scoreStanding(text string) float64 {
	if holdsSentence(text, kept.IsInstruction) {
		return 1
	}
	return momentaryWish * oneIf(wishes().MatchString(text))
}

// scoreTrait returns 1 if a text says what is so about the person who wrote it, or those they speak of.
func scoreTrait(text string) float64 {
	return oneIf(slices.ContainsFunc(kept.SplitSentences(text), kept.IsTrait))
}

// holdsSentence reports whether one of the sentences of a text is of a kind.
func holdsSentence(text string, is func(string) bool) bool {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n。！!；;", r) })
	for _, line := range sentences {
		for s := range strings.SplitSeq(line, ". ") {
			if is(s) {
				return true
			}
		}
	}
	return false
}
