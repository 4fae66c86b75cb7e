package kept

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of the weights, in hundredths: above them a sentence stays, is a to-do, or is about the person. A sentence
// with the form of a trait or of an instruction stays unless more speaks against it.
const (
	leastStays   = 120
	leastFormed  = 10
	leastOrdered = -60
	leastTodo    = 40
	leastAnswer  = -120
	leastRuled   = -200 // of a sentence that a rule of instructions finds, to be one rather than about the person
)

// reading is a sentence of a person as it is judged.
type reading struct {
	text    string // without what is quoted, and what stands before it
	scale   *scale
	found   findings
	grammar *grammar
	folded  string
	words   *sentence // of folded, once they are read
}

// readSentence reads a sentence that a person may have said themselves; nil if it is code, an entry of a list or a
// line of a script, or in a language that has no weights.
func readSentence(sentence string) *reading {
	s, ok := personText(sentence)
	if !ok || len(s) > maxSentence {
		return nil
	}
	l := detectLanguage(s)
	dense := l == inChinese()
	if l != inEnglish() && !dense || !isSpeech(s) {
		return nil
	}
	r := &reading{text: terms.FoldText(s), scale: englishScale(), grammar: englishGrammar()}
	if dense {
		r.scale = chineseScale()
		r.grammar = chineseGrammar()
	}
	r.folded = foldText(s, dense)
	called := l.calledRules(r.folded)
	r.found = findings{
		asks:     isQuestion(s),
		exclaims: strings.HasSuffix(s, "!") || strings.HasSuffix(s, "！"),
		orders:   called != 0 && l.judgeSentence(r.folded, called),
	}
	if strings.ContainsAny(s, quoteMarks) {
		r.folded = quoted().ReplaceAllString(r.folded, "")
		r.text = quoted().ReplaceAllString(r.text, "“”")
		called = l.calledRules(r.folded)
	}
	r.found.lasts = called&l.lasts != 0
	return r
}

// hasTrait reports whether a sentence has a form of traits.
func (r *reading) hasTrait() bool { return r.grammar.hasTrait(r.folded, *r.readWords()) }

func (r *reading) readWords() *sentence {
	if r.words == nil {
		words := r.grammar.read(r.folded)
		r.words = &words
	}
	return r.words
}

// isSure reports whether a sentence says what no request may be without, about anyone.
func (r *reading) isSure() bool { return !r.found.asks && r.grammar.isSure(*r.readWords()) }

// IsVital reports whether a sentence says what no request may be without: an allergy, the person's own or another's.
func IsVital(sentence string) bool {
	r := readSentence(sentence)
	return r != nil && r.isSure()
}

// verdict is what a sentence is.
type verdict struct{ trait, instruction, todo bool }

// judged remembers what sentences are: each is judged when its message comes, when it is folded, and where a line
// repeats it.
var judged verdictCache

// maxJudged is how many sentences a [verdictCache] has room for: a power of two.
const maxJudged = 4096

// verdictCache has what sentences are, each in the one place that its hash names; another one there takes it over. It
// is safe for concurrent use.
type verdictCache struct {
	of [maxJudged]atomic.Pointer[judgedSentence]
}

// judgedSentence is a sentence of at most maxSentence bytes, and what it is.
type judgedSentence struct {
	text string
	is   verdict
}

// sentenceSeed is of the hashes of sentences.
var sentenceSeed = maphash.MakeSeed()

// find returns what a sentence is.
func (c *verdictCache) find(sentence string) verdict {
	if len(sentence) > maxSentence {
		return judgeAnew(sentence)
	}
	at := &c.of[maphash.String(sentenceSeed, sentence)%maxJudged]
	if known := at.Load(); known != nil && known.text == sentence {
		return known.is
	}
	made := &judgedSentence{strings.Clone(sentence), judgeAnew(sentence)} // it may be of a long text
	at.Store(made)
	return made.is
}

// judge says what a sentence of a person is.
func judge(sentence string) verdict { return judged.find(sentence) }

// judgeAnew is judge, of a sentence that may not have been judged before.
func judgeAnew(sentence string) verdict {
	r := readSentence(sentence)
	if r == nil {
		return verdict{instruction: hasInstruction(sentence)}
	}
	w := r.scale.weigh(r.text, &r.found)
	form := r.scale.weights[formTrait]
	// Elsewhere the form decides nothing, and to look for it is slow.
	formed := (w.stays+form.stays > leastOrdered || w.todo > leastTodo) && r.hasTrait()
	if formed {
		w.add(form)
	}
	stays := w.stays > leastStays || r.isSure() ||
		formed && (w.stays > leastFormed || r.found.asks && w.stays > leastOrdered)
	ordered := w.order > 0 || r.found.orders && w.order > leastRuled
	instruction := stays && ordered || !stays && r.found.orders && w.stays > leastOrdered
	todo := w.todo > leastTodo && !r.found.asks
	if (stays || instruction || todo) && code().MatchString(foldText(r.text, false)) {
		return verdict{}
	}
	return verdict{trait: stays && !instruction, instruction: instruction, todo: todo}
}

// Stays reports whether a sentence says what is to be done, and whether a person says it so that it stays in another
// way: as an instruction, or as what is so about them. The sentence may stand behind "- #12 user: ".
func Stays(role scrollback.Role, sentence string) (todo, other bool) {
	todo = mayBeTodo(sentence) && todos().MatchString(sentence)
	if role != scrollback.RoleUser {
		return todo, false
	}
	is := judge(sentence)
	return todo || is.todo, is.instruction || is.trait
}

// IsTrait reports whether a sentence of a person says what is so about them, or about those they speak
// of: what they prefer, avoid, have, or usually do. The sentence may stand behind "- #12 user: ". In a
// question only the clauses before the last count.
func IsTrait(sentence string) bool { return judge(sentence).trait }

// IsInstruction reports whether a sentence of a person's message is to be kept to beyond the next
// answer. The sentence may stand behind "- #12 user: "; what the assistant said is none.
func IsInstruction(sentence string) bool { return judge(sentence).instruction }
