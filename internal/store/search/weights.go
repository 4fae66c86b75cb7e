package search

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Features are what speaks for a message, each by itself. BM25 is without an upper bound;
// all others are 0 to 1.
type Features struct {
	Own       float64 // BM25 of the message
	Near2     float64 // BM25 of the two messages on each side and itself, as one text
	Near5     float64 // of five on each side
	Share     float64 // of the question's words, by their rarity: those that it holds
	Count     float64 // of the question's words: those that it holds
	Beside    float64 // as Share, with the message before and the one after
	Rarest    float64 // it holds the rarest word
	Together  float64 // of the question's neighbouring words, by their rarity: those that are together here too
	Quoted    float64 // of the quoted words, by their number: those that it holds as they are quoted
	Linked    float64 // of the words that one of the best lacks: those that it holds, sharing a rare name with that
	Speaker   float64 // the person whom the question names said it
	Person    float64 // a person said it to a model
	FirstSelf float64 // it speaks in the first person
	Asks      float64 // of its sentences: those that are questions
	Date      float64 // it is of the date that the question names, or names that date
	Time      float64 // it holds a phrase of time, and the question asks when
	Kind      float64 // it holds what a question of its kind asks for: a number, a reason, a place, a picture
	Reply     float64 // it follows a question; the share of the words that this one holds
	Standing  float64 // it says what the person wants or likes, and the question is about that
	Trait     float64 // it says what is so about the person, and the question is about what suits them
	Newest    float64 // of the good ones, how many are older; the question asks for what holds now
	Session   float64 // the best score among the messages without a long pause around it, before this is added
}

// Weights are what each feature counts for.
type Weights Features

// WeightSet has the weights for each kind of talk.
type WeightSet struct {
	Assistant Weights // a person and an assistant talk
	People    Weights // two people with names do
}

// DefaultWeights returns the weights that a search uses. They were learned: docs/RECALL.md says how.
func DefaultWeights() WeightSet {
	w := Weights{Own: 0.17, Near2: 0.15, Near5: 0.12, Share: 2, Count: 1.5, Beside: 0.4, Rarest: 0.54, Together: 0.56,
		Quoted: 8, Linked: 4, Speaker: 2.4, Person: 0.4, FirstSelf: 1.6, Asks: -1, Date: 5, Time: 4.2, Kind: 0.62,
		Reply: 2.2, Standing: 2.4, Trait: 1.5, Newest: 1.5, Session: 0.19}
	people := w
	people.Own = 0
	people.Share = 1.5
	people.Count = 2.1
	people.Speaker = 2
	people.FirstSelf = 1
	people.Asks = -1.9
	people.Time = 1.9
	people.Kind = 1.4
	return WeightSet{w, people}
}

// weightsOf returns the weights for the talk that a candidate is of.
func (s *WeightSet) weightsOf(c *Candidate) *Weights {
	if c.People {
		return &s.People
	}
	return &s.Assistant
}

// FeatureNames returns the features in the order of [Features.Values].
func FeatureNames() []string {
	return []string{"own", "near2", "near5", "share", "count", "beside", "rarest", "together", "quoted", "linked",
		"speaker", "person", "first", "asks", "date", "time", "kind", "reply", "standing", "trait", "newest", "session"}
}

// Values returns the features in a fixed order.
func (f Features) Values() []float64 {
	out := make([]float64, 0, len(FeatureNames()))
	for _, v := range f.pointers() {
		out = append(out, *v)
	}
	return out
}

// WeightsOf returns weights in the order of [Features.Values].
func WeightsOf(values []float64) Weights {
	var f Features
	for i, v := range f.pointers() {
		if i < len(values) {
			*v = values[i]
		}
	}
	return Weights(f)
}

func (f *Features) pointers() []*float64 {
	return []*float64{&f.Own, &f.Near2, &f.Near5, &f.Share, &f.Count, &f.Beside, &f.Rarest, &f.Together,
		&f.Quoted, &f.Linked, &f.Speaker, &f.Person, &f.FirstSelf, &f.Asks, &f.Date, &f.Time, &f.Kind, &f.Reply,
		&f.Standing, &f.Trait, &f.Newest, &f.Session}
}

// weightedSum returns the weighted sum without Newest and Session, which depend on other messages.
func (f *Features) weightedSum(w *Weights) float64 {
	return w.Own*f.Own + w.Near2*f.Near2 + w.Near5*f.Near5 + w.Share*f.Share + w.Count*f.Count + w.Beside*f.Beside +
		w.Rarest*f.Rarest + w.Together*f.Together + w.Quoted*f.Quoted + w.Linked*f.Linked + w.Speaker*f.Speaker +
		w.Person*f.Person + w.FirstSelf*f.FirstSelf + w.Asks*f.Asks + w.Date*f.Date + w.Time*f.Time + w.Kind*f.Kind +
		w.Reply*f.Reply + w.Standing*f.Standing + w.Trait*f.Trait
}

// Candidate is a message that a search ranks.
type Candidate struct {
	Message scrollback.Message
	Features
	Score  float64
	People bool // it is of a talk of people with names

	text    string
	place   driver.Place
	held    uint64       // the words of the query in it
	asked   *terms.Query // what it was found for
	session int          // the number of its run of messages without a long pause
	news    bool         // the question asks for what holds now
}

// RankCandidates scores candidates of one question and puts the best first; among equals, the newest.
// It sets their Newest and Session.
func RankCandidates(all []*Candidate, w WeightSet) {
	best := 0.0
	for i, c := range all {
		c.Score = c.weightedSum(w.weightsOf(c))
		if i == 0 || c.Score > best {
			best = c.Score
		}
	}
	preferNew(all, best, &w)
	sessions := map[int]float64{}
	for _, c := range all {
		if s, ok := sessions[c.session]; !ok || c.Score > s {
			sessions[c.session] = c.Score
		}
	}
	for _, c := range all {
		c.Session = sessions[c.session]
		c.Score += w.weightsOf(c).Session * c.Session
	}
	slices.SortFunc(all, func(a, b *Candidate) int { return cmp.Or(cmp.Compare(b.Score, a.Score), byAge(b, a)) })
}

// preferNew raises the newer of the messages that match about as well as the best.
func preferNew(all []*Candidate, best float64, w *WeightSet) {
	var good []*Candidate
	for _, c := range all {
		c.Newest = 0
		if c.news && c.Score >= best/2 {
			good = append(good, c)
		}
	}
	slices.SortFunc(good, byAge)
	for i, c := range good {
		c.Newest = float64(i+1) / float64(len(good))
		c.Score += w.weightsOf(c).Newest * c.Newest
	}
}

func byAge(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(a.Message.CreatedAt, b.Message.CreatedAt), cmp.Compare(a.Message.Seq, b.Message.Seq),
		cmp.Compare(b.Message.ID, a.Message.ID))
}
