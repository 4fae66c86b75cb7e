package archive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
)

func TestVeryLongLines(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	for _, c := range []struct{ line, want string }{
		{strings.Repeat("中", 700_000) + "needle" + strings.Repeat("文", 700_000), "中needle文"},
		{"needle" + strings.Repeat("b", 3000), "needleb"},
		{strings.Repeat("b", 3000) + "needle", "bneedle"},
		{strings.Repeat("é", 600) + "needle" + strings.Repeat("é", 3000), "éneedleé"},
	} {
		e := put(t, a, "first\n"+c.line+"\nlast needle", "text/plain")
		r, err := a.Grep(t.Context(), archive.Scope{Artifact: all},
			scrollback.GrepQuery{Ref: e.Ref, Pattern: "NEEDLE", ContextLines: 1})
		must(t, err)
		m := r.Matches[0]
		if r.Total != 2 || m.Line != 2 || r.Matches[1].Line != 3 || utf8.RuneCountInString(m.Content) != 1000 ||
			!utf8.ValidString(m.Content) || !strings.Contains(m.Content, c.want) || m.After[0] != "last needle" {
			t.Errorf("total %d, line %d, %d characters", r.Total, m.Line, utf8.RuneCountInString(m.Content))
		}
		if utf8.RuneCountInString(r.Matches[1].Before[0]) != 1000 {
			t.Error("the context is not clipped")
		}
	}
	long := put(t, a, strings.Repeat(`x`, 2000), "")
	r, err := a.Grep(t.Context(), archive.Scope{Artifact: all}, scrollback.GrepQuery{Ref: long.Ref, Pattern: "x+"})
	must(t, err)
	if len(r.Matches[0].Content) != 1000 {
		t.Errorf("%d", len(r.Matches[0].Content))
	}
}

var patterns = rapid.SampledFrom([]string{"a", "^a", "b$", "^$", "a|^中", `a\s*b`, "[^b]+a", "a.?b", `(?s).a`, `\Aab*\z`,
	`(?-m)^b|é$`,
	`\ba`, `(?i)A`, `[\n]`, "(a|b)*", `\W`, `😀{2}`, `a\nb`, `[^a]$`, `(?U)a+`, `\Bb`, ``})

func TestGrepEqualsNaive(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	rapid.Check(t, func(r *rapid.T) {
		s := mixed.Draw(r, "content")
		if rapid.IntRange(0, 9).Draw(r, "big") == 9 {
			s = strings.Repeat(s+"\n", 9000) // beyond one window, beyond one read
		}
		p := patterns.Draw(r, "pattern")
		if p == "" {
			p = rapid.StringMatching(`[ab^$.*?é\[\]|()]{1,8}`).Draw(r, "wild")
		}
		around := rapid.IntRange(0, 3).Draw(r, "around")
		limit := rapid.IntRange(1, 5).Draw(r, "max")
		re, err := regexp.Compile("(?i)" + p)
		e := put(t, a, s, "")
		got, gerr := a.Grep(t.Context(), archive.Scope{Artifact: all},
			scrollback.GrepQuery{Ref: e.Ref, Pattern: p, ContextLines: around, MaxResults: limit})
		if (err == nil) != (gerr == nil) {
			r.Fatalf("%v, want %v", gerr, err)
		}
		if err != nil {
			return
		}
		want := naiveGrep(s, re, around, limit)
		for i := range want.Matches {
			want.Matches[i].Ref = &e.Ref
		}
		if g, w := toJSON(t, got), toJSON(t, want); g != w {
			r.Fatalf("%.2000s\nwant\n%.2000s", g, w)
		}
	})
}

func TestEitherCaseOfAnotherLength(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringMatching(`[ksS\x{212A}\x{17F}éÉßẞ中\n]{0,12}`).Draw(r, "content")
		p := rapid.StringMatching(`[ks\x{212A}\x{17F}éÉßẞ中]{1,4}`).Draw(r, "pattern")
		got, err := a.Grep(t.Context(), archive.Scope{Artifact: all},
			scrollback.GrepQuery{Ref: put(t, a, s, "").Ref, Pattern: p})
		if want := naiveGrep(s, regexp.MustCompile("(?i)"+p), 0, 50); err != nil || got.Total != want.Total {
			r.Fatalf("total %d, %v, want %d", got.Total, err, want.Total)
		}
	})
}

// What is looked for first, before the pattern is run, makes no line be missed,
// whatever of the pattern minds the case.
func TestNeedlesMissNothing(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	part := rapid.SampledFrom([]string{"ab", "A", "é", "É", "(?-i:É)", "(?-i:Ab)", "(?-i:b)", "中", "(ab|É)", "(?-i:AB|中)",
		"(?:ab)+", "a{2,}",
		"b?", ".", "|", "^", "$", `\x{FFFD}`, "[É中]"})
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringMatching(`[aAbBéÉ中k\n]{0,40}`).Draw(r, "content")
		if rapid.IntRange(0, 9).Draw(r, "big") == 9 {
			// over the ends of pieces
			s = strings.Repeat("x", rapid.IntRange(4000, 4200).Draw(r, "before")) + s + strings.Repeat("y\n", 3000) + s
		}
		p := ""
		for range rapid.IntRange(1, 4).Draw(r, "parts") {
			p += part.Draw(r, "part")
		}
		sensitive := rapid.Bool().Draw(r, "sensitive")
		re, err := regexp.Compile(map[bool]string{false: "(?i)"}[sensitive] + p)
		if err != nil {
			return
		}
		got, err := a.Grep(t.Context(), archive.Scope{Artifact: all},
			scrollback.GrepQuery{Ref: put(t, a, s, "").Ref, Pattern: p,
				CaseSensitive: sensitive})
		if want := naiveGrep(s, re, 0, 50); err != nil || got.Total != want.Total {
			r.Fatalf("%q in %d bytes: total %d, %v, want %d", p, len(s), got.Total, err, want.Total)
		}
	})
}

func naiveGrep(s string, re *regexp.Regexp, around, limit int) scrollback.GrepResult {
	out := scrollback.GrepResult{Matches: []scrollback.GrepMatch{}}
	lines := strings.Split(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		if !re.MatchString(l) {
			continue
		}
		out.Total++
		if len(out.Matches) < limit {
			out.Matches = append(out.Matches, scrollback.GrepMatch{Line: i + 1, Content: l,
				Before: lines[max(0, i-around):i], After: lines[i+1 : min(len(lines), i+1+around)]})
		}
	}
	return out
}

func BenchmarkGrep(b *testing.B) {
	log := &book{}
	for range 20_000 {
		log.say(text(strings.Repeat("The quick brown fox jumps over the lazy dog; 天地玄黄。\n", 10)))
	}
	var ids []scrollback.SegmentID
	for i := range int64(40) {
		id := fmt.Sprintf("%02d", i)
		log.fold(b, id, i*500+1, i*500+500)
		ids = append(ids, scrollback.SegmentID(id))
	}
	for _, dir := range []string{"", b.TempDir()} {
		a := archive.New(log, bucket(b), &archive.Options{Dir: dir})
		for _, p := range []string{"needle", "lazy.cat", "dog", `\d{4}`} {
			b.Run(fmt.Sprintf("%s/files=%v", p, dir != ""), func(b *testing.B) {
				if dir != "" {
					for _, id := range ids {
						must(b, a.RenderAhead(b.Context(), id))
					}
				}
				for b.Loop() {
					_, err := a.Grep(b.Context(), segment(ids...), scrollback.GrepQuery{Pattern: p})
					must(b, err)
				}
			})
		}
	}
}
