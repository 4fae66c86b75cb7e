package highlight

import (
	"reflect"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// matchTimeout is how long one expression may try at one place. regexp2 looks at a clock that moves
// every 100 ms, so it is exceeded by up to 200 ms.
const matchTimeout = 10 * time.Millisecond

// standIns are languages whose lexers hide the rules that they are made of, so that nothing could
// stop them, and the language whose rules they get instead.
var standIns = map[string]string{
	"Common Lisp":      "Scheme",
	"EmacsLisp":        "Scheme",
	"ERB":              "HTML",
	"Go HTML Template": "HTML",
	"PHTML":            "PHP",
	"Raku":             "Perl", // it splits what stands inside it by code of its own
	"Svelte":           "HTML",
	"YAML+Jinja":       "YAML",
}

// plainFunctions are lexers whose own functions look at what a rule matched, and start no other lexer.
var plainFunctions = map[string]bool{"HTTP": true, "Haxe": true}

// lexerSet is a set of lexers that serve one job at a time.
type lexerSet struct {
	lexers *chroma.LexerRegistry
	job    *splitJob // the one that runs
}

// newBench makes a guarded lexer of each lexer. None is compiled before it is used.
func newBench(from []chroma.Lexer) *lexerSet {
	b := &lexerSet{lexers: chroma.NewLexerRegistry()}
	named := map[string]chroma.Lexer{}
	for _, l := range from {
		named[l.Config().Name] = l
	}
	for _, l := range from {
		rules := findRules(l)
		if other, ok := standIns[l.Config().Name]; ok {
			rules = findRules(named[other])
		}
		if rules == nil {
			continue
		}
		guarded, err := chroma.NewLexer(l.Config(), func() chroma.Rules { return b.guardRules(rules) })
		if err == nil {
			b.lexers.Register(guarded)
		}
	}
	return b
}

// preparedLexer returns the lexer of a language, compiled.
func (b *lexerSet) preparedLexer(language string) chroma.Lexer {
	lexer := b.lexers.Get(language)
	if l, ok := lexer.(*chroma.RegexLexer); ok {
		_, _ = l.Rules() // Tokenise says what is wrong with them
	}
	return lexer
}

// findRules returns the lexer whose rules a lexer uses, or nil. Two of chroma's wrap one to give parts of
// the text to others; those parts stay as they are here.
func findRules(l chroma.Lexer) *chroma.RegexLexer {
	if r, ok := l.(*chroma.RegexLexer); ok {
		return r
	}
	v := reflect.Indirect(reflect.ValueOf(l))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if inner := v.FieldByName("Lexer"); inner.IsValid() && inner.CanInterface() {
		r, _ := inner.Interface().(*chroma.RegexLexer)
		return r
	}
	return nil
}

// guardRules returns the rules of a lexer with a check beside each. A lexer whose rules cannot be had knows
// only plain text.
func (b *lexerSet) guardRules(from *chroma.RegexLexer) chroma.Rules {
	out := chroma.Rules{}
	rules, err := from.Rules()
	if err != nil {
		rules = chroma.Rules{"root": {{Pattern: `(?s).+`, Type: chroma.Text}}}
	}
	trusted := plainFunctions[from.Config().Name]
	for state, list := range rules {
		for _, r := range list {
			if !trusted {
				r.Type = ownEmitter(r.Type)
				if _, ok := r.Mutator.(chroma.SerialisableMutator); !ok {
					r.Mutator = nil
				}
			}
			r.Type = deadlineCheck{bench: b, then: r.Type}
			out[state] = append(out[state], r)
		}
	}
	out[patience] = []chroma.Rule{{Mutator: timeoutSetter{}}}
	return out
}

// ownEmitter returns what a rule emits, as far as chroma made it: functions of a lexer's own may start lexers that
// are not guarded, and are replaced by plain text, or inside a group by what stands beside them.
func ownEmitter(e chroma.Emitter) chroma.Emitter {
	if e == nil {
		return nil
	}
	if _, ok := e.(chroma.SerialisableEmitter); !ok {
		return chroma.Text
	}
	v := reflect.Indirect(reflect.ValueOf(e))
	if v.Kind() != reflect.Struct {
		return e
	}
	field := v.FieldByName("Emitters")
	if !field.IsValid() || !field.CanInterface() {
		return e
	}
	group, _ := field.Interface().(chroma.Emitters)
	beside := chroma.Emitter(chroma.Text)
	foreign := false
	for _, in := range group {
		if in == nil {
			continue
		}
		if t, ok := in.(chroma.TokenType); ok {
			beside = t
		}
		if _, ok := in.(chroma.SerialisableEmitter); !ok {
			foreign = true
		}
	}
	if !foreign {
		return e
	}
	mended := make([]chroma.Emitter, len(group))
	for i, in := range group {
		mended[i] = in
		if _, ok := in.(chroma.SerialisableEmitter); in != nil && !ok {
			mended[i] = beside
		}
	}
	return chroma.ByGroups(mended...)
}

// deadlineCheck ends the lexer that it stands in when its job is over.
type deadlineCheck struct {
	bench *lexerSet
	then  chroma.Emitter // nil: the rule emits nothing
}

// Emit emits what the rule does.
func (c deadlineCheck) Emit(groups []string, state *chroma.LexerState) chroma.Iterator {
	if j := c.bench.job; j != nil && j.isOver() {
		state.Pos = len(state.Text)
		return chroma.Literator()
	}
	if c.then == nil {
		return chroma.Literator()
	}
	return c.then.Emit(groups, state)
}

// patience is a state of each lexer that no rule leads to. Its one rule is a hook into compiling.
const patience = "scrollback:patience"

// timeoutSetter bounds the time of all expressions of a lexer when they are compiled, and is gone then.
type timeoutSetter struct{}

// Mutate is never called: the state is not reached.
func (timeoutSetter) Mutate(*chroma.LexerState) error { return nil }

// MutateLexer sets the bound.
func (timeoutSetter) MutateLexer(rules chroma.CompiledRules, state string, rule int) error {
	for _, list := range rules {
		for _, r := range list {
			if r.Regexp != nil {
				r.Regexp.MatchTimeout = matchTimeout
			}
		}
	}
	rules[state] = append(rules[state][:rule], rules[state][rule+1:]...)
	return nil
}
