package summary

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Unusable says why an answer cannot be used as a summary: in full to the model that is asked
// once more, and in a person's words in the receipt.
type Unusable struct {
	Complaint string // to the model
	Shown     string // to a person
}

func (u Unusable) Error() string { return u.Complaint }

// Reasons as a person reads them, where several complaints come to the same.
const (
	shownForm    = "the answer did not have the form of a summary"
	shownEmpty   = "the answer was empty"
	shownRefusal = "the model refused to write a summary"
	shownThought = "the answer held the model's thoughts beside the summary"
)

// OtherLanguage is an answer that is fine but for its language.
type OtherLanguage struct {
	Unusable
	Text string // in the form that was asked for
}

// TooLong is an answer that is fine but far too long.
type TooLong struct {
	Unusable
	Text string // in the form that was asked for, and shortened to its bound
}

// Criteria is what an answer is judged by.
type Criteria struct {
	Count    func(string) int // tokens
	Bound    int64            // tokens that an answer may have
	Language string           // that it is to be in, as [DetectSpoken] names it
}

// Of how much an answer is too long: by a twentieth, it stays as it is, since tokens are counted in another way
// than its model does; by up to half, it is shortened; and by more, its model is told.
const (
	tolerated = 1.05
	shortened = 1.5
)

// shownRunes bounds what is quoted of an answer.
const shownRunes = 160

// Accept brings an answer into the form, whatever marks it came with, and checks that it
// is a summary: [Unusable] if it is not, [OtherLanguage] if only its language is wrong, [TooLong] if it
// is far too long. One that is a little too long is shortened (see [Trim]).
func (f Form) Accept(answer string, j Criteria) (string, error) {
	// Reading it takes a while for each of its lines, and counting only what is left of it.
	if most := 16*j.Bound + 64<<10; int64(len(answer)) > most {
		return "", Unusable{fmt.Sprintf("it was %d bytes long, many times as long as it may be", len(answer)),
			fmt.Sprintf("the answer was %d bytes long, and at most %d tokens are allowed", len(answer), j.Bound)}
	}
	text, left := dropThoughts(cleanAnswer(answer))
	switch {
	case left:
		return "", Unusable{"it contained thoughts beside the minutes", shownThought}
	case text == "":
		return "", Unusable{"it was empty", shownEmpty}
	case repeatsRecord(text):
		return "", Unusable{"it repeated the record", "the answer repeated the conversation instead of summarizing it"}
	}
	if inner, ok := f.unwrapFence(text); ok {
		if text, left = dropThoughts(inner); left {
			return "", Unusable{"it contained thoughts beside the minutes", shownThought}
		}
	}
	p := f.parse(text)
	if err := f.checkComplete(&p, text); err != nil {
		return "", err
	}
	return f.checkAnswer(&p, j)
}

// checkComplete checks that an answer has the sections of the form. One that was left out has
// nothing to say, if most of them came.
func (f Form) checkComplete(p *parsedAnswer, text string) error {
	missing := p.missingSections()
	heading := func(i int) string { return "## " + f.Sections[i].Heading }
	switch {
	case p.last < 0 && refusalPattern().MatchString(text):
		return Unusable{"it refused to write minutes", shownRefusal}
	case p.last < 0:
		return Unusable{"it was not minutes: it had none of the headings, of which the first is " + heading(0), shownForm}
	case len(missing) > 0 && !p.came[len(p.came)-1] && (p.open || dangles(p.ends)):
		return Unusable{"it broke off under " + heading(p.last), "the summary broke off in the middle"}
	case len(p.others) > 0 && len(missing) > 0:
		return Unusable{fmt.Sprintf("it had the heading %q, which was not asked for, and not %s",
			clip.ClipLine(p.others[0], shownRunes), heading(missing[0])), shownForm}
	case 2*len(missing) > len(p.came):
		return Unusable{fmt.Sprintf("%d of the %d headings were missing, %s first", len(missing), len(p.came),
			heading(missing[0])), shownForm}
	case p.repeated > 1:
		return Unusable{"its headings came more than once", shownForm}
	}
	return nil
}

