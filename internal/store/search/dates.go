package search

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// Dates are read in the zone of the day from which they are seen: that of the search.
//
// The forms: 2026-03-05, 2026/3/5, 2026-03; March 5, 2026; 5 March; March 2026;
// 2026年3月5日, 3月5日, 三月. A date without a year is the latest such that has begun.
var (
	isoDate    = lazyregexp.New(`\b(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?\b`)
	monthFirst = lazyregexp.New(`\b(` + monthNames + `)\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(\d{4})\b)?`)
	dayFirst   = lazyregexp.New(`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + monthNames +
		`)\b\.?(?:,?\s+(\d{4})\b)?`)
	chineseDate = lazyregexp.New(`(?:(\d{4})\s*年\s*)?(\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?:份|\s*(\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号])?`)
)

const monthNames = `(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|March|April|May|June|July|August|September|October|November|December)`

// daySpan is a span of time, [from, to) in Unix ms. anyYear says that its year was guessed.
type daySpan struct {
	from, to int64
	anyYear  bool
}

// shiftYears returns the span some years later, on the same days of the calendar of a zone.
func (d daySpan) shiftYears(years int, zone *time.Location) daySpan {
	return daySpan{from: time.UnixMilli(d.from).In(zone).AddDate(years, 0, 0).UnixMilli(),
		to: time.UnixMilli(d.to).In(zone).AddDate(years, 0, 0).UnixMilli()}
}

// otherYear is what a span counts in another year than the one that was guessed.
const otherYear = 0.6

// matchScore says how well a time that a message is of, or names, is the one that is asked for:
// less if it is much longer.
func (d daySpan) matchScore(told daySpan, zone *time.Location) float64 {
	worth := 1.0
	if d.from >= told.to || told.from >= d.to {
		if !d.anyYear {
			return 0
		}
		d = d.shiftYears(time.UnixMilli(told.from).In(zone).Year()-time.UnixMilli(d.from).In(zone).Year(), zone)
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

// nearestYear moves a time whose year was guessed to the year in which it is nearest to another.
func (d daySpan) nearestYear(to time.Time) daySpan {
	if !d.anyYear {
		return d
	}
	best := d
	for _, by := range []int{-1, 1, 2} {
		if other := d.shiftYears(by, to.Location()); abs(other.from-to.UnixMilli()) < abs(best.from-to.UnixMilli()) {
			best = other
		}
	}
	return best
}

func abs(n int64) int64 { return max(n, -n) }

// datesIn lists the dates that a text names, at most 8. A month of English counts
// only where it is written as a name; "May" also needs a number or a preposition.
func datesIn(text string, now time.Time) []daySpan {
	var out []daySpan
	add := func(year, month, day string) {
		if d, ok := daysOf(parseNumber(year), parseNumber(month), parseNumber(day), now); ok && len(out) < 8 {
			out = append(out, d)
		}
	}
	for _, m := range isoDate().FindAllStringSubmatch(text, 8) {
		add(m[1], m[2], m[3])
	}
	rest := isoDate().ReplaceAllString(text, " ")
	for _, m := range dayFirst().FindAllStringSubmatch(rest, 8) {
		add(m[3], m[2], m[1])
	}
	rest = dayFirst().ReplaceAllString(rest, " ")
	for _, at := range monthFirst().FindAllStringSubmatchIndex(rest, 8) {
		m := monthFirst().FindStringSubmatch(rest[at[0]:at[1]])
		if m[2] == "" && m[3] == "" && m[1] == "May" && !afterPreposition(rest[:at[0]]) {
			continue
		}
		add(m[3], m[1], m[2])
	}
	for _, m := range chineseDate().FindAllStringSubmatch(text, 8) {
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

// parseNumber reads digits, Chinese numerals up to 99 and the name of a month; 0 for nothing,
// or for what it cannot read.
func parseNumber(s string) int {
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
	n := 0
	digit := 0
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

// daysOf returns a day, or a month where the day is 0; without a year the latest one
// that has begun.
func daysOf(year, month, day int, now time.Time) (daySpan, bool) {
	if month < 1 || month > 12 || day < 0 || day > 31 || year != 0 && (year < 1900 || year > 2200) {
		return daySpan{}, false
	}
	given := year != 0
	if !given {
		year = now.Year()
	}
	from := time.Date(year, time.Month(month), max(day, 1), 0, 0, 0, 0, now.Location())
	if !given && from.After(now) {
		from = time.Date(year-1, time.Month(month), max(day, 1), 0, 0, 0, 0, now.Location())
	}
	if from.Month() != time.Month(month) { // there is no such day
		return daySpan{}, false
	}
	to := from.AddDate(0, 0, 1)
	if day == 0 {
		to = from.AddDate(0, 1, 0)
	}
	return daySpan{from.UnixMilli(), to.UnixMilli(), !given}, true
}

//go:embed words.tsv
var foreignFile string

// foreign is what questions and messages say in Japanese and Korean.
var foreign = wordtable.New("internal/store/search/words.tsv", foreignFile)

// What people say of times as seen from the day on which they speak.
var (
	agoPattern = foreign.Regexp(`(?i)\b(an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|few|a couple of|couple of|several|\d{1,3})\s+` +
		`(day|week|weekend|month|year)s?\s+(?:ago|back|before|earlier)\b|(\d{1,3}|[一二两兩三四五六七八九十]+|几|幾|数)\s*(?:个|個|{counter})?\s*(天|日|周|週|星期|礼拜|禮拜|月|年)(?:以)?前` +
		`|(\d{1,3}|{amount})\s*({unit})\s*{ago}`)
	shiftedPattern = foreign.Regexp(`(?i)\b(last|past|this|next|coming)\s+(?:past\s+)?(week|weekend|month|year|spring|summer|autumn|fall|winter|` + weekdayNames + `)\b` +
		`|(上上|上|这|這|本|下下|下)(?:个|個)?(?:周|週|星期|礼拜|禮拜)([一二三四五六日天末])?|(上|这|這|本|下)(?:个|個)?月|({span})` +
		`|({step})\s*({step-unit})`)
	singlePattern = foreign.Regexp(`(?i)\b(the day before yesterday|yesterday|last night|today|tonight|this morning|this afternoon|this evening|` +
		`the day after tomorrow|tomorrow)\b|大前天|前天|昨天|昨晚|昨日|今天|今晚|今早|今日|明天|明晚|明日|后天|後天|{day}` +
		`|去年|前年|今年|明年|{year}`)
)

const weekdayNames = `monday|tuesday|wednesday|thursday|friday|saturday|sunday`

// daysOff says how far a single word is from today.
var daysOff = map[string]int{"the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0,
	"tonight": 0, "this morning": 0,
	"this afternoon": 0, "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2, "大前天": -3, "前天": -2, "昨天": -1,
	"昨晚": -1, "昨日": -1,
	"今天": 0, "今晚": 0, "今早": 0, "今日": 0, "明天": 1, "明晚": 1, "明日": 1, "后天": 2, "後天": 2}

var yearsOff = map[string]int{"去年": -1, "前年": -2, "今年": 0, "明年": 1}

// relativeIn lists the times that a text names as seen from a day, at most 16.
func relativeIn(text string, now time.Time) []daySpan {
	var out []daySpan
	today := startOf(now)
	for _, m := range singlePattern().FindAllString(text, 8) {
		if y, ok := offset(yearsOff, "year", m); ok {
			out = append(out, yearDays(today.Year()+y, today.Location()))
		} else {
			d, _ := offset(daysOff, "day", strings.ToLower(m))
			out = append(out, dayOf(today.AddDate(0, 0, d)))
		}
	}
	for _, m := range agoPattern().FindAllStringSubmatch(text, 4) {
		out = append(out, daysBefore(today, parseAmount(m[1]+m[3]+m[5]), strings.ToLower(m[2]+m[4]+m[6])))
	}
	for _, m := range shiftedPattern().FindAllStringSubmatch(text, 4) {
		by, _ := offset(unitSteps, "step", strings.ToLower(m[1]+m[3]+m[5]+m[7]))
		unit := m[2] + foreign.PartOf("step-unit", m[8])
		switch {
		case m[3] != "":
			unit = "week" + m[4]
		case m[5] != "":
			unit = "month"
		case m[6] != "":
			n, of, _ := strings.Cut(foreign.PartOf("span", m[6]), " ")
			by, _ = strconv.Atoi(n)
			unit = of
		}
		out = append(out, shiftUnit(today, by, strings.ToLower(unit)))
	}
	return out
}

// offset returns what a word stands for: what the list says, or else the table under a rule.
func offset(list map[string]int, rule, word string) (n int, ok bool) {
	if n, ok = list[word]; ok {
		return n, true
	}
	n, err := strconv.Atoi(foreign.PartOf(rule, word))
	return n, err == nil
}

var unitSteps = map[string]int{"last": -1, "past": -1, "next": 1, "coming": 1, "上上": -2, "上": -1, "下": 1, "下下": 2}

// parseAmount reads how many, 3 for a few.
func parseAmount(s string) int {
	for i, w := range strings.Fields("one two three four five six seven eight nine ten") {
		if strings.EqualFold(s, w) {
			return i + 1
		}
	}
	switch strings.ToLower(s) {
	case "a", "an":
		return 1
	case "a couple of", "couple of", "两", "兩":
		return 2
	case "few", "a few", "several", "几", "幾", "数":
		return 3
	}
	if n, err := strconv.Atoi(foreign.PartOf("amount", s)); err == nil {
		return n
	}
	return parseNumber(s)
}

// daysBefore returns the time n units before a day: the longer the unit, the less exact.
func daysBefore(today time.Time, n int, unit string) daySpan {
	switch cmp.Or(foreign.PartOf("unit", unit), unit) {
	case "day", "天", "日":
		return dayOf(today.AddDate(0, 0, -n))
	case "week", "weekend", "周", "週", "星期", "礼拜", "禮拜":
		d := today.AddDate(0, 0, -7*n)
		return daySpan{from: d.AddDate(0, 0, -3).UnixMilli(), to: d.AddDate(0, 0, 4).UnixMilli()}
	case "month", "月":
		return monthDays(today, -n)
	}
	return yearDays(today.Year()-n, today.Location())
}

// shiftUnit returns the unit before (-1), after (1) or around (0) a day.
func shiftUnit(today time.Time, by int, unit string) daySpan {
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7+7*by)
	switch unit {
	case "week":
		return daySpan{from: monday.UnixMilli(), to: monday.AddDate(0, 0, 7).UnixMilli()}
	case "weekend", "week末":
		return daySpan{from: monday.AddDate(0, 0, 5).UnixMilli(), to: monday.AddDate(0, 0, 7).UnixMilli()}
	case "month":
		return monthDays(today, by)
	case "year":
		return yearDays(today.Year()+by, today.Location())
	case "spring", "summer", "autumn", "fall", "winter":
		return seasonDays(today, by, unit)
	}
	if day, ok := strings.CutPrefix(unit, "week"); ok {
		n := strings.Index("一二三四五六日", strings.Replace(day, "天", "日", 1)) / len("一")
		return dayOf(monday.AddDate(0, 0, n))
	}
	for i, name := range strings.Split(weekdayNames, "|") {
		if name != unit {
			continue
		}
		d := today.AddDate(0, 0, -(int(today.Weekday())+6)%7+i) // of this week
		switch {
		case by < 0 && !d.Before(today):
			d = d.AddDate(0, 0, -7)
		case by > 0 && !d.After(today):
			d = d.AddDate(0, 0, 7)
		}
		return dayOf(d)
	}
	return daySpan{}
}

// seasonDays returns the days of a season of the northern half of the earth.
func seasonDays(today time.Time, by int, name string) daySpan {
	first := map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[name]
	from := time.Date(today.Year(), first, 1, 0, 0, 0, 0, today.Location())
	switch {
	case by < 0 && from.AddDate(0, 3, 0).After(today):
		from = from.AddDate(-1, 0, 0)
	case by > 0 && !from.After(today):
		from = from.AddDate(1, 0, 0)
	}
	return daySpan{from: from.UnixMilli(), to: from.AddDate(0, 3, 0).UnixMilli()}
}

// startOf returns when the day of a time begins, in the time's own zone.
func startOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

func dayOf(d time.Time) daySpan {
	return daySpan{from: d.UnixMilli(), to: d.AddDate(0, 0, 1).UnixMilli()}
}

func monthDays(today time.Time, by int) daySpan {
	d := time.Date(today.Year(), today.Month()+time.Month(by), 1, 0, 0, 0, 0, today.Location())
	return daySpan{from: d.UnixMilli(), to: d.AddDate(0, 1, 0).UnixMilli()}
}

func yearDays(y int, zone *time.Location) daySpan {
	d := time.Date(y, 1, 1, 0, 0, 0, 0, zone)
	return daySpan{from: d.UnixMilli(), to: d.AddDate(1, 0, 0).UnixMilli()}
}
