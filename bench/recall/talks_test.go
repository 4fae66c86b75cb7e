package main

import (
	"database/sql"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "modernc.org/sqlite"
)

// shortForms are one talk of each kind.
var shortForms = []form{{"en", true, 400}, {"en", false, 400}, {"zh", true, 400}, {"zh", false, 400},
	{"mixed", false, 400}}

// shortFormsOf are those of a set.
func shortFormsOf(s set) []form {
	return slices.DeleteFunc(slices.Clone(shortForms),
		func(f form) bool { return s.more && (f.lang == "mixed" || f.lang == "zh" && f.pair) })
}

func mustTalk(t *testing.T, s set, f form) talk {
	t.Helper()
	out, err := s.makeTalk(f)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The same seed makes the same talk, another seed another one.
func TestTalksAreDeterministic(t *testing.T) {
	for _, s := range sets {
		for _, f := range shortFormsOf(s) {
			a := mustTalk(t, s, f)
			b := mustTalk(t, s, f)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s %+v: two talks of a seed differ", s.texts, f)
			}
			if c := mustTalk(t, set{s.name, s.seed + 10, s.texts, s.more}, f); reflect.DeepEqual(a.said, c.said) {
				t.Errorf("%s %+v: another seed makes the same talk", s.texts, f)
			}
		}
	}
}

// Evidence is where a question says, said by whom it asks about, and nothing of the texts'
// own signs is left.
func TestLabelsAreRight(t *testing.T) {
	for _, s := range sets {
		kinds := map[string]bool{}
		for _, f := range shortFormsOf(s) {
			talk := mustTalk(t, s, f)
			asked := map[string]bool{}
			for _, q := range talk.questions {
				kinds[q.kind] = true
				if strings.ContainsAny(q.text, "{}[]|~*") || len(q.evidence) == 0 || len(q.evidence) != len(q.sentences) ||
					asked[q.text] {
					t.Errorf("%s: %q, %d pieces of evidence, asked twice: %v", s.texts, q.text, len(q.evidence), asked[q.text])
				}
				asked[q.text] = true
				for i, place := range q.evidence {
					if !strings.Contains(talk.said[place].readableText(), q.sentences[i]) {
						t.Errorf("%s: %q is not in %q", s.texts, q.sentences[i], talk.said[place].readableText())
					}
					if i > 0 && place <= q.evidence[i-1] {
						t.Errorf("%s: evidence of %q is at %v", s.texts, q.text, q.evidence)
					}
				}
				if q.asked != "two in one" {
					checkSpeaker(t, talk, q)
				}
			}
			for i, m := range talk.said {
				if strings.ContainsAny(m.readableText(), "{}|~") || m.text == "" ||
					i > 0 && m.at.Before(talk.said[i-1].at.Add(-time.Hour)) {
					t.Errorf("%s: message %d at %v is %q", s.texts, i+1, m.at, m.readableText())
				}
			}
			if n := len(talk.said); n < f.messages*9/10 || n > f.messages*3/2 {
				t.Errorf("%s %+v: %d messages", s.texts, f, n)
			}
		}
		if want := map[bool]int{false: 9, true: 10}[s.more]; len(kinds) != want {
			t.Errorf("%s has the kinds %v", s.texts, kinds)
		}
	}
}

