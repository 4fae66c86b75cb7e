package archive

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	quick "github.com/grafana/regexp"
	"github.com/grafana/regexp/syntax"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// programMax bounds a compiled pattern, so that a line cannot take for ever.
const programMax = 10_000

// smallProgram is how large a compiled pattern may be for a whole window to be matched between two looks
// at the clock. What a byte takes grows with it: up to 150 µs.
const smallProgram = 250

// pattern finds matches within lines. The quick one compares a literal beginning
// in either case by its length in bytes, so it does not see that the Kelvin sign
// is a k; where a spelling of another length occurs, the plain one is used.
type pattern struct {
	quick *quick.Regexp
	plain *regexp.Regexp
	odd   [][]byte
	needs needleSet
	most  int    // bytes that are matched at once
	sieve *sieve // nil: every message may match
}

func (p *pattern) findIndex(b []byte) []int {
	for _, odd := range p.odd {
		if bytes.Contains(b, odd) {
			return p.plain.FindIndex(b)
		}
	}
	from := 0
	if len(p.needs) > 0 {
		if from = p.needs.lineFrom(b); from < 0 {
			return nil
		}
	}
	at := p.quick.FindIndex(b[from:])
	if at != nil {
		at[0], at[1] = at[0]+from, at[1]+from
	}
	return at
}

func (p *pattern) findReaderIndex(r io.RuneReader) []int { return p.plain.FindReaderIndex(r) }

// compilePattern makes a pattern that, run over many lines at once, matches exactly
// where the given one matches within a single line.
func compilePattern(q scrollback.GrepQuery) (*pattern, error) {
	const op, param = "archive.Grep", "pattern"
	if q.Pattern == "" {
		return nil, scrollback.ParamErrorf(op, param, i18n.PatternMustNotBeEmpty)
	}
	if n := utf8.RuneCountInString(q.Pattern); n > scrollback.PatternMax {
		return nil, scrollback.ParamErrorf(op, param, i18n.PatternTooLong, n,
			scrollback.PatternMax)
	}
	flags := syntax.Perl
	if !q.CaseSensitive {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(q.Pattern, flags)
	if err != nil {
		return nil, scrollback.ParamErrorf(op, param, "%w", err)
	}
	removeNewlines(tree)
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, scrollback.ParamErrorf(op, param, "%w", err)
	}
	if len(prog.Inst) > programMax {
		return nil, scrollback.ParamErrorf(op, param, i18n.PatternTooBig)
	}
	p := &pattern{odd: collectOddFolds(tree, nil), needs: newNeedles(tree, func(rune) bool { return false })}
	p.most = windowBytes * smallProgram / max(len(prog.Inst), smallProgram)
	p.sieve = newSieve(tree, p.odd)
	if p.quick, err = quick.Compile(tree.String()); err != nil {
		return nil, scrollback.ParamErrorf(op, param, "%w", err)
	}
	if p.plain, err = regexp.Compile(tree.String()); err != nil {
		return nil, scrollback.ParamErrorf(op, param, "%w", err)
	}
	return p, nil
}

// collectOddFolds adds to seen the other cases, of another length in bytes, of the
// characters that re matches in either case.
func collectOddFolds(re *syntax.Regexp, seen [][]byte) [][]byte {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		for _, c := range re.Rune {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				odd := utf8.AppendRune(nil, f)
				if len(odd) != utf8.RuneLen(c) && !slices.ContainsFunc(seen, func(b []byte) bool { return bytes.Equal(b, odd) }) {
					seen = append(seen, odd)
				}
			}
		}
	}
	for _, sub := range re.Sub {
		seen = collectOddFolds(sub, seen)
	}
	return seen
}

// removeNewlines takes the newline out of everything re can match, and lets the
// beginning and the end of the text be those of a line.
func removeNewlines(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags = re.Flags &^ syntax.WasDollar
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				re.Op = syntax.OpNoMatch
				re.Rune = nil
				break
			}
		}
	case syntax.OpCharClass:
		var kept []rune
		for i := 0; i < len(re.Rune); i += 2 {
			lo := re.Rune[i]
			hi := re.Rune[i+1]
			if hi < '\n' || lo > '\n' {
				kept = append(kept, lo, hi)
				continue
			}
			if lo < '\n' {
				kept = append(kept, lo, '\n'-1)
			}
			if hi > '\n' {
				kept = append(kept, '\n'+1, hi)
			}
		}
		re.Rune = kept
		if len(kept) == 0 {
			re.Op = syntax.OpNoMatch
		}
	}
	for _, sub := range re.Sub {
		removeNewlines(sub)
	}
}