// checkAnswer writes the canonical form of what was parsed, and checks what it says.
func (f Form) checkAnswer(p *parsedAnswer, j Criteria) (string, error) {
	p.lines[p.last] = dropRemark(p.lines[p.last])
	var b strings.Builder
	var said []string
	code := 0
	for i, s := range f.Sections {
		lines := listBullets(p.lines[i])
		said = append(said, lines...)
		if len(lines) == 0 {
			lines = []string{"- " + f.None}
		}
		b.WriteString("## " + s.Heading + "\n" + strings.Join(lines, "\n") + "\n")
	}
	fenced := false
	for _, line := range said {
		if mark := fenceLine().MatchString(line); mark || fenced {
			fenced = fenced != mark
			code += len(line)
		}
	}
	text := strings.TrimSuffix(b.String(), "\n")
	switch {
	case len(said) == 0:
		return "", Unusable{"it said nothing", shownEmpty}
	case len(said) <= 2 && refusalPattern().MatchString(said[0]):
		return "", Unusable{"it refused to write minutes", shownRefusal}
	case 2*code > len(strings.Join(said, "")):
		return "", Unusable{"it was code instead of minutes", "the answer was code instead of a summary"}
	}
	n := int64(j.Count(text))
	if float64(n) > tolerated*float64(j.Bound) {
		text = Trim(text, j.Count, j.Bound)
	}
	long := Unusable{fmt.Sprintf("it was %.1f times as long as it may be", float64(n)/float64(max(j.Bound, 1))),
		fmt.Sprintf("the summary was %d tokens long, and at most %d are allowed", n, j.Bound)}
	if text == "" {
		return "", long
	}
	if want := j.Language; !inLanguage(strings.Join(said, "\n"), want) {
		return "", OtherLanguage{Unusable{"it was not in the language the person writes in (" + languages[want] + ")",
			"the summary was not in the language of the conversation"}, text}
	}
	if float64(n) > shortened*float64(j.Bound) {
		return "", TooLong{long, text}
	}
	return text, nil
}

// cleanAnswer returns an answer without what differs between machines.
func cleanAnswer(answer string) string {
	answer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "", "\u2028", "\n", "\x00",
		"").Replace(strings.ToValidUTF8(answer, ""))
	if _, final, ok := strings.Cut(answer, "<|channel|>final<|message|>"); ok {
		answer = strings.TrimSuffix(strings.TrimSpace(final), "<|end|>")
	}
	return strings.TrimSpace(answer)
}

const thoughtNames = `(?:think|thinking|thoughts?|reasoning|scratchpad|analysis|reflection|inner_?monologue)`

var (
	// In square brackets, words beside the name make it the text of a link or a label.
	thoughtOpen = lazyregexp.New(`(?im)[<◁]` + thoughtNames +
		`\b[^>▷\n]*[>▷]|\[(?:think|thinking|thoughts?|reasoning)\]`)
	thoughtClose = lazyregexp.New(`(?im)[<\[◁]/` + thoughtNames + `\s*[>\]▷]`)
	lineBegins   = lazyregexp.New(`(?:^|\n)[ \t]*(?:[-*•][ \t]+)?$`)
	lineEnds     = lazyregexp.New(`^[ \t]*(?:\n|$)`)
	anyHead      = lazyregexp.New(`(?m)^[ \t]*(?:#|\*\*|__)`)
	codeSpan     = lazyregexp.New("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]+`")
	recordLine   = lazyregexp.New(`(?im)^[ \t]*</?\s*record\s*>`)
	wrapLine     = lazyregexp.New(
		`(?im)^[ \t]*</?(?:minutes|summary|state_snapshot|output|answer|final|final_answer|result|response)>[ \t]*$\n?`,
	)
)

// maxThoughts bounds how many thoughts are taken out of one answer.
const maxThoughts = 32

