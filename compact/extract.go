package compact

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	short "github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/same"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of an extract.
const (
	maxLineRunes = 160
	maxExtract   = 64 << 10 // bytes of one message that are considered
	standingLead = 5        // places by which an instruction is ahead of its neighbours in a placeholder
	maxIdle      = 160      // bytes of a text that is nothing but a greeting
	rarestTerms  = 8        // of a sentence, by which it is ranked
	minTerms     = 3        // different terms that a sentence must have, unless it is an instruction
	shortTerms   = 9        // terms of an announcement by the assistant from which on it is considered
	workShare    = 0.4      // of a placeholder, for what tools did, where something was said too
)

// extractLine is one extracted sentence. Score ranks it among its neighbours; stands says that a person
// wants it kept.
type extractLine struct {
	window.Line
	score  float64
	stands bool
	key    string // what it shares with lines that say the same
}

var (
	// outcomes finds what was found out, decided or went wrong.
	outcomes = findByCues(`because|cause|found|turn|fix|fail|error|result|instead|means|chose|agreed|confirmed|missing|broke`+
		`|crash|decid|decis|switched|exception|undefined|not set|panic|cannot`+
		`|因为|原因|发现|结果|失败|错误|报错|修复|改为|改成|改用|结论|说明|确认|选择|决定|缺少|崩溃|超时`,
		lazyregexp.New(`(?i)\b(because|caused?|found|turn(s|ed) out|fix|fixed|failed|fails|failing|failure|errors?|result|instead|means|`+
			`chose|agreed|confirmed|missing|broken?|crash(es|ed)?|decided|decision|switched|exception|undefined|not set|panic|`+
			`panics|cannot)\b|因为|原因|发现|结果|失败|错误|报错|修复|改为|改成|改用|结论|说明|确认|选择|决定|缺少|崩溃|超时`))
	// preambles begin sentences that announce something, or offer it.
	preambles = findByCues(
		`let me|let's|i'll|i will|i am going|i'm going|i can|would you|do you|shall i|should i|here is|here are|here's|sure|certainly`+
			`|of course|great|feel free|if you|让我|我来|我会|我将|当然|需要我|要不要我|如果你|如果您|如需|下面是|以下是`,
		lazyregexp.New(`(?i)^\W*(let me|let's|i'll|i will|i am going to|i'm going to|i can|would you|do you want|shall i|should i|here (is|are)|here's|sure\b|certainly|of course|great\b|feel free|if you)`+
			`|^(让我|我来|我会|我将|当然|需要我|要不要我|如果你|如果您|如需|下面是|以下是)`),
	)
)

// courtesies are the words of greetings, thanks and assent; polite are those of Chinese,
// where words are not separated, the longer ones first.
var (
	courtesies = sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(`hi hello hey there good morning afternoon evening night day thanks thank you a lot so much very you're youre ` +
			`welcome ok okay sure great nice cool perfect awesome excellent wonderful lovely yes no problem yep yeah nope please bye goodbye see ` +
			`sounds got it i understood noted alright all right well done go on ahead continue that that's is was how are am i'm fine really happy ` +
			`glad to help helps hope this let me know if need have want any anything other more questions question else my pleasure and then ? the ` +
			`for your`) {
			out[w] = true
		}
		return out
	})
	polite = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer(pairWords(`如果有其他问题 如有其他问题 如果有问题 如有问题 随时告诉我 随时问我 随时联系我 请告诉我 ` +
			`希望这对你有帮助 希望对你有帮助 很高兴能帮到你 你好 您好 大家好 早上好 下午好 晚上好 早安 晚安 谢谢 感谢 多谢 辛苦 不客气 不用谢 没关系 没问题 好的 可以 行 ` +
			`嗯 哦 哈 收到 明白 知道 了解 当然 对的 是的 没错 不错 很好 太好 太棒 好 对 是 棒 厉害 再见 拜拜 继续 麻烦 请 您 你 我 了 吧 啊 呀 呢 哒 的 非常 真 太 都`)...)
	})
)

// pairWords lists words, each followed by a space that replaces it.
func pairWords(words string) (out []string) {
	for w := range strings.FieldsSeq(words) {
		out = append(out, w, " ")
	}
	return out
}

// hasFigures reports whether a text has what is hard to guess: numbers, codes, names with digits.
func hasFigures(text string) bool { return strings.ContainsAny(text, "0123456789") }

// isIdle reports whether a text is only a greeting, thanks or assent.
func isIdle(text string) bool {
	if len(text) > maxIdle || hasFigures(text) {
		return false
	}
	for w := range strings.FieldsSeq(same.NormalForm(polite().Replace(text))) {
		if !courtesies()[w] {
			return false
		}
	}
	return true
}

// judgements remember which sentences stay: in one fold, each is judged again and again, by several goroutines.
type judgements = remembered[spoken, judgement]

