package search

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dates are read in UTC, as times are shown.
//
// The forms: 2026-03-05, 2026/3/5, 2026-03; March 5, 2026; 5 March; March 2026;
// 2026年3月5日, 3月5日, 三月. A date without a year is the latest such that has begun.
var (
	isoDate     = regexp.MustCompile(`\b(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?\b`)
	monthFirst  = regexp.MustCompile(`\b(` + monthNames + `)\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(\d{4})\b)?`)
	dayFirst    = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + monthNames + `)\b\.?(?:,?\s+(\d{4})\b)?`)
	chineseDate = regexp.MustCompile(`(?:(\d{4})\s*年\s*)?(\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?:份|\s*(\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号])?`)
)

const monthNames = `(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|March|April|May|June|July|August|September|October|November|December)`

// days is a span of time, [from, to) in Unix ms. anyYear says that its year was guessed.
type days struct {
	from, to int64
	anyYear  bool
}

func (d days) has(ms int64) bool { return d.from <= ms && ms < d.to }

// otherYear is what a span counts in another year than the one that was guessed.
const otherYear = 0.6

// meets says how well a time that a message is of, or names, is the one that is asked for:
// less if it is much longer.
func (d days) meets(told days) float64 {
	worth := 1.0
	if d.from >= told.to || told.from >= d.to {
		if !d.anyYear {
			return 0
		}
		was, is := time.UnixMilli(d.from).UTC(), time.UnixMilli(told.from).UTC()
		back := is.Year() - was.Year()
		d.from, d.to = was.AddDate(back, 0, 0).UnixMilli(), time.UnixMilli(d.to).UTC().AddDate(back, 0, 0).UnixMilli()
		if worth = otherYear; d.from >= told.to || told.from >= d.to {
			return 0
		}
	}
	const day = 24 * 60 * 60 * 1000
	switch long := told.to - told.from; {
	case long <= max(d.to-d.from, day):
		return worth
	case long <= 10*day:
		return 0.6 * worth
	case long <= 31*day:
		return 0.4 * worth
	}
	return 0.2 * worth
}

// nearest moves a time whose year was guessed to the year in which it is nearest to another.
func (d days) nearest(to time.Time) days {
	if !d.anyYear {
		return d
	}
	best := d
	for _, by := range []int{-1, 1, 2} {
		from := time.UnixMilli(d.from).UTC().AddDate(by, 0, 0).UnixMilli()
		if abs(from-to.UnixMilli()) < abs(best.from-to.UnixMilli()) {
			best = days{from: from, to: time.UnixMilli(d.to).UTC().AddDate(by, 0, 0).UnixMilli()}
		}
	}
	return best
}

func abs(n int64) int64 { return max(n, -n) }

// datesIn lists the dates that a text names, at most 8. A month of English counts
// only where it is written as a name; "May" also needs a number or a preposition.
func datesIn(text string, now time.Time) []days {
	var out []days
	add := func(year, month, day string) {
		if d, ok := daysOf(number(year), number(month), number(day), now); ok && len(out) < 8 {
			out = append(out, d)
		}
	}
	for _, m := range isoDate.FindAllStringSubmatch(text, 8) {
		add(m[1], m[2], m[3])
	}
	rest := isoDate.ReplaceAllString(text, " ")
	for _, m := range dayFirst.FindAllStringSubmatch(rest, 8) {
		add(m[3], m[2], m[1])
	}
	rest = dayFirst.ReplaceAllString(rest, " ")
	for _, at := range monthFirst.FindAllStringSubmatchIndex(rest, 8) {
		m := monthFirst.FindStringSubmatch(rest[at[0]:at[1]])
		if m[2] == "" && m[3] == "" && m[1] == "May" && !afterPreposition(rest[:at[0]]) {
			continue
		}
		add(m[3], m[1], m[2])
	}
	for _, m := range chineseDate.FindAllStringSubmatch(text, 8) {
		add(m[1], m[2], m[3])
	}
	return out
}

func afterPreposition(before string) bool {
	words := strings.Fields(strings.ToLower(before))
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "in", "of", "since", "during", "until", "by", "from", "last", "this", "early", "late":
		return true
	}
	return false
}

// number reads digits, Chinese numerals up to 99 and the name of a month; 0 for nothing,
// or for what it cannot read.
func number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if len(s) >= 3 && s[0] >= 'A' && s[0] <= 'Z' {
		for m := time.January; m <= time.December; m++ {
			if strings.HasPrefix(m.String(), s[:3]) {
				return int(m)
			}
		}
	}
	n, digit := 0, 0
	for _, r := range s {
		if r == '十' {
			n += 10 * max(digit, 1)
			digit = 0
			continue
		}
		digit = 1 + strings.Index("一二三四五六七八九", string(r))/len("一")
	}
	return n + digit
}

// daysOf is a day, or a month where the day is 0; without a year the latest one
// that has begun.
func daysOf(year, month, day int, now time.Time) (days, bool) {
	if month < 1 || month > 12 || day < 0 || day > 31 || year != 0 && (year < 1900 || year > 2200) {
		return days{}, false
	}
	given := year != 0
	if !given {
		year = now.UTC().Year()
	}
	from := time.Date(year, time.Month(month), max(day, 1), 0, 0, 0, 0, time.UTC)
	if !given && from.After(now) {
		from = time.Date(year-1, time.Month(month), max(day, 1), 0, 0, 0, 0, time.UTC)
	}
	if from.Month() != time.Month(month) { // there is no such day
		return days{}, false
	}
	to := from.AddDate(0, 0, 1)
	if day == 0 {
		to = from.AddDate(0, 1, 0)
	}
	return days{from.UnixMilli(), to.UnixMilli(), !given}, true
}
