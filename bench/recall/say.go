package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// scene is what texts are filled in with: who talks, when, and what the slots of a case
// stand for. Day is the one that was told of, and set by {ago}.
type scene struct {
	lex     *lexicon
	a, b    string
	at, day time.Time
	end     time.Time // of the talk: dates near it go without a year
	fill    map[string]string
	filler  bool // nothing is told
}

// tellLine chooses among [the|alternatives] of a text, fills its slots, and notes in the scene
// what they stand for.
func (m *maker) tellLine(s *scene, text string) string {
	var b strings.Builder
	for i, piece := range strings.Split(m.chooseVariants(text), "{") {
		if i == 0 {
			b.WriteString(piece)
			continue
		}
		name, rest, _ := strings.Cut(piece, "}")
		b.WriteString(m.fillSlot(s, name))
		b.WriteString(rest)
	}
	return capitalize(b.String())
}

// chooseVariants takes one of each [a|b].
func (m *maker) chooseVariants(text string) string {
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '[')
		to := strings.IndexByte(text, ']')
		if from < 0 || to < from {
			return b.String() + text
		}
		b.WriteString(text[:from] + m.pickOne(strings.Split(text[from+1:to], "|")))
		text = text[to+1:]
	}
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// fillSlot returns what a slot stands for.
func (m *maker) fillSlot(s *scene, name string) string {
	switch name {
	case "A":
		return s.a
	case "B":
		return s.b
	case "ago", "Ago":
		return matchCase(m.formatAgo(s, false), name)
	case "agoday", "Agoday":
		return matchCase(m.formatAgo(s, true), name)
	case "Sky":
		return matchCase(m.fillSlot(s, "sky"), name)
	case "day":
		return m.formatDate(s, []string{"2006-01-02", "January 2", "2 January 2006", "January 2, 2006"},
			[]string{"2006-01-02", "1月2日", "2006年1月2日"})
	case "month":
		return m.formatDate(s, []string{"January", "January 2006"}, []string{"1月", "2006年1月"})
	case "nextmonth":
		next := s.at.AddDate(0, 1+m.rng.IntN(3), 1-s.at.Day())
		return dateIn(s.lex, next, "January", "1月")
	}
	name, form := formOf(name)
	if s.fill[name] == "" {
		s.fill[name] = m.drawValue(s, name)
	}
	return strings.Split(s.fill[name], " ~ ")[form]
}

// formOf takes the marks off a slot's name: {x'} is the second form of what {x} stands for,
// as it is asked for; {x”} the third, which is in other words.
func formOf(name string) (string, int) {
	plain := strings.TrimRight(name, "'")
	return plain, len(name) - len(plain)
}

// matchCase begins with a capital letter if the slot's name does.
func matchCase(text, name string) string {
	if name[0] >= 'A' && name[0] <= 'Z' {
		return capitalize(text)
	}
	return text
}

func dateIn(lex *lexicon, at time.Time, english, chinese string) string {
	if lex.chinese {
		return at.Format(chinese)
	}
	return at.Format(english)
}

// formatDate returns the day that was told of, as a question has it.
func (m *maker) formatDate(s *scene, english, chinese []string) string {
	i := m.rng.IntN(len(english))
	e := english[i]
	c := chinese[min(i, len(chinese)-1)]
	if s.end.Sub(s.day) > 300*24*time.Hour {
		e = english[len(english)-1]
		c = chinese[len(chinese)-1]
	}
	return dateIn(s.lex, s.day, e, c)
}

// formatAgo says a day relative to the scene's, and notes which it is; exact ones name a single day.
func (m *maker) formatAgo(s *scene, exact bool) string {
	for {
		w := s.lex.whens[m.rng.IntN(len(s.lex.whens))]
		monday := (int(s.at.Weekday()) + 6) % 7 // days since Monday
		back := 0
		switch _, err := fmt.Sscan(w.back, &back); {
		case err == nil:
			if exact && back > 3 {
				continue
			}
		case w.back == "weekend" && exact:
			continue
		case w.back == "weekend":
			back = monday + 2
		case strings.HasPrefix(w.text, "上"): // the week before this one
			back = monday + 1 + m.rng.IntN(7)
		case strings.HasPrefix(w.text, "这"):
			back = m.rng.IntN(monday + 1)
		default:
			back = 1 + m.rng.IntN(6)
		}
		s.day = s.at.AddDate(0, 0, -back)
		return strings.ReplaceAll(w.text, "{weekday}", weekdayName(s.lex, s.day.Weekday()))
	}
}

