package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

var lateMay = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)

// Which days a text names, with those without a year in the past.
func TestDatesIn(t *testing.T) {
	for text, want := range map[string]string{
		"on 2026-03-05 and 2026/3/6":        "2026-03-05+1 2026-03-06+1",
		"2026-02":                           "2026-02-01+28",
		"March 5, 2026":                     "2026-03-05+1",
		"5 March":                           "2026-03-05+1",
		"the 1st of June":                   "2025-06-01+1",
		"June 1st":                          "2025-06-01+1",
		"in March":                          "2026-03-01+31",
		"Sept 2024":                         "2024-09-01+30",
		"in May":                            "2026-05-01+31",
		"May I ask":                         "",
		"May 3":                             "2026-05-03+1",
		"we march on":                       "",
		"Dec 24 and 3 Jan 2026":             "2026-01-03+1 2025-12-24+1",
		"3月5日":                              "2026-03-05+1",
		"2026年3月5日，和3月":                     "2026-03-05+1 2026-03-01+31",
		"三月二十一日":                            "2026-03-21+1",
		"十二月":                               "2025-12-01+31",
		"十月份":                               "2025-10-01+31",
		"3个月以后":                             "",
		"2026-02-30 and 2026-13-01, 1-2-3":  "",
		"February 30":                       "",
		"ticket 4711-03, room 2026, 12 men": "",
	} {
		var got []string
		for _, d := range datesIn(text, lateMay) {
			got = append(got, fmt.Sprintf("%s+%d", time.UnixMilli(d.from).UTC().Format(time.DateOnly), (d.to-d.from)/86_400_000))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Operators narrow and are no words; what only looks like one stays a word.
func TestReadAsk(t *testing.T) {
	day := func(s string) int64 {
		d, _ := time.Parse(time.DateOnly, s)
		return d.UnixMilli()
	}
	for _, c := range []struct {
		query string
		any   string
		want  parsedQuery
	}{
		{"role:user blue", "blue", parsedQuery{role: "user"}},
		{"blue ROLE:user", "blue role user", parsedQuery{}},
		{"role:Assistant blue", "blue", parsedQuery{role: "assistant"}},
		{"role:boss blue", "role boss blue", parsedQuery{}},
		{"after:2026-03-01 blue before:2026-04", "blue", parsedQuery{from: day("2026-03-01"), to: day("2026-04-01")}},
		{"on:2026-03-05 blue", "blue", parsedQuery{from: day("2026-03-05"), to: day("2026-03-06")}},
		{"on:2026-03 after:2026-03-10 blue", "blue", parsedQuery{from: day("2026-03-10"), to: day("2026-04-01")}},
		{"before:each blue", "befor each blue", parsedQuery{}},
		{`blue "role:user"`, "blue role user", parsedQuery{}},
		{"xrole:user", "xrole user", parsedQuery{}},
		{"what did you advise", "advis", parsedQuery{speaker: "assistant"}},
		{"what did I say about blue", "blue", parsedQuery{speaker: "user"}},
		{"did you say that I said so", "did you say that i said so", parsedQuery{}},
		{"我说过蓝色吗", "说过 过蓝 蓝色", parsedQuery{speaker: "user"}},
		{"你推荐的蓝色", "推荐 蓝色", parsedQuery{speaker: "assistant"}},
		{"blue now", "blue now", parsedQuery{newest: true}},
		{"现在蓝色", "现在 在蓝 蓝色", parsedQuery{newest: true}},
	} {
		got, err := parseQuery(c.query, lateMay)
		if err != nil || got.role != c.want.role || got.from != c.want.from || got.to != c.want.to ||
			got.speaker != c.want.speaker ||
			got.newest != c.want.newest {
			t.Errorf("%s: %+v, %v, want %+v", c.query, got, err, c.want)
		}
		if strings.Join(got.Any[:got.Words], " ") != c.any {
			t.Errorf("%s: looks for %q, want %q", c.query, got.Any[:got.Words], c.any)
		}
	}
	for _, q := range []string{"after:2026-02-30 blue", "blue on:12", "before:3pm blue"} {
		if _, err := parseQuery(q, lateMay); scrollback.CodeOf(err) != scrollback.Invalid ||
			!strings.Contains(err.Error(), "names no day") {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want bool
	}{
		{[]int{1}, []int{2}, true}, {[]int{1}, []int{4}, true}, {[]int{1}, []int{5}, false}, {[]int{5}, []int{3}, true},
		{[]int{5}, []int{2}, false}, {[]int{1, 20}, []int{10, 21}, true}, {[]int{1, 30}, []int{10, 20}, false},
		{nil, []int{1}, false},
	} {
		if got := areAdjacent(c.a, c.b); got != c.want {
			t.Errorf("%v and %v together: %v", c.a, c.b, got)
		}
	}
}

// A passage of a long text is where the words are, however far behind.
func TestPassage(t *testing.T) {
	a, err := parseQuery("needle point", lateMay)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("hay needle hay ", 200) + "the point of the needle" + strings.Repeat(" hay", 500)
	got := findMatches(&terms.Finder{}, text, a.Query).cutPassage(100)
	if !strings.Contains(got, "point of the needle") || len([]rune(got)) > 101 {
		t.Errorf("the passage is %q", got)
	}
	if got := findMatches(&terms.Finder{}, "short", a.Query).cutPassage(5); got != "short" {
		t.Errorf("a short text becomes %q", got)
	}
	if !slices.Equal(a.Any, []string{"needl", "point", "needlepoint"}) {
		t.Errorf("%q", a.Any)
	}
}
