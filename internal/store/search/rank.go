package search

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/standing"
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
	cueBytes = 4096
	pause    = 90 * time.Minute
)

// judged is what a search has read, on its way to candidates.
type judged struct {
	s    *searching
	a    *ask
	o    *scope
	p    *posted
	m    *measured
	read map[driver.Place]*Candidate
}

// candidates makes candidates of the messages that were picked and read, in the order of
// their places.
func (j *judged) candidates(best []pick, ms map[driver.Place]scrollback.Message) []*Candidate {
	best = slices.Clone(best)
	slices.SortFunc(best, func(a, b pick) int { return comparePlaces(a.place, b.place) })
	j.read = make(map[driver.Place]*Candidate, len(best))
	var all []*Candidate
	var places []driver.Place
	for _, b := range best {
		m, ok := ms[b.place]
		if !ok || slices.Contains(j.s.except, m.ID) {
			continue
		}
		c := &Candidate{Message: m, text: Text(m.Parts), news: j.a.newest}
		j.read[b.place] = c
		all = append(all, c)
		places = append(places, b.place)
	}
	j.silence(all)
	for i, c := range all {
		j.words(c, places[i])
	}
	for i, c := range all {
		j.cues(c)
		j.reply(c, places[i])
	}
	j.sessions(all, places)
	return all
}

// silence makes the names of those who speak count for less as words.
func (j *judged) silence(all []*Candidate) {
	known := map[string]bool{}
	for _, c := range all {
		if name := saidBy(c.Message, c.text); name != "" && !known[name] {
			known[name] = true
			if !names(j.a.loose, name) {
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
	j.p.sum()
}

// words are the features that come of words.
func (j *judged) words(c *Candidate, place driver.Place) {
	var room [2*reach + 1]part
	around := j.m.parts(j.o, place, room[:0])
	own := nearer(around, 0)
	c.Own = j.m.bm25(own, j.m.mean)
	c.Near2 = j.m.bm25(nearer(around, 2), 5*j.m.mean)
	c.Near5 = j.m.bm25(around, (2*reach+1)*j.m.mean)
	held := j.m.wordsAt(j.a, own)
	c.Share = j.p.share(held)
	c.Beside = j.p.share(j.m.wordsAt(j.a, nearer(around, 1)))
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
		c.Together = j.together(c.text) / j.p.total
	}
}

// together is the weight of the words that stand together in a text as in the query.
func (j *judged) together(text string) float64 {
	places, _ := terms.TermPlaces(text, j.a.Any[:j.a.Words], MaxTerms)
	sum := 0.0
	for i := 1; i < j.a.Words; i++ {
		if adjacent(places[i-1], places[i]) {
			sum += min(j.p.weights[i-1], j.p.weights[i])
		}
	}
	return sum
}

// adjacent reports whether a place of b is at most three after one of a, or two before
// it. Both ascend.
func adjacent(a, b []int) bool {
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

// cues are the features that come of who said it, when and how.
func (j *judged) cues(c *Candidate) {
	m := c.Message
	a := j.a
	text := c.text[:min(len(c.text), cueBytes)]
	said := saidBy(m, text)
	switch {
	case said != "" && names(a.loose, said), a.speaker != "" && m.Role == a.speaker:
		c.Speaker = 1
	}
	if said == "" && m.Role == scrollback.RoleUser {
		c.Person = 1
	}
	t := traitsOf(text, a.kind, len(a.dates) > 0)
	if m.Role == scrollback.RoleUser || said != "" {
		c.FirstSelf = oneIf(t.self)
	}
	c.Asks = asking(text)
	if len(a.dates) > 0 {
		c.Date = dated(a.dates, time.UnixMilli(m.CreatedAt).In(a.zone), t.spokenTimes(text))
	}
	if a.when {
		c.Time = oneIf(t.time)
	}
	c.Kind = a.held(m, t)
	if a.wishes && m.Role == scrollback.RoleUser {
		c.Standing = standingIn(text)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// dated says how well a message is of a date that is asked for, or names it in one of the
// texts as seen from its own day.
func dated(asked []days, day time.Time, texts []string) float64 {
	told := []days{dayOf(startOf(day))}
	for _, text := range texts {
		told = append(told, relativeIn(text, day)...)
		for _, d := range datesIn(text, day) {
			told = append(told, d.nearest(day))
		}
	}
	best := 0.0
	for _, d := range asked {
		for _, t := range told {
			best = max(best, d.meets(t, day.Location()))
		}
	}
	return best
}

// reply is what an answer inherits of the question right before it: what that holds is not
// said again.
func (j *judged) reply(c *Candidate, place driver.Place) {
	at, ok := j.o.at(place.Branch(), place.Seq()-1)
	if !ok || strings.TrimSpace(c.text) == "" {
		return
	}
	before := j.read[at]
	if before == nil || !asks(before.text) ||
		before.Message.Role == c.Message.Role && before.Message.Name == c.Message.Name {
		return
	}
	c.Reply = before.Share
}

// sessions numbers the runs of candidates without a long pause between them.
func (j *judged) sessions(all []*Candidate, places []driver.Place) {
	n := 0
	for i, c := range all {
		if i > 0 {
			was := all[i-1].Message
			gap := c.Message.CreatedAt - was.CreatedAt
			if places[i].Branch() != places[i-1].Branch() || gap > pause.Milliseconds() || gap < -pause.Milliseconds() {
				n++
			}
		}
		c.session = n
	}
}

// A wish that is only for now counts for less than an instruction that stands.
const wished = 0.6

// standingIn says whether a text holds what a person wants kept to, or likes.
func standingIn(text string) float64 {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n。！!；;", r) })
	for _, line := range sentences {
		for s := range strings.SplitSeq(line, ". ") {
			if standing.IsInstruction(s) {
				return 1
			}
		}
	}
	return wished * oneIf(wishes().MatchString(text))
}