func weekdayName(lex *lexicon, d time.Weekday) string {
	if lex.chinese {
		return "周" + string([]rune("日一二三四五六")[d])
	}
	return d.String()
}

// drawValue draws what a slot stands for, unlike the slots of the same kind.
func (m *maker) drawValue(s *scene, name string) string {
	base := s.lex.slotBase(name)
	for try := 0; ; try++ {
		var v string
		switch from := s.lex.slots[base]; {
		case from != nil:
			v = m.pickOne(m.valuePool(from, s.filler))
		case base == "num":
			v = fmt.Sprint(21 + m.rng.IntN(470))
		case base == "small":
			v = fmt.Sprint(2 + m.rng.IntN(10))
		case base == "weekday":
			v = weekdayName(s.lex, time.Weekday(m.rng.IntN(7)))
		default:
			panic("bench/recall: there is no slot {" + name + "}") // a mistake in texts
		}
		taken := false
		for other, was := range s.fill {
			taken = taken || was == v && s.lex.slotBase(other) == base
		}
		if !taken || try > 50 {
			return v
		}
	}
}

// valuePool returns what a slot stands for in this talk: facts mostly have values that small talk seldom
// has.
func (m *maker) valuePool(from []string, filler bool) []string {
	if m.isChance(mixedShare) || len(from) < 4 {
		return from
	}
	shift := int(m.turn % uint64(len(from)))
	half := len(from) / 2
	out := slices.Concat(from[shift:], from[:shift])
	if filler {
		return out[:half]
	}
	return out[half:]
}

// makePage returns what an assistant writes: advice around a sentence, if there is one. Half of the
// things it speaks of are those of the scene.
func (m *maker) makePage(s *scene, around string) string {
	from := *s
	from.filler = true
	from.fill = map[string]string{}
	of := func(what string) string {
		maps.Copy(from.fill, s.fill)
		for _, k := range slices.Sorted(maps.Keys(s.fill)) {
			if m.rng.IntN(2) == 0 {
				delete(from.fill, k)
			}
		}
		for _, k := range slotsOf(what) { // other tips speak of other things
			if s.fill[k] == "" {
				delete(from.fill, k)
			}
		}
		return m.tellLine(&from, what)
	}
	tips := s.lex.said["tip M"]
	n := 4 + m.rng.IntN(7)
	at := m.rng.IntN(n)
	lines := []string{of(m.pickOne(s.lex.said["head M"]))}
	for i, p := range m.rng.Perm(len(tips))[:n] {
		if i == at && around != "" {
			lines = append(lines, around)
		}
		lines = append(lines, of(tips[p]))
	}
	if m.rng.IntN(2) == 0 {
		lines = append(lines, of(m.pickOne(s.lex.said["tail M"])))
	}
	return strings.Join(lines, "\n")
}

// widths of digits and letters: what is typed with a Chinese keyboard is often full width.
func fullWidth(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r - '0' + '０'
		}
		return r
	}, s)
}

// traditional is how Simplified Chinese of our texts is written with Traditional characters.
var traditional = func() func(string) string {
	raw, err := texts.ReadFile("texts/traditional.txt")
	if err != nil {
		panic(err) // it is embedded
	}
	to := map[rune]rune{}
	for _, l := range strings.Split(string(raw), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		for _, pair := range strings.Fields(l) {
			r := []rune(pair)
			to[r[0]] = r[1]
		}
	}
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if t, ok := to[r]; ok {
				return t
			}
			return r
		}, s)
	}
}()

func (m *maker) pickOne(from []string) string { return from[m.rng.IntN(len(from))] }

// isChance is true in that share of cases.
func (m *maker) isChance(share float64) bool { return m.rng.Float64() < share }

func newRand(seed, talk uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, talk)) }
