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

// say chooses among [the|alternatives] of a text, fills its slots, and notes in the scene
// what they stand for.
func (m *maker) say(s *scene, text string) string {
	var b strings.Builder
	for i, piece := range strings.Split(m.choose(text), "{") {
		if i == 0 {
			b.WriteString(piece)
			continue
		}
		name, rest, _ := strings.Cut(piece, "}")
		b.WriteString(m.slot(s, name))
		b.WriteString(rest)
	}
	return capital(b.String())
}

// choose takes one of each [a|b].
func (m *maker) choose(text string) string {
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '[')
		to := strings.IndexByte(text, ']')
		if from < 0 || to < from {
			return b.String() + text
		}
		b.WriteString(text[:from] + m.pick(strings.Split(text[from+1:to], "|")))
		text = text[to+1:]
	}
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// slot is what a slot stands for.
func (m *maker) slot(s *scene, name string) string {
	switch name {
	case "A":
		return s.a
	case "B":
		return s.b
	case "ago", "Ago":
		return cased(m.ago(s, false), name)
	case "agoday", "Agoday":
		return cased(m.ago(s, true), name)
	case "Sky":
		return cased(m.slot(s, "sky"), name)
	case "day":
		return m.date(s, []string{"2006-01-02", "January 2", "2 January 2006", "January 2, 2006"},
			[]string{"2006-01-02", "1月2日", "2006年1月2日"})
	case "month":
		return m.date(s, []string{"January", "January 2006"}, []string{"1月", "2006年1月"})
	case "nextmonth":
		next := s.at.AddDate(0, 1+m.rng.IntN(3), 1-s.at.Day())
		return dateIn(s.lex, next, "January", "1月")
	}
	name, form := formOf(name)
	if s.fill[name] == "" {
		s.fill[name] = m.value(s, name)
	}
	return strings.Split(s.fill[name], " ~ ")[form]
}

// formOf takes the marks off a slot's name: {x'} is the second form of what {x} stands for,
// as it is asked for; {x”} the third, which is in other words.
func formOf(name string) (string, int) {
	plain := strings.TrimRight(name, "'")
	return plain, len(name) - len(plain)
}

// cased begins with a capital letter if the slot's name does.
func cased(text, name string) string {
	if name[0] >= 'A' && name[0] <= 'Z' {
		return capital(text)
	}
	return text
}

func dateIn(lex *lexicon, at time.Time, english, chinese string) string {
	if lex.chinese {
		return at.Format(chinese)
	}
	return at.Format(english)
}

// date is the day that was told of, as a question has it.
func (m *maker) date(s *scene, english, chinese []string) string {
	i := m.rng.IntN(len(english))
	e := english[i]
	c := chinese[min(i, len(chinese)-1)]
	if s.end.Sub(s.day) > 300*24*time.Hour {
		e = english[len(english)-1]
		c = chinese[len(chinese)-1]
	}
	return dateIn(s.lex, s.day, e, c)
}

// ago says a day relative to the scene's, and notes which it is; exact ones name a single day.
func (m *maker) ago(s *scene, exact bool) string {
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
		return strings.ReplaceAll(w.text, "{weekday}", weekday(s.lex, s.day.Weekday()))
	}
}

func weekday(lex *lexicon, d time.Weekday) string {
	if lex.chinese {
		return "周" + string([]rune("日一二三四五六")[d])
	}
	return d.String()
}

// value draws what a slot stands for, unlike the slots of the same kind.
func (m *maker) value(s *scene, name string) string {
	base := s.lex.base(name)
	for try := 0; ; try++ {
		var v string
		switch from := s.lex.slots[base]; {
		case from != nil:
			v = m.pick(m.pool(from, s.filler))
		case base == "num":
			v = fmt.Sprint(21 + m.rng.IntN(470))
		case base == "small":
			v = fmt.Sprint(2 + m.rng.IntN(10))
		case base == "weekday":
			v = weekday(s.lex, time.Weekday(m.rng.IntN(7)))
		default:
			panic("bench/recall: there is no slot {" + name + "}") // a mistake in texts
		}
		taken := false
		for other, was := range s.fill {
			taken = taken || was == v && s.lex.base(other) == base
		}
		if !taken || try > 50 {
			return v
		}
	}
}

// pool is what a slot stands for in this talk: facts mostly have values that small talk seldom
// has.
func (m *maker) pool(from []string, filler bool) []string {
	if m.chance(mixedShare) || len(from) < 4 {
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

// page is what an assistant writes: advice around a sentence, if there is one. Half of the
// things it speaks of are those of the scene.
func (m *maker) page(s *scene, around string) string {
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
		return m.say(&from, what)
	}
	tips := s.lex.said["tip M"]
	n := 4 + m.rng.IntN(7)
	at := m.rng.IntN(n)
	lines := []string{of(m.pick(s.lex.said["head M"]))}
	for i, p := range m.rng.Perm(len(tips))[:n] {
		if i == at && around != "" {
			lines = append(lines, around)
		}
		lines = append(lines, of(tips[p]))
	}
	if m.rng.IntN(2) == 0 {
		lines = append(lines, of(m.pick(s.lex.said["tail M"])))
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

func (m *maker) pick(from []string) string { return from[m.rng.IntN(len(from))] }

// chance is true in that share of cases.
func (m *maker) chance(share float64) bool { return m.rng.Float64() < share }

func newRand(seed, talk uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, talk)) }
