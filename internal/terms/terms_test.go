package terms

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"The servers are running!": "the server are run",
		"数据库":                      "数据 据库 库",
		"我":                        "我",
		"端口7077，重启":                "端口 口 7077 重启 启",
		"ERR-4041 foo_bar":         "err 4041 foo bar",
		"データベース":                   "デー ータ タベ ベー ース ス",
		"naïve Ünïcode":            "naiv unicod",
		"a数b":                      "a 数 b",
		"端口８０８０ＡＢＣ":                "端口 口 8080abc",
		"護照在臺灣":                    "护照 照在 在台 台湾 湾",
		"ﾃﾞｰﾀﾍﾞｰｽ":                 "デー ータ タベ ベー ース ス",
		"ﬁne cafe\u0301":           "fine cafe",
		"Łódź, Straße, Đà Nẵng":    "lodz strass da nang",
		"élèves ÉLÈVE éleve":       "elev elev elev",
		"йод Έλληνας นี้":          "йод έλληνας นี้",
		"ﷺ":                        "صلىاللهعليهوسلم",
	} {
		if got := strings.Join(SplitTerms(in), " "); got != want {
			t.Errorf("Split(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	q := ParseQuery(`数据库 port "exact words" 库 port “引号内”`)
	if want := []string{"数据", "据库", "port", "exact", "word", "库*", "引号", "号内", "exactword"}; !slices.Equal(q.Any, want) {
		t.Errorf("Any = %q, want %q", q.Any, want)
	}
	if len(q.Quoted) != 2 || q.Demanded || strings.Join(q.Quoted[0].Terms, " ") != "exact word" ||
		strings.Join(q.Quoted[1].Terms, " ") != "引号 号内" {
		t.Errorf("Quoted = %q", q.Quoted)
	}
	q = ParseQuery(`"红色的，蓝色" and 「v2版」`)
	if !q.Demanded || len(q.Any) > 0 || len(q.Quoted) != 2 ||
		strings.Join(q.Quoted[0].Order, " ") != "红* 色* 的* 蓝* 色*" || strings.Join(q.Quoted[1].Order, " ") != "v2 版*" {
		t.Errorf("%+v", q)
	}
	if !ParseQuery(` ,. "" `).IsEmpty() {
		t.Error("punctuation alone is not empty")
	}
}

// What a query leaves out, and what it adds that nobody typed.
func TestParseGuesses(t *testing.T) {
	for in, want := range map[string]string{
		"what is the port of it":   "port",
		"what is it":               "what is it",
		"the decisions we made":    "decis made | decid make",
		"parse the ledger row":     "pars ledger row | ledgerrow",
		"parse ledger row!":        "pars ledger row | parseledg parseledgerrow ledgerrow",
		"parseLedgerRow":           "parseledgerrow | pars ledger row",
		"HTTPServer getURL":        "httpserver geturl | httpservergeturl get url",
		"端口是多少":                    "端口",
		"我们什么时候去丽江的":               "去丽 丽江",
		"现在的目的":                    "现在 目的",
		"什么":                       "什么",
		"第3章":                      "第* 3",
		`port "what is it" is who`: "port",
		`the “blue depot”?`:        "blue depot | bluedepot",
	} {
		q := ParseQuery(in)
		got := strings.Join(q.Any[:q.Words], " ")
		if guesses := q.Any[q.Words:]; len(guesses) > 0 {
			got += " | " + strings.Join(guesses, " ")
		}
		if got != want {
			t.Errorf("Parse(%q) = %q, want %q", in, got, want)
		}
	}
	q := ParseQuery("did Atlas restart port 7077? Maybe on heron-2")
	for i, term := range q.Any[:q.Words] {
		if want := slices.Contains([]string{"atlas", "7077", "heron", "2"}, term); q.Exact[i] != want {
			t.Errorf("%q is exact: %v", term, q.Exact[i])
		}
	}
}

// Of a long query the beginning and the end are looked for.
func TestParseLong(t *testing.T) {
	var all []string
	for i := range 200 {
		all = append(all, "w"+strconv.Itoa(1000+i))
	}
	q := ParseQuery(strings.Join(all, " "))
	if q.Words != MaxTerms || q.Any[0] != "w1000" || q.Any[31] != "w1031" || q.Any[32] != "w1168" || q.Any[63] != "w1199" {
		t.Errorf("%d words: %q", q.Words, q.Any)
	}
}

// What may name something in a text.
func TestNamesIn(t *testing.T) {
	got := strings.Join(NamesIn("We met Anna at Pier 7. The boat was Anna's, 我表弟李强的船"), " ")
	if got != "anna pier 7 表弟 弟李 李强" {
		t.Errorf("names: %s", got)
	}
}

// Whatever is typed, each term stands for words that there are.
func TestParseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := ParseQuery(rapid.StringOf(rapid.RuneFrom([]rune("aAbBgotwen 19é中文的，-\"“"))).Draw(t, "query"))
		if len(q.Any) > MaxTerms || len(q.Any) != len(q.Stands) || len(q.Any) != len(q.Exact) || q.Words > len(q.Any) {
			t.Fatalf("%+v", q)
		}
		for i, stands := range q.Stands {
			if i < q.Words && !slices.Equal(stands, []int{i}) ||
				slices.ContainsFunc(stands, func(w int) bool { return w < 0 || w >= q.Words }) {
				t.Fatalf("term %d of %+v", i, q)
			}
		}
	})
}

// Every term lies where EachTermAt says, holds no separator, and a text's terms are
// those of its halves when cut at a separator.
func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.String().Draw(t, "a")
		b := rapid.String().Draw(t, "b")
		EachTermAt(a, func(term string, from, to int) bool {
			if from < 0 || to > len(a) || from >= to {
				t.Fatalf("term %q at [%d,%d) of %d", term, from, to, len(a))
			}
			if term == "" || strings.ContainsAny(term, " \t\n\"*:()-") {
				t.Fatalf("bad term %q", term)
			}
			return true
		})
		if got, want := SplitTerms(a+" "+b), append(SplitTerms(a), SplitTerms(b)...); !slices.Equal(got, want) {
			t.Fatalf("cut at a space: %q, halves: %q", got, want)
		}
	})
}

// Every term is found where cutting the whole text has it, and nowhere else.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("aAbBrRuUnNiIgG 19é中文字，-"))).Draw(t, "text")
		all := SplitTerms(s)
		want := rapid.SliceOfN(rapid.SampledFrom(append(all, "run", "b*", "中*", "é", "1", "x")), 1, 4).Draw(t, "want")
		var f Finder
		f.TermPlaces(s, []string{"x", "run"}, 1000) // what was cut before changes nothing
		places, length := f.TermPlaces(s, want, 1000)
		if length != len(all) {
			t.Fatalf("%q has %d terms, counted %d", s, len(all), length)
		}
		for i, w := range want {
			var at []int
			for n, term := range all {
				if begin, ok := strings.CutSuffix(w, "*"); term == w || ok && strings.HasPrefix(term, begin) {
					at = append(at, n)
				}
			}
			if !slices.Equal(places[i], at) {
				t.Fatalf("%q: %q is at %v, found at %v", s, w, at, places[i])
			}
		}
	})
}