// dropThoughts takes out what a model thinks between marks of its own, and marks around
// the whole. Marks within code, or mentioned within a line, are text. left says that a
// thought did not end.
func dropThoughts(text string) (_ string, left bool) {
	for range maxThoughts {
		code := codeSpan().FindAllStringIndex(stripFence(text), -1)
		within := func(at int) bool {
			for _, c := range code {
				if at >= c[0] && at < c[1] {
					return true
				}
			}
			return false
		}
		begins := len(text)
		if h := anyHead().FindStringIndex(text); h != nil {
			begins = h[0]
		}
		first := func(all [][]int, counts func(m []int) bool) []int {
			for _, m := range all {
				if !within(m[0]) && counts(m) {
					return m
				}
			}
			return nil
		}
		open := first(thoughtOpen().FindAllStringIndex(text, -1),
			func(m []int) bool { return m[0] < begins || lineBegins().MatchString(text[:m[0]]) })
		from := 0
		if open != nil {
			from = open[0]
		}
		end := first(thoughtClose().FindAllStringIndex(text, -1), func(m []int) bool {
			return m[0] >= from && (open != nil || lineBegins().MatchString(text[:m[0]]) || lineEnds().MatchString(text[m[1]:]))
		})
		switch {
		case open == nil && end == nil:
			return strings.TrimSpace(wrapLine().ReplaceAllString(text, "")), false
		case end == nil:
			return "", true
		}
		text = strings.TrimSpace(text[:from] + text[end[1]:])
	}
	return "", true
}

// stripFence returns a text whose first line, if it opens a fence around the whole, is blanked.
func stripFence(text string) string {
	if line, rest, ok := strings.Cut(text, "\n"); ok && fenceLine().MatchString(line) {
		return strings.Repeat(" ", len(line)) + "\n" + rest
	}
	return text
}

// repeatsRecord reports whether a text has the marks of the record as lines.
func repeatsRecord(text string) bool {
	return recordLine().MatchString(codeSpan().ReplaceAllString(text, ""))
}

// unwrapFence returns what is inside a fence that is around all headings.
func (f Form) unwrapFence(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	open := -1
	fences := []int{}
	mark := ""
	for i, line := range lines {
		m := fenceLine().FindStringSubmatch(line)
		if h, ok := f.headOf(line, "", 0); m == nil && ok && h.section >= 0 && open < 0 {
			return "", false
		}
		switch {
		case m == nil:
		case open < 0:
			open = i
			mark = m[1][:1]
		case m[1][:1] == mark:
			fences = append(fences, i)
		}
	}
	if open < 0 {
		return "", false
	}
	end := len(lines)
	if len(fences)%2 == 1 { // those inside come in pairs, and the last is the end
		end = fences[len(fences)-1]
	}
	inner := strings.Join(lines[open+1:end], "\n")
	if f.parse(inner).last < 0 {
		return "", false
	}
	return inner, true
}

var (
	refusalPattern = foreign.Regexp(
		`(?i)^[\s\-*"'“]*(?:i['’]?m sorry|i am sorry|sorry|i can['’]?t|i cannot|i can not|i['’]?m unable|i am unable|i['’]?m not able|i won['’]?t|as an ai|unfortunately,? i|` +
			`(?:很)?抱歉|对不起|對不起|我无法|我無法|我不能|{refusal})`,
	)
	remarkPattern = foreign.Regexp(
		`(?i)^[\s*_"“]*(?:let me know|please let me|i hope|hope this|feel free|if you|would you|do you want|is there anything|anything else|these minutes|this summary|that is all|` +
			`that's all|end of|以上|如果您|如果你|如需|希望|请告诉|請告訴|需要我|还需要|{remark})`,
	)
	// halfWay are words that no line ends with.
	halfWay = lazyregexp.New(
		`(?i)(?:^|\s)(?:the|a|an|and|or|to|of|in|on|at|by|for|from|with|that|which|because|but|is|are|was|were|as|into)$`,
	)
)

// dropRemark leaves out a remark behind the last section: a paragraph of its own that
// says goodbye, or that follows lines of another kind.
func dropRemark(lines []string) []string {
	end := len(lines)
	for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || ruleLine().MatchString(lines[end-1])) {
		end--
	}
	begin := end
	for begin > 0 && strings.TrimSpace(lines[begin-1]) != "" {
		begin--
	}
	if begin == end || strings.TrimLeft(lines[begin], " \t") != lines[begin] || fenceLine().MatchString(lines[end-1]) {
		return lines[:end]
	}
	listed := func(ls []string) (yes bool) {
		for _, l := range ls {
			yes = yes || bulletLine().MatchString(strings.TrimSpace(l))
		}
		return yes
	}
	switch paragraph := lines[begin:end]; {
	case listed(paragraph): // a remark may follow without a blank line
		if last := paragraph[len(paragraph)-1]; remarkPattern().MatchString(last) {
			return lines[:end-1]
		}
	case begin > 0 && listed(lines[:begin]), remarkPattern().MatchString(paragraph[0]):
		return lines[:begin]
	}
	return lines[:end]
}