// checkSpeaker sees that evidence about one of two people is what that one said.
func checkSpeaker(t *testing.T, talk talk, q question) {
	t.Helper()
	var names []string
	for _, m := range talk.said {
		if m.name != "" && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	for _, place := range q.evidence {
		by := talk.said[place].name
		for _, name := range names {
			if name != by && strings.Contains(q.text, name) && !strings.Contains(q.text, by) {
				t.Errorf("%q is answered by %s: %q", q.text, by, talk.said[place].text)
			}
		}
	}
}

// Two questions of a talk never have each other's answers: what the second asks of was not
// told for the first.
func TestQuestionsHaveOneAnswer(t *testing.T) {
	for _, s := range sets {
		talk := mustTalk(t, s, form{"en", true, 1500})
		of := map[string][]int{}
		for _, q := range talk.questions {
			if was, ok := of[q.text]; ok {
				t.Errorf("%s: %q has the evidence %v and %v", s.texts, q.text, was, q.evidence)
			}
			of[q.text] = q.evidence
		}
	}
}

// No name, thing, sentence or turn of phrase of one half is in the other, but for the words
// that any language has.
func TestHalvesShareNothing(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		train := lexiconWithAll(t, "train", lang)
		held := lexiconWithAll(t, "held", lang)
		values := map[string]string{}
		for slot, vs := range train.slots {
			for _, v := range vs {
				for _, form := range strings.Split(v, " ~ ") {
					values[strings.ToLower(form)] = slot
				}
			}
		}
		for slot, vs := range held.slots {
			for _, v := range vs {
				for _, form := range strings.Split(v, " ~ ") {
					if was, ok := values[strings.ToLower(form)]; ok {
						t.Errorf("%s: %q is in %s of one half and %s of the other", lang, form, was, slot)
					}
				}
			}
		}
		n := map[string]int{"en": 5, "zh": 6}[lang] // words, or characters
		runs := map[string]string{}
		for _, text := range allTexts(train) {
			for _, run := range runsOf(text, n, lang) {
				runs[run] = text
			}
		}
		for _, text := range allTexts(held) {
			for _, run := range runsOf(text, n, lang) {
				if was, ok := runs[run]; ok {
					t.Errorf("%s: %q is in %q and in %q", lang, run, was, text)
				}
			}
		}
	}
}

// lexiconWithAll has the cases of a half, with those of more kinds.
func lexiconWithAll(t *testing.T, half, lang string) *lexicon {
	t.Helper()
	first, err := readLexicon(half + "." + lang)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readLexicon(half+"."+lang, half+".more."+lang)
	if err != nil {
		t.Fatal(err)
	}
	all.cases = append(all.cases, first.cases...)
	return all
}

// allTexts returns the sentences of a lexicon, as they are written there.
func allTexts(lex *lexicon) []string {
	var out []string
	for _, texts := range lex.said {
		out = append(out, texts...)
	}
	for _, m := range lex.mentions {
		out = append(out, m.asks, m.says)
	}
	for _, c := range slices.Concat(lex.cases, lex.chats) {
		out = append(out, c.asks...)
		for _, b := range c.blocks {
			for _, l := range b {
				out = append(out, l.text)
			}
		}
	}
	return out
}

var slot = regexp.MustCompile(`\{.*?\}`)

// runsOf returns the runs of n words without slots in a text; of Chinese, of n characters.
func runsOf(text string, n int, lang string) []string {
	var out []string
	for _, piece := range strings.FieldsFunc(slot.ReplaceAllString(text, "|"),
		func(r rune) bool { return strings.ContainsRune("[]|", r) }) {
		words := strings.FieldsFunc(strings.ToLower(piece),
			func(r rune) bool { return strings.ContainsRune(" ,.?!:;，。？！：；", r) })
		if lang == "zh" {
			words = strings.Split(strings.Join(words, ""), "")
		}
		for i := 0; i+n <= len(words); i++ {
			out = append(out, strings.Join(words[i:i+n], " "))
		}
	}
	return out
}

// A day that is told relatively is the one that people mean.
func TestRelativeDays(t *testing.T) {
	at := time.Date(2025, 5, 14, 9, 0, 0, 0, time.UTC) // a Wednesday
	seen := map[string]bool{}
	for _, name := range []string{"train.en", "held.en", "train.zh", "held.zh"} {
		lex, err := readLexicon(name)
		if err != nil {
			t.Fatal(err)
		}
		m := &maker{rng: newRand(7, 7)}
		for range 400 {
			s := &scene{lex: lex, at: at}
			text := m.formatAgo(s, false)
			seen[fmt.Sprintf("%s = %s", text, s.day.Format(time.DateOnly))] = true
			if s.day.After(at) {
				t.Errorf("%s is %v", text, s.day)
			}
		}
	}
	for _, want := range []string{"yesterday = 2025-05-13", "last Friday = 2025-05-09", "on Monday = 2025-05-12",
		"last weekend = 2025-05-10",
		"two weeks ago = 2025-04-30", "上周五 = 2025-05-09", "上周一 = 2025-05-05", "这周二 = 2025-05-13", "大前天 = 2025-05-11",
		"周末那两天 = 2025-05-10"} {
		if !seen[want] {
			t.Errorf("never said: %s", want)
		}
	}
	for _, not := range []string{"last Wednesday = 2025-05-14", "这周五 = 2025-05-09"} {
		if seen[not] {
			t.Errorf("said: %s", not)
		}
	}
}

