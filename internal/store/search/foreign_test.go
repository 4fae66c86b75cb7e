package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

// Each word for a time in Japanese and Korean means the days that it names.
func TestTimesInOtherLanguages(t *testing.T) {
	now := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC) // a Wednesday
	for said, want := range map[string]string{
		"一昨日": "2026-03-16 2026-03-17", "おととい": "2026-03-16 2026-03-17", "きのう": "2026-03-17 2026-03-18",
		"明後日": "2026-03-20 2026-03-21", "그저께": "2026-03-16 2026-03-17", "어제": "2026-03-17 2026-03-18",
		"오늘": "2026-03-18 2026-03-19", "내일": "2026-03-19 2026-03-20", "모레": "2026-03-20 2026-03-21",
		"昨年": "2025-01-01 2026-01-01", "来年": "2027-01-01 2028-01-01", "작년": "2025-01-01 2026-01-01",
		"올해": "2026-01-01 2027-01-01", "내년": "2027-01-01 2028-01-01",
		"先週": "2026-03-09 2026-03-16", "今週": "2026-03-16 2026-03-23", "来週": "2026-03-23 2026-03-30",
		"先月": "2026-02-01 2026-03-01", "今月": "2026-03-01 2026-04-01", "来月": "2026-04-01 2026-05-01",
		"지난 주": "2026-03-09 2026-03-16", "이번 주": "2026-03-16 2026-03-23", "다음 주": "2026-03-23 2026-03-30",
		"지난달": "2026-02-01 2026-03-01", "이번달": "2026-03-01 2026-04-01", "다음달": "2026-04-01 2026-05-01",
		"3日前": "2026-03-15 2026-03-16", "2か月前": "2026-01-01 2026-02-01", "2ヶ月前": "2026-01-01 2026-02-01",
		"2ヵ月前": "2026-01-01 2026-02-01", "1年前": "2025-01-01 2026-01-01",
		"한 달 전": "2026-02-01 2026-03-01", "두 달 전": "2026-01-01 2026-02-01", "세 달 전": "2025-12-01 2026-01-01",
		"네 달 전": "2025-11-01 2025-12-01", "몇 달 전": "2025-12-01 2026-01-01", "5일 전": "2026-03-13 2026-03-14",
		"2주 전": "2026-03-01 2026-03-08", "2주일 전": "2026-03-01 2026-03-08", "2개월 전": "2026-01-01 2026-02-01",
		"2년 전": "2024-01-01 2025-01-01",
	} {
		got := relativeIn(said, now)
		if len(got) == 0 {
			t.Errorf("%s: no time", said)
			continue
		}
		day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }
		if s := day(got[0].from) + " " + day(got[0].to); s != want || len(got) > 1 {
			t.Errorf("%s: %s and %d more, want %s", said, s, len(got)-1, want)
		}
	}
}

// What a table has is found by what looks for it, with what the rows say of times.
func TestForeignWords(t *testing.T) {
	now := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)
	timed := func(s string) bool { return len(relativeIn(s, now)) == 1 }
	of := func(asks func(questionKind) bool) func(string) bool {
		return func(s string) bool { return asks(kindOf(s)) }
	}
	holds := func(words []string) func(string) bool {
		return func(s string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
		}
	}
	wordtabletest.Run(t, foreign, map[string]func(string) bool{
		"counter": timed, "ago": timed, "amount": timed, "unit": timed, "span": timed, "step": timed, "step-unit": timed,
		"day": timed, "year": timed,
		"question":   of(func(k questionKind) bool { return k.question }),
		"when":       of(func(k questionKind) bool { return k.when }),
		"many":       of(func(k questionKind) bool { return k.many }),
		"where":      of(func(k questionKind) bool { return k.where }),
		"why":        of(func(k questionKind) bool { return k.why }),
		"shown":      of(func(k questionKind) bool { return k.shown }),
		"wish":       of(func(k questionKind) bool { return k.wishes }),
		"wish-term":  holds(wishTerms()),
		"has-self":   func(s string) bool { return traitsOf(s, questionKind{}, false).self },
		"has-time":   func(s string) bool { return traitsOf(s, questionKind{when: true}, false).time },
		"has-reason": func(s string) bool { return traitsOf(s, questionKind{why: true}, false).reason },
		"has-shown":  func(s string) bool { return traitsOf(s, questionKind{shown: true}, false).shown },
		"has-place":  func(s string) bool { return traitsOf(s, questionKind{where: true}, false).place },
	})
}