// dangles reports whether a line ends in the middle of a sentence.
func dangles(line string) bool {
	line = strings.TrimRight(line, " \t")
	runes := []rune(line)
	return len(runes) == 0 || strings.ContainsRune(",，、;；:：(（[【「“‘-–—/&=", runes[len(runes)-1]) ||
		halfWay().MatchString(line) ||
		strings.Count(line, "`")%2 == 1 || strings.Count(line, "**")%2 == 1 ||
		strings.Count(line, "(") > strings.Count(line, ")") || strings.Count(line, "（") > strings.Count(line, "）")
}

// languages are the names of what is told apart, for a complaint.
var languages = map[string]string{"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "ru": "Russian",
	"": "not Chinese, Japanese or Korean"}

// DetectSpoken returns the language of the person in a run of messages as far as the script shows
// it: that of [DetectLanguage], ru, or empty.
func DetectSpoken(run []scrollback.Message) string {
	if l := DetectLanguage(run); l != "" {
		return l
	}
	var n letterCount
	for i := range run {
		if m := &run[i]; m.Role == scrollback.RoleUser {
			n.add(m.Parts.Text())
		}
	}
	if 2*n.cyrillic > n.total() {
		return "ru"
	}
	return ""
}

// letterCount count what a text is written in: characters of Chinese, Japanese and Korean, and
// words of other scripts.
type letterCount struct{ han, kana, hangul, cyrillic, words float64 }

func (n *letterCount) total() float64 { return n.han + n.kana + n.hangul + n.cyrillic + n.words }

// fenced finds code in a text.
var fenced = lazyregexp.New("(?s)```.*?```")

// notProse finds in a line what has the same language in any text: code, quotations, names of
// files, identifiers.
var notProse = lazyregexp.New(
	"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|\\S*[/\\\\_=<>{}@.:][\\w/\\\\]\\S*|[A-Za-z]*\\d\\w*",
)

// Of a text, no more is read than says what it is written in, and no more of it at a time than
// notProse is quick with: for each match it may look for the end of a quotation up to the end.
const (
	readBytes  = 64 << 10
	pieceBytes = 512
)

func (n *letterCount) add(text string) {
	text = clip.HeadBytes(fenced().ReplaceAllString(clip.HeadBytes(text, 4*readBytes), " "), readBytes)
	for line := range strings.Lines(text) {
		for line != "" {
			piece := clip.HeadBytes(line, pieceBytes)
			if piece == "" {
				piece = line // which is no text
			}
			if at := strings.LastIndexAny(piece, " \t"); at > 0 && len(piece) < len(line) {
				piece = piece[:at]
			}
			n.addPiece(piece)
			line = line[len(piece):]
		}
	}
}

func (n *letterCount) addPiece(text string) {
	word := false
	for _, c := range notProse().ReplaceAllString(text, " ") {
		is := unicode.IsLetter(c)
		switch {
		case unicode.Is(unicode.Han, c):
			n.han += 1
			is = false
		case unicode.In(c, unicode.Hiragana, unicode.Katakana):
			n.kana += 1
			is = false
		case unicode.Is(unicode.Hangul, c):
			n.hangul += 1
			is = false
		case is && !word && unicode.Is(unicode.Cyrillic, c):
			n.cyrillic++
		case is && !word:
			n.words++
		}
		word = is
	}
}

// Shares of units below which, or above which, a text is in another language.
const (
	ownShare   = 0.15
	otherShare = 0.5
	leastUnits = 20 // less is not judged
)

// inLanguage reports whether a text may pass as one in a language.
func inLanguage(text, language string) bool {
	var n letterCount
	n.add(text)
	all := n.total()
	if all < leastUnits {
		return true
	}
	switch language {
	case "zh":
		return n.han >= ownShare*all && n.kana < ownShare*all
	case "ja":
		return n.kana >= ownShare*all/3
	case "ko":
		return n.hangul >= ownShare*all
	case "ru":
		return n.cyrillic >= ownShare*all
	}
	return n.han+n.kana+n.hangul < otherShare*all
}