// Characters of our table have one Traditional form, which is not itself written otherwise,
// and full width is what search takes for the same.
func TestScripts(t *testing.T) {
	if got := traditional("护照、伞和飞机票在书柜里"); got != "護照、傘和飛機票在書櫃裡" {
		t.Errorf("護照… is %s", got)
	}
	raw, err := texts.ReadFile("texts/traditional.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, l := range strings.Split(string(raw), "\n")[1:] {
		for _, pair := range strings.Fields(l) {
			if utf8.RuneCountInString(pair) != 2 {
				t.Errorf("%q is no pair", pair)
				continue
			}
			from := string([]rune(pair)[0])
			to := string([]rune(pair)[1])
			if was, ok := seen[from]; from == to || ok && was != to || traditional(to) != to {
				t.Errorf("%s: was %q, and %s becomes %s", pair, was, to, traditional(to))
			}
			seen[from] = to
		}
	}
	if got := fullWidth("在8080，ok"); got != "在８０８０，ｏｋ" {
		t.Errorf("full width: %s", got)
	}
}

// Plain BM25 finds what SQLite's FTS5 finds, in the same order.
func TestPlainIsFTS5(t *testing.T) {
	talk := mustTalk(t, sets[0], form{"en", true, 300})
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // each connection has its own database in memory
	if _, err = db.ExecContext(t.Context(), `CREATE VIRTUAL TABLE said USING fts5(text)`); err != nil {
		t.Fatal(err)
	}
	for i, m := range talk.said {
		if _, err = db.ExecContext(t.Context(), `INSERT INTO said (rowid, text) VALUES (?, ?)`, i+1,
			m.readableText()); err != nil {
			t.Fatal(err)
		}
	}
	p := newPlain(talk, 0)
	for _, q := range talk.questions {
		words := plainWords(q.text)
		slices.Sort(words)
		for i, w := range words {
			words[i] = `"` + w + `"`
		}
		rows, err := db.QueryContext(t.Context(),
			`SELECT rowid FROM said WHERE said MATCH ? ORDER BY round(bm25(said), 6), rowid LIMIT ?`,
			strings.Join(slices.Compact(words), " OR "), shown)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			want = append(want, n-1)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		got, err := p.find(t.Context(), q.text)
		if err != nil || !slices.Equal(got.places, want) {
			t.Fatalf("%s: %v, %v; FTS5 has %v", q.text, got.places, err, want)
		}
	}
}

// A score counts hits by their places, and evidence only where its own message is read.
func TestJudge(t *testing.T) {
	q := question{evidence: []int{3, 9}, sentences: []string{"a <fact>", "Yes."}}
	long := strings.Repeat("word ", 2200)
	text := `{"seq":4,"content":"a \u003cfact\u003e"},{"seq":1,"content":"Yes. ` + long +
		`"},{"seq":10,"content":"Yes. And"}`
	got := scoreAnswer(q, answer{places: []int{0, 3, 1, 2, 4, 5, 6, 7, 8, 10, 9}, text: text})
	if got.at != [3]float64{0.5, 0.5, 1} || got.inside != [2]float64{0.5, 1} {
		t.Errorf("scored %+v", got)
	}
	if got := scoreAnswer(q, answer{places: []int{9}, text: `{"seq":10,"content":"Ye`}); got.at[0] != 0.5 ||
		got.inside[1] != 0 {
		t.Errorf("half a fact is scored %+v", got)
	}
}
