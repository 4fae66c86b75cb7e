package evidence

// Facts are what is known about how well the best conversation fits a prompt.
type Facts struct {
	Tone        Tone
	Words       int     // of the prompt, without those about the asking
	Informative int     // of them
	Matched     int     // informative ones near each other
	Together    int     // informative ones in one message
	Weight      float64 // of what matched
	Covered     float64 // its share of the weight of all words
	Identifier  bool    // a rare identifier of the prompt stands in it
	Long        bool    // the conversation has very many messages
	Dense       bool    // the prompt is in a script without spaces: pairs across words are counted, which nobody wrote
}

// bar is what a prompt of a tone must reach.
type bar struct {
	covered, weight float64
	together        int
}

// bars are tuned with `recall -hooks`: a prompt that asks about the past needs less than one that gives an order.
var bars = map[Tone]bar{
	Past:     {covered: 0.42, weight: 1.1, together: 2},
	Question: {covered: 0.55, weight: 1.1, together: 2},
	Order:    {covered: 0.6, weight: 1.7, together: 3},
}

// nameBars are those of prompts with a rare identifier that was found.
var nameBars = map[Tone]bar{
	Past:     {covered: 0.28, weight: 0.6, together: 1},
	Question: {covered: 0.33, weight: 0.7, together: 1},
	Order:    {covered: 0.4, weight: 0.7, together: 1},
}

// Judge reports whether to speak, and why or why not.
func Judge(f Facts) (speak bool, why string) {
	b := bars[f.Tone]
	why = "its words fit"
	if f.Identifier {
		b = nameBars[f.Tone]
		why = "a rare name fits"
	}
	few := fewCovered[f.Tone]
	if f.Dense {
		few -= denseLess
		if f.Identifier {
			b.covered -= denseLess
		}
	}
	// All that it says is said near each other, by two who speak in turn.
	whole := f.Tone != Order && f.Covered >= wholeCovered && f.Weight >= wholeWeight
	// Much of a long prompt is in one message.
	much := f.Together >= muchTogether && f.Weight >= muchWeight && f.Covered >= muchCovered
	switch {
	case f.Long && !f.Identifier:
		return false, "the conversation is long"
	case f.Together < b.together && !(whole && f.Together >= b.together-1):
		return false, "too few words fit"
	case f.Weight < b.weight:
		return false, "the words say too little"
	case f.Covered < b.covered && !much, f.Matched < fewMatched && !f.Identifier && f.Covered < few:
		return false, "too much does not fit"
	}
	return true, why
}

// What is to be covered where few informative words match: the one that is missing may be what is asked for.
const fewMatched = 3

// denseLess is what less is to be covered of a prompt in a script without spaces.
const denseLess = 0.1

var fewCovered = map[Tone]float64{Past: 0.5, Question: 0.63, Order: 0.6}

// What makes up for less of something else.
const (
	wholeCovered = 0.85
	wholeWeight  = 1.25
	muchTogether = 4
	muchWeight   = 4
	muchCovered  = 0.5
)
