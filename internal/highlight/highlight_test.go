package highlight

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// slack is what a loaded machine may add to a bound before a test calls it broken.
const slack = 5 * time.Second

// joined returns the text of tokens.
func joined(tokens []Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.Text)
	}
	return b.String()
}

// still are short texts on which lexers of chroma never come to an end.
var still = []string{"\\", "?", `$replace(x, /\d/, "")`, "x ? y \\ z\n", "`", "/", "<%", "'"}

// repeated are long texts on which lexers backtrack, each made of one piece.
var repeated = []string{
	"\\", "?", "([{<", `"'`, "a", " ", "\n", "  x: y\n", `\"`, "/*", "<%= {{ ${ #{", "<a b='",
	"+-=*&|!:;.,%@#$^~", "1e", "a.b(c)[\"d\\\"] /x/ ` {% ",
}

// TestEveryLexerEnds gives each language texts on which lexers stand still or backtrack: the answer
// comes in time and joins to the text, and no lexer goes on behind it.
func TestEveryLexerEnds(t *testing.T) {
	texts := still
	within := time.Duration(testlength.Choose(5, 5, 20)) * time.Millisecond
	size := testlength.Choose(150, 300, 5_000)
	for _, unit := range repeated {
		texts = append(texts, strings.Repeat(unit, size/len(unit)))
	}
	for i, l := range lexers.GlobalLexerRegistry.Lexers {
		if i%testlength.Choose(5, 1, 1) != 0 {
			continue
		}
		name := l.Config().Name
		for _, code := range texts {
			began := time.Now()
			tokens, _ := SplitCode(code, name, within)
			if took := time.Since(began); took > within+grace+slack {
				t.Errorf("%s took %v for %.40q", name, took, code)
			}
			if joined(tokens) != code {
				t.Errorf("%s: the tokens of %.40q are not the code", name, code)
			}
		}
	}
	allIdle(t, shared())
}

// allIdle waits until every bench of a pool is free again: a lexer that was left behind ends by itself.
func allIdle(t *testing.T, p *lexerPool) {
	t.Helper()
	var taken []*lexerSet
	for range cap(p.free) {
		b := p.takeSet(slack)
		if b == nil {
			t.Error("a lexer still runs")
			break
		}
		taken = append(taken, b)
	}
	for _, b := range taken {
		p.giveBack(b)
	}
}

// FuzzSplit gives any lexer any text.
func FuzzSplit(f *testing.F) {
	names := lexers.Names(true)
	for i, text := range append(still, repeated...) {
		f.Add(uint16(i), text)
	}
	f.Fuzz(func(t *testing.T, lexer uint16, code string) {
		name := names[int(lexer)%len(names)]
		began := time.Now()
		tokens, _ := SplitCode(code, name, 20*time.Millisecond)
		if took := time.Since(began); took > slack {
			t.Errorf("%s took %v for %q", name, took, code)
		}
		if joined(tokens) != code {
			t.Errorf("%s: the tokens of %q are not the code", name, code)
		}
	})
}