// spoken is a sentence and who says it.
type spoken struct {
	role scrollback.Role
	text string
}

// judgement is whether a sentence is a to-do, and whether it stays as an instruction or a trait.
type judgement struct{ todo, stays bool }

func (s spoken) judge() (is judgement) {
	is.todo, is.stays = kept.Stays(s.role, s.text)
	return is
}

// extractSentence is a candidate for an extract.
type extractSentence struct {
	extractLine
	terms   []string
	clauses []string
	whole   string
	fence   bool     // begins or ends a block of code
	silent  bool     // says too little to be a candidate
	todo    bool     // still to be done
	kept    bool     // an instruction of the person, or a to-do
	dull    bool     // announces, offers, or stands in a block of code
	figures bool     // has some
	outcome bool     // says what was found out
	runs    []uint64 // of runTerms terms, as they stand in it
}

// readSentences reads the sentences of a message, each by itself.
func readSentences(m *scrollback.Message, h *judgements) (out []extractSentence) {
	if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
		return nil
	}
	text := m.Parts.Text()
	text = text[:min(len(text), maxExtract)]
	for _, s := range kept.SplitSentences(strings.ToValidUTF8(text, "")) {
		one := extractSentence{extractLine: extractLine{Line: window.Line{Seq: m.Seq, By: string(m.Role), Count: 1,
			Text: clipLine(s)}}, whole: s,
			fence: strings.HasPrefix(s, "```")}
		if !one.fence {
			one.classify(h)
		}
		out = append(out, one)
	}
	return out
}

// classify finds out what a sentence is.
func (s *extractSentence) classify(h *judgements) {
	user := s.By == string(scrollback.RoleUser)
	said := terms.SplitTerms(s.whole)
	s.runs = hashRuns(said)
	s.terms = slices.Compact(slices.Sorted(slices.Values(said)))
	s.dull = preambles.FoundIn(s.whole)
	s.silent = s.dull && len(s.terms) < shortTerms && !user && !hasFigures(s.whole)
	if s.silent {
		return
	}
	whole := spoken{scrollback.Role(s.By), s.whole}
	is := h.find(whole, whole.judge)
	s.todo = is.todo
	s.kept = is.stays || s.todo
	if s.silent = kept.IsTicked(s.whole) || !s.kept && (len(s.terms) < minTerms || isIdle(s.whole)); s.silent {
		return
	}
	if s.silent = !s.kept && isMachineText(s.whole); s.silent {
		return
	}
	s.clauses = same.Clauses(s.whole)
	s.figures = hasFigures(s.Text) || hasIdentifier(s.Text)
	s.outcome = outcomes.FoundIn(s.Text)
}

// listCandidates lists the sentences of a run that say something, each once, as it was said
// last, and without to-dos that are done by its end.
func listCandidates(ms []scrollback.Message, h *judgements) []extractSentence {
	said := make([][]extractSentence, len(ms))
	runParallel(len(ms), func(i int) { said[i] = readSentences(&ms[i], h) })
	var all []extractSentence
	var todos kept.Todos
	at := map[string]int{}
	gone := map[int]bool{}
	for _, of := range said {
		fenced := false
		for _, one := range of {
			for _, open := range todos.Closed(scrollback.Role(one.By), one.whole) {
				gone[open] = true
			}
			if one.fence {
				fenced = !fenced
			}
			if one.fence || one.silent {
				continue
			}
			one.dull = one.dull || fenced
			if key := strings.Join(one.clauses, ""); key != "" {
				if before, ok := at[key]; ok {
					one.Count += all[before].Count
					gone[before] = true
				}
				at[key] = len(all)
			}
			if one.todo {
				todos.Add(one.whole, len(all))
			}
			all = append(all, one)
		}
	}
	out := all[:0:0]
	for i, s := range all {
		if !gone[i] {
			out = append(out, s)
		}
	}
	return out
}

// extractLines ranks the sentences of a run: standing instructions and to-dos, what was found, failed
// or decided, figures and rare words come first, and the person before the assistant; questions that
// were answered, what only announces something, and what many messages say in the same words come last.
func extractLines(ms []scrollback.Message, h *judgements) []extractLine {
	all := listCandidates(ms, h)
	holders := map[string]int{}
	answered := int64(0) // the last seq at which the assistant said something
	for _, s := range all {
		for _, t := range s.terms {
			holders[t]++
		}
		if s.By == string(scrollback.RoleAssistant) {
			answered = max(answered, s.Seq)
		}
	}
	shared := countRuns(all)
	out := make([]extractLine, len(all))
	for i, s := range all {
		rarity := make([]float64, len(s.terms))
		for k, t := range s.terms {
			rarity[k] = math.Log(float64(len(all)+1) / float64(holders[t]))
		}
		slices.Sort(rarity)
		rarity = rarity[max(0, len(rarity)-rarestTerms):] // or the longest sentences would always win
		for _, r := range rarity {
			s.score += r
		}
		s.score /= math.Sqrt(float64(len(rarity)) + 4)
		if s.kept {
			s.score += 3
		}
		if s.figures {
			s.score *= figuresWeight
		}
		if s.outcome {
			s.score *= outcomeWeight
		}
		if s.By == string(scrollback.RoleUser) {
			s.score *= 1.5
		}
		if !s.kept && (s.dull || isQuestion(s.Text) && (s.Seq < answered || s.By == string(scrollback.RoleAssistant))) {
			s.score *= 0.4
		}
		if !s.kept {
			s.score *= 1 - sharedWeight*shared.share(&s)
		}
		s.stands = s.kept
		if s.key = strings.Join(s.clauses, ""); s.Text != s.whole {
			s.key = same.Key(s.Text)
		}
		out[i] = s.extractLine
	}
	return lowerAlike(sortBest(out), func(score float64) float64 { return alikeWeight * score })
}

