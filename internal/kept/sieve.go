package kept

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// sieve is which pairs of bytes a text has, by their hash. A text without the pairs of a string does not hold it:
// most sentences pass no expression of a hundred, and a look at the sieve costs a thousandth of trying one.
type sieve [128]uint64

func makeSieve(s string) *sieve {
	var out sieve
	for i := 1; i < len(s); i++ {
		at := hashPair(s[i-1], s[i])
		out[at/64] |= 1 << (at % 64)
	}
	return &out
}

func hashPair(a, b byte) uint {
	return (uint(lowerByte(a))*31 + uint(lowerByte(b))) & 8191
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// mayHold reports whether a text may hold a string, in whatever case.
func (v *sieve) mayHold(s string) bool {
	for i := 1; i < len(s); i++ {
		if at := hashPair(s[i-1], s[i]); v[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

// expression is a regular expression, and the strings of which a text must hold one if the expression is to be found
// in it; none if every text must be tried.
type expression struct {
	*regexp.Regexp
	needs []string
	parts []*expression // of which one is to be found, if it has alternatives
}

func makeExpression(re *regexp.Regexp) *expression {
	out := &expression{Regexp: re}
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return out
	}
	out.needs = needsOf(parsed)
	if parsed.Op == syntax.OpAlternate {
		for _, sub := range parsed.Sub {
			out.parts = append(out.parts, &expression{Regexp: regexp.MustCompile(sub.String()), needs: needsOf(sub)})
		}
	}
	return out
}

// sift returns an expression that is made when it is first needed.
func sift(re func() *regexp.Regexp) func() *expression {
	return sync.OnceValue(func() *expression { return makeExpression(re()) })
}

func (e *expression) mayBeIn(v *sieve) bool {
	for _, s := range e.needs {
		if v.mayHold(s) {
			return true
		}
	}
	return len(e.needs) == 0
}

// isIn reports whether the expression is found in a text, of which v is the sieve.
func (e *expression) isIn(s string, v *sieve) bool {
	if len(e.parts) == 0 {
		return e.mayBeIn(v) && e.Regexp.MatchString(s)
	}
	return slices.ContainsFunc(e.parts, func(part *expression) bool { return part.isIn(s, v) })
}

// MatchString is as that of the regular expression.
func (e *expression) MatchString(s string) bool { return e.isIn(s, makeSieve(s)) }

// maxNeeds bounds how many strings an expression may need: more cost as much as the expression.
const maxNeeds = 400

// needsOf returns strings of which a text holds one if an expression is found in it; none if it cannot tell.
func needsOf(re *syntax.Regexp) []string {
	if all := spellOut(re); isTelling(all) {
		return all
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			of := needsOf(sub)
			if len(of) == 0 || len(out)+len(of) > maxNeeds {
				return nil
			}
			out = append(out, of...)
		}
		return out
	case syntax.OpConcat:
		return needsOfRow(re.Sub)
	}
	return nil
}

// needsOfRow returns the most telling needs of what follows each other.
func needsOfRow(row []*syntax.Regexp) (best []string) {
	take := func(of []string) {
		if isTelling(of) && (best == nil || shortest(of) > shortest(best)) {
			best = of
		}
	}
	run := []string{""}
	for _, sub := range row {
		if joined := joinAll(run, spellOut(sub)); joined != nil {
			run = joined
			continue
		}
		take(run)
		take(needsOf(sub))
		run = spellOut(sub)
		if run == nil {
			run = []string{""}
		}
	}
	take(run)
	return best
}

// isTelling reports whether each of some strings has a pair of bytes.
func isTelling(all []string) bool { return len(all) > 0 && shortest(all) > 1 }

func shortest(all []string) int {
	least := len(all[0])
	for _, s := range all {
		least = min(least, len(s))
	}
	return least
}

// spellOut returns all that an expression may match; none if that is too much.
func spellOut(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine,
		syntax.OpEndLine:
		return []string{""}
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(out) == 32 {
					return nil
				}
				out = append(out, strings.ToLower(string(r)))
			}
		}
		return out
	case syntax.OpCapture:
		return spellOut(re.Sub[0])
	case syntax.OpQuest:
		if of := spellOut(re.Sub[0]); of != nil {
			return append([]string{""}, of...)
		}
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			of := spellOut(sub)
			if of == nil || len(out)+len(of) > maxNeeds {
				return nil
			}
			out = append(out, of...)
		}
		return out
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range re.Sub {
			if out = joinAll(out, spellOut(sub)); out == nil {
				return nil
			}
		}
		return out
	}
	return nil
}

// joinAll returns each of some strings with each of others behind it; none if that is too much.
func joinAll(all, behind []string) []string {
	if len(behind) == 0 || len(all)*len(behind) > maxNeeds {
		return nil
	}
	out := make([]string, 0, len(all)*len(behind))
	for _, a := range all {
		for _, b := range behind {
			out = append(out, a+b)
		}
	}
	return out
}
