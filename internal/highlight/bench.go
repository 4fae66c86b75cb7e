package highlight

import (
	"time"

	"github.com/alecthomas/chroma/v2"
)

// matchTimeout is how long one expression may try at one place. regexp2 looks at a clock that moves
// every 100 ms, so it is exceeded by up to 200 ms.
const matchTimeout = 10 * time.Millisecond

// lexerSet is a set of lexers that serve one job at a time.
type lexerSet struct {
	lexers *chroma.LexerRegistry
	job    *splitJob // the one that runs
}

// newBench makes a guarded lexer of each lexer. None is compiled before it is used.
func newBench(from []*chroma.RegexLexer) *lexerSet {
	b := &lexerSet{lexers: chroma.NewLexerRegistry()}
	for _, l := range from {
		guarded, err := chroma.NewLexer(l.Config(), func() chroma.Rules { return b.guardRules(l) })
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

// guardRules returns the rules of a lexer with a check beside each. A lexer whose rules cannot be had knows
// only plain text.
func (b *lexerSet) guardRules(from *chroma.RegexLexer) chroma.Rules {
	out := chroma.Rules{}
	rules, err := from.Rules()
	if err != nil {
		rules = chroma.Rules{"root": {{Pattern: `(?s).+`, Type: chroma.Text}}}
	}
	for state, list := range rules {
		for _, r := range list {
			r.Type = deadlineCheck{bench: b, then: r.Type}
			out[state] = append(out[state], r)
		}
	}
	out[patience] = []chroma.Rule{{Mutator: timeoutSetter{}}}
	return out
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