// isQuestion reports whether a text is a question.
func isQuestion(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// sortBest sorts lines, the best first.
func sortBest(lines []extractLine) []extractLine {
	slices.SortStableFunc(lines, func(a, b extractLine) int { return cmp.Compare(b.score, a.score) })
	return lines
}

func clipLine(s string) string { return short.ClipLine(s, maxLineRunes) }

// parseLines reads back the lines of a placeholder.
func parseLines(placeholder string) []extractLine {
	var out []extractLine
	for i, t := range strings.Split(placeholder, "\n") {
		l, ok := window.ParseLine(t)
		if !ok {
			continue
		}
		out = append(out, extractLine{Line: l, score: -float64(i), key: same.Key(l.Text)})
		if kept.IsInstruction(l.Text) || kept.IsTrait(l.Text) || kept.IsTodo(scrollback.Role(l.By), l.Text) {
			out[len(out)-1].score += standingLead
			out[len(out)-1].stands = true
		}
	}
	return sortBest(out)
}

// dropAlike drops lines that say what an earlier one says, and counts them there.
func dropAlike(lines []extractLine) (out []extractLine) {
	at := map[string]int{}
	for _, l := range lines {
		i, ok := at[l.key]
		if !ok || l.key == "" {
			at[l.key] = len(out)
			out = append(out, l)
			continue
		}
		out[i].Count = out[i].Count + l.Count
		out[i].Seq = max(out[i].Seq, l.Seq)
	}
	return out
}

// describeSegment writes a segment's summary and placeholder: as many of the best lines as the
// bounds allow, and what tools did. Lines that the summary above it carries do not count,
// as a window does not show them twice; they are kept for when the summary is gone.
func (j *foldJob) describeSegment(s *scrollback.Segment, lines []extractLine, done *summary.Work) {
	limit := j.Policy.maxPlaceholder(j.budgetTokens())
	kept := j.chooseLines(lines)
	words := window.FindWords(j.language(j.cut))
	room := limit - int64(j.Count(renderPlaceholder(s, words))) - 1
	if len(kept) > 0 {
		room = int64(workShare * float64(room))
	}
	tools := done.Line(room, j.Count)
	for {
		inOrder := slices.Clone(kept)
		slices.SortStableFunc(inOrder, func(a, b extractLine) int { return cmp.Compare(a.Seq, b.Seq) })
		var texts []string
		for _, l := range inOrder {
			texts = append(texts, l.String())
		}
		if tools != "" {
			texts = append(texts, tools)
		}
		s.Summary = strings.Join(texts, "\n")
		s.Placeholder = renderPlaceholder(s, words)
		s.TokensAfter = int64(j.Count(s.Placeholder))
		switch {
		case s.TokensAfter <= limit || len(texts) == 0:
			return
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			tools = ""
		}
	}
}

// chooseLines returns the best lines: as many as the policy allows, and behind them as many
// of those that the summary carries.
func (j *foldJob) chooseLines(lines []extractLine) []extractLine {
	carries := map[string]bool{}
	if j.summary != nil {
		for _, l := range parseCarried(j.summary.text, j.Memory) {
			carries[strings.Join(l.clauses, "")] = true
		}
	}
	var fresh, shown []extractLine
	for _, l := range lines {
		list := &fresh
		if carries[l.key] {
			list = &shown
		}
		if int64(len(*list)) < j.Policy.ExtractLines {
			*list = append(*list, l)
		}
	}
	return append(fresh, shown...)
}

// renderPlaceholder returns the text that stands for a segment: what it covers, the ref, and its
// summary.
func renderPlaceholder(s *scrollback.Segment, words *window.Words) string {
	day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }
	dates := day(s.From)
	if to := day(s.To); to != dates {
		dates += words.To + to
	}
	text := words.PlaceholderHead(s.FirstSeq, s.LastSeq, dates, scrollback.HistoryRef(s.ID))
	if s.Summary != "" {
		text += "\n" + marks.EscapeText(s.Summary)
	}
	return text
}
