package token

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// How near is near.
const (
	mostNear     = 3
	leastNear    = 3 // letters and digits; of fewer, everything is near
	lettersASlip = 4 // letters and digits to one slip
)

// NearNames lists at most three models whose names are close to an unknown one, the closest
// first: a few wrong letters, another provider or none, a prefix or a suffix. It lists
// nothing if nothing is close, or the name is right.
func (c *Catalog) NearNames(name string) []string {
	exact := func(n string) bool { _, own := c.own[n]; _, ok := known()[n]; return own || ok }
	if exact(name) || len(name) > longestName {
		return nil
	}
	type near struct {
		name string
		off  int
	}
	var all []near
	for n := range c.respellProvider(name) {
		all = append(all, near{n, -2})
	}
	as := c.Find(name).As
	a := spellName(name)
	for _, from := range []map[string]Facts{known(), c.own} {
		for n := range maps.Keys(from) {
			switch off, ok := a.distanceTo(spellName(n)); {
			case n == as && exact(as):
				all = append(all, near{n, -1})
			case ok:
				all = append(all, near{n, off})
			}
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, n := range all {
		if len(out) < mostNear && !slices.Contains(out, n.name) && n.off <= max(all[0].off, 0)+allowedSlips {
			out = append(out, n.name)
		}
	}
	return out
}

// respellProvider yields a name with the spelling of its provider corrected, if there is one
// close to it that has the model.
func (c *Catalog) respellProvider(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		wrong, rest, ok := strings.Cut(strings.ToLower(name), "/")
		for _, p := range listProviders() {
			right := p + "/" + rest
			if !ok || p == wrong || editDistance(wrong, p, 2) > 2 || !c.Find(right).Known {
				continue
			}
			if !yield(right) {
				return
			}
		}
	}
}

// listProviders lists those of the known models.
func listProviders() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(known())) {
		if p, _, _ := strings.Cut(name, "/"); len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	return out
}

// allowedSlips is the weight of a wrong letter; a wrong provider weighs less, a missing end more.
const allowedSlips = 4

// nameSpelling is a name by its letters and digits alone: whole, and what the model is
// called, without its date.
type nameSpelling struct{ provider, whole, bare string }

func spellName(name string) nameSpelling {
	a := parseName(name)
	return nameSpelling{provider: a.provider, whole: lettersOf(name), bare: lettersOf(cutTag(a.name, true))}
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80 {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// distanceTo returns how far apart two spellings are, if they are near.
func (a nameSpelling) distanceTo(b nameSpelling) (int, bool) {
	best := 0
	ok := false
	keep := func(off int) {
		if !ok || off < best {
			best = off
			ok = true
		}
	}
	try := func(x, y string, more int) {
		if n := len(x) / lettersASlip; len(x) >= leastNear {
			if d := editDistance(x, y, n); d <= n {
				keep(d*allowedSlips + more)
			}
		}
	}
	more := 0
	if a.provider != b.provider {
		more = allowedSlips / 2
	}
	try(a.whole, b.whole, 0)
	try(a.bare, b.bare, more)
	if len(a.bare) > leastNear && len(b.bare) > leastNear &&
		(strings.Contains(b.bare, a.bare) || strings.Contains(a.bare, b.bare)) {
		keep(allowedSlips + more + max(len(a.bare), len(b.bare)) - min(len(a.bare), len(b.bare)))
	}
	return best, ok
}

// substitutionCost returns the weight of one letter in place of another: two if both are digits, because
// that is more often another model than a typo.
func substitutionCost(a, b byte) int {
	if a <= '9' && b <= '9' {
		return 2
	}
	return 1
}

// editDistance returns how many letters of a are wrong, missing, too many, or swapped with the
// next, to become b; above most it is any number above most.
func editDistance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			d := last[j]
			if a[i] != b[j] {
				d = min(last[j]+substitutionCost(a[i], b[j]), last[j+1]+1, row[j]+1)
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					d = min(d, before[j-1]+1)
				}
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > most {
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
