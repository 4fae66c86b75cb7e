package kept

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/same"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Todos are the open to-dos of a conversation, read in order, each by its key: the words that name it.
// The zero value is ready to use.
type Todos struct {
	open  map[string]openTodo
	named map[string][]string // keys, by how what they name begins; some are not open any more

	touched map[string]bool // keys of which news had something, ever
	counted bool            // whether it has mattered how many are open
}

// openTodo is what a to-do names, a list for each of the things to do, and the places where it was said.
type openTodo struct {
	key   string
	parts [][]namedWord
	at    []int
}

// namedWord is a word that names something: a stem, or a character of Chinese.
type namedWord struct {
	text  string
	verb  bool   // tells what is done, rather than with what
	owner bool   // has 's
	lead  string // the word before it that names nothing; empty behind a name
	aside bool   // for whom, or of which of them
	to    bool   // to whom, in Chinese
	han   bool
}

// Add notes that a to-do is said at a place.
func (t *Todos) Add(text string, at int) { t.add(readTodo(text), at) }

func (t *Todos) add(one openTodo, at int) {
	if one.key == "" {
		return
	}
	if t.open == nil {
		t.open = map[string]openTodo{}
		t.named = map[string][]string{}
	}
	one.at = append(t.open[one.key].at, at)
	t.open[one.key] = one
	for _, part := range one.parts {
		for _, w := range part {
			begin := beginOf(w.text)
			if keys := t.named[begin]; len(keys) == 0 || keys[len(keys)-1] != one.key {
				t.named[begin] = append(keys, one.key)
			}
		}
	}
}

// readTodo reads what a to-do names.
func readTodo(text string) openTodo {
	one := openTodo{key: TodoKey(text)}
	if one.key == "" {
		return one
	}
	bare := todoFrame().ReplaceAllString(todoHead().ReplaceAllString(todoMarks().ReplaceAllString(text, " "), " "), " ")
	for _, part := range conjunctions().Split(bare, -1) {
		if names := namesOfTodo(part); len(names) > 0 {
			one.parts = append(one.parts, names)
		}
	}
	return one
}

// Closed returns the places of the to-dos that a message says are done, and forgets them.
func (t *Todos) Closed(role scrollback.Role, text string) (places []int) {
	if !t.mayClose(role) {
		return nil
	}
	return t.closedIn(role, readNews(text))
}

// mayClose reports whether anything is open that what somebody says may close.
func (t *Todos) mayClose(role scrollback.Role) bool {
	return len(t.open) > 0 && (role == scrollback.RoleUser || role == scrollback.RoleAssistant)
}

// isTouched reports whether what was found of others may depend on a to-do.
func (t *Todos) isTouched(key string) bool { return t.counted || t.touched[key] }

// forget forgets that a to-do was said at a place.
func (t *Todos) forget(key string, place int) {
	one := t.open[key]
	at := slices.DeleteFunc(slices.Clone(one.at), func(at int) bool { return at == place })
	switch {
	case len(at) > 0:
		one.at = at
		t.open[key] = one
	case len(one.at) > 0:
		delete(t.open, key)
	}
}

// countOpen counts the places of what is open.
func (t *Todos) countOpen() (n int) {
	for _, one := range t.open {
		n += len(one.at)
	}
	return n
}

// closedIn is Closed, of a message with some news.
func (t *Todos) closedIn(role scrollback.Role, news []newsSentence) (places []int) {
	for i := range news {
		for _, key := range t.closedBy(role, &news[i]) {
			places = append(places, t.open[key].at...)
			delete(t.open, key)
		}
	}
	return places
}

// newsSentence is a sentence that may say that something is done, and the one before it.
type newsSentence struct {
	text, before string
	ticked       []string // as tickedOf has it
	clauses      []newsClause
}

// newsClause is what a clause names that says that something is done.
type newsClause struct {
	names []namedWord
	index nameIndex // of them
}

func newNewsClause(text string) newsClause {
	names := namesIn(text)
	return newsClause{names, indexNames(names)}
}

// readNews lists the sentences of a message that may say that something is done.
func readNews(text string) (out []newsSentence) {
	before := ""
	for _, s := range SplitSentences(firstPart(text)) {
		if n := readNewsSentence(s, before); n.ticked != nil || len(n.clauses) > 0 {
			out = append(out, *n)
		}
		before = s
	}
	return out
}

func readNewsSentence(s, before string) *newsSentence {
	n := &newsSentence{text: s, before: before, ticked: tickedOf(s)}
	if n.ticked == nil {
		for _, clause := range newsIn(s, before) {
			n.clauses = append(n.clauses, newNewsClause(clause))
		}
	}
	return n
}

// Closes reports whether a message says that a to-do is done.
func Closes(role scrollback.Role, text, todo string) bool {
	var t Todos
	t.Add(todo, 0)
	return len(t.Closed(role, text)) > 0
}

// closedBy returns the keys of the to-dos that a sentence says are done: those that the rules find, unless the words of
// a person weigh against it.
func (t *Todos) closedBy(role scrollback.Role, n *newsSentence) []string {
	found := t.findClosed(role, n)
	if len(found) == 0 || role != scrollback.RoleUser || n.ticked != nil {
		return found
	}
	sc := scaleOf(n.text)
	if sc == nil {
		return found
	}
	return slices.DeleteFunc(found, func(key string) bool {
		p := t.open[key].pairWith(n.text)
		p.found = true
		return sc.weighPair(sc.weighWords(closing, p.words), p) < leastClosing
	})
}

// findClosed returns the keys of the to-dos that by the rules a sentence says are done. What was said before is what a
// sentence such as "Done." is about.
func (t *Todos) findClosed(role scrollback.Role, n *newsSentence) []string {
	if m := n.ticked; m != nil {
		if key := TodoKey(m[1] + m[2]); t.open[key].at != nil {
			return []string{key}
		}
		return nil
	}
	if len(n.clauses) == 0 {
		return nil
	}
	s := n.text
	best, most := t.closest(n.clauses, leastShare)
	if role == scrollback.RoleAssistant { // whose prose is full of what was, and of what there is
		best = slices.DeleteFunc(best, func(key string) bool {
			return most < leastReported || !told().MatchString(s) && !t.open[key].isDoneIn(s)
		})
	}
	if len(best) == 0 && role == scrollback.RoleUser && final().MatchString(s) {
		best, most = t.closest([]newsClause{newNewsClause(n.before + " " + s)}, faintShare)
	}
	if len(best) == 0 && struck().MatchString(s) && pointing().MatchString(s) {
		t.counted = true
		if len(t.open) > 1 {
			return nil
		}
		for key := range t.open { // "cross that out" can only be this one
			return []string{key}
		}
	}
	if len(best) > 1 && most < 1 { // it may be about any of them
		return nil
	}
	slices.Sort(best)
	return best
}

var (
	// todoFrame is how a to-do is put, apart from what is to be done.
	todoFrame = sift(lazyregexp.New(`(?i)\b(?:remind me(?: later| again)? to|don't (?:let me )?forget to|(?:i|we)(?:'ve)?(?: still)? (?:need|have|got|ought) to|` +
		`(?:i|we)(?: still)? must|note to self|(?:add|put)(?: this| it)? (?:to|on) (?:my|the|our) list|still to do|still open|left to do|outstanding)\b[:,]?|` +
		`\b(?:by|before|until|on|this|next)? ?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|noon|the weekend|weekend|next week|end of (?:the )?(?:day|week|month))\b|` +
		`提醒我|别让我忘了|別讓我忘了|别忘了|別忘了|记得|記得|我们?(?:还|還)(?:得|要|需要)|我們還(?:得|要|需要)|还没做的|還沒做的|` +
		`(?:[这這本下]?(?:个|個)?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]|[0-9一二三四五六七八九十]+月[0-9一二三四五六七八九十]*[日号號]?|[0-9一二三四五六七八九十]+[日号號]|今天|明天|今晚|明早|月底|年底|周末|週末|下班|睡前)(?:之?前|以前|上午|下午|晚上)?`))
	// todoHead is what says that a to-do follows, or went before.
	todoHead     = sift(lazyregexp.New(`(?i)^[^:：]{0,40}(?:to-?dos?|list|left to do|to do|action|open|outstanding|pending|remind|note|jot|记|記|待|做|清[单單])[^:：]{0,24}[:：—–]+|\((?:to-?do|to do|outstanding|open|pending)\)`))
	conjunctions = sift(lazyregexp.New(`(?i)\band\b|[和与與及、]`))
	// told finds that something was done; hedge what makes it something else: asked, planned, hoped, not, or
	// not all of it. Hedges of the whole sentence count in every clause.
	told = sift(lazyregexp.New(`(?i)\b(?:done|finished|completed|(?:is|are|now|all) complete|complete[.!]?$|sorted|handled|taken care of|out of the way|off (?:my|the|our|your) (?:list|plate|hands)|behind (?:me|us)|in the (?:post|mail)|all set|wrapped up|(?:(?:is|are|now|finally|all|already|it's|that's|they're) )+(?:in|on|up|out|away|back|gone|ready|over|closed|history|here|there|in place|green|clean)|check(?:ed)?!?$|cancel+ed|(?:works?|runs?) (?:again|now|fine)|since (?:last|this|yesterday)|'s (?:off|in|out|back|up|gone|booked|paid|sent|ready)|(?:has|have|'ve got|'s got|got) (?:his|her|its|their|my|the|our|your) .*\bback|no longer (?:exists?|there)|is history|knows? (?:about it|now)|no longer need(?:ed)?(?: to)?|live|merged|up and running)\b` +
		`|[了过過]|已|刚.*完|剛.*完|物[归歸]原主|到手|到位|齐了|齊了|(?:搞定|完成)(?:\s*$|[:：。！!])|完毕|完畢|办妥|辦妥|划掉|劃掉|勾掉|✓|✅`))
	struck = sift(lazyregexp.New(`(?i)\b(?:cross|tick|strike|check|scratch|knock|take|mark)(?:ed|s)?\b.*\b(?:off|done)\b|\bcross(?:ed)? (?:it|that|this|them) out\b|(?:可以|能)[划劃勾销銷关關]了?|\b(?:close|drop|remove)\b.*\bto-?do\b|划掉|劃掉|勾掉|销掉|銷掉|打勾|打钩|打勾`))
	hedge  = sift(lazyregexp.New(`(?i)\b(?:not|never|yet|still|almost|nearly|mostly|partially|half|bulk of|chunk of|one of|two of|three of|some|the rest|remaining|underway|so far|as far as|a start|stuck|minus|percent|%|pending|halfway|partly|part of|most of|some of|start(?:ed|ing)?|began|begun|working on|tr(?:y|ied|ying)(?: to)?|will|going to|gonna|plan(?:s|ning|ned)?|needs?|must|should|would|could|might|may|wants?|wanted|hop(?:e|ing)|soon|forgot|supposed|about to|in progress|waiting|please|let's|remains?|left to|failed|remind|promised|wish|draft(?:ed)?|tomorrow|close to|on it|on my way to|asked|expect(?:s|ed)?|attempt(?:ed)?|looked at|looking (?:into|for)|scheduled for|get .* \w+ed|due|\w+'ll|but|though|although|however|underway|postponed|pushed|delayed|reschedul\w+|voicemail|no answer|quote|outlin\w+|sketch\w*|research\w*|chas(?:ed|ing)|look(?:ed|ing) (?:into|up)|found out|first|second|another (?:one|matter|thing|time)|a different|other|instead|only|just the|well into|getting there|coming along|making progress|progress|minor|everything else|the last)\b|n't\b` +
		`|[没沒未别別]|不|快(?:要|[^递递件餐])|差不多|几乎|幾乎|一半|大半|大部分|一部分|到一|差|百分之|%|正在|[准準][备備]|打算|计划|計劃|明天|[^需重主只]要|将|將|等|争取|爭取|尽快|盡快|希望|可能|应该|應該|进行|進行|初稿|开始|開始|着手|著手|[一大了前后後半]部分|[前后後][一两兩二三]部分|即将|即將|马上|馬上|[该該]|请|請|需要|必须|必須|还|還|再|先|了一[^遍下次]|忘|想|下周|下週|他的|她的|改天|回头|推迟|推遲|延期|改到|另|别的|別的|找到|问了|問了|但|不过|其他|其它|第一|前半|草稿|收到|联系上`))
	// residue finds what is left of a thing, in whatever clause.
	residue  = sift(lazyregexp.New(`(?i)\b(?:still|yet|the rest|remain\w*|half|missing|not (?:all|everything|the)|but not|nearly|almost|left over|thought i|failed|fails|fail|blurred|wrong|broken|broke|rejected|bounced|declined|another matter|we'll have to|i'll have to|have to do|need to|needs to|needs \w+ing|for (?:next|later|tomorrow))\b|[还還都]?[没沒](?:有?[全做弄完好交付寄写寫买買回]|有$)|[还還][没沒]|(?:周|星期|礼拜|禮拜|下周|下週|明天|后天|後天|明早|今晚)[一二三四五六日天]?(?:上午|下午|晚上)?[再去]|剩|差|一半|还有|還有|只是`))
	supposed = sift(lazyregexp.New(`(?i)\b(?:if|once|when|whenever|until|till|unless|except|apart from|other than|but not|only|after|before|as soon as|assuming)\b|^等|如果|要是|除了|除|一旦|只剩|只有|之后再|以後再|的话|的話`))
	ended    = sift(lazyregexp.New(`(?i)\bno longer (?:need|necessary)|\b(?:don't|needn't|no) (?:have to|need to|need)\b.*\b(?:any ?more|after all|now)\b|取消了|不用.*了|不需要.*了|不必.*了|作罢|作罷`))
)

// closest returns the keys of the to-dos that the names of some clauses have most of, and how much of them. Only those
// with a name that begins like one of these have anything of them.
func (t *Todos) closest(clauses []newsClause, least float64) (best []string, most float64) {
	for i := range clauses {
		said := &clauses[i]
		tried := map[string]bool{}
		for begin := range said.index {
			for _, key := range t.named[begin] {
				one, isOpen := t.open[key]
				if !isOpen || tried[key] {
					continue
				}
				tried[key] = true
				share := one.shareNamed(said, least)
				if share > 0 {
					t.touch(key)
				}
				switch {
				case share > most:
					most = share
					best = []string{key}
				case share == most && share > 0 && !slices.Contains(best, key):
					best = append(best, key)
				}
			}
		}
	}
	return best, most
}

func (t *Todos) touch(key string) {
	if t.touched == nil {
		t.touched = map[string]bool{}
	}
	t.touched[key] = true
}

// final finds that a matter is over, whatever it is.
var final = sift(lazyregexp.New(`(?i)\b(?:that's|that one's|it's|all's|so that|which is|that part)\b[^,.]*\b(?:sorted|handled|settled|behind (?:me|us)|off (?:my|the|our) (?:list|plate|hands)|out of the way|done|all set|taken care of)\b|[这那這][^,，]{0,3}(?:搞定|办妥|辦妥|可以划|可以劃)`))

// pointing finds that what is struck off is what was spoken of.
var pointing = sift(lazyregexp.New(`(?i)\b(?:that|this|it)(?: one)? (?:off|out|as done)\b|[那这這]([条條个個项項件])?`))

// newsIn returns the clauses of a sentence that say that something was done.
func newsIn(s, before string) []string {
	if isQuestion(s) || !mayBeNews(s) {
		return nil
	}
	v := makeSieve(s)
	if supposed().isIn(s, v) {
		return nil
	}
	over := struck().isIn(s, v) || ended().isIn(s, v)
	if over && !isNegated(s) {
		return append([]string{s}, cutClauses(s)...)
	}
	if residue().isIn(s, v) {
		return nil
	}
	var out []string
	clauses := cutClauses(strings.TrimRight(s, " .!?。！"))
	for i, clause := range clauses {
		tells := told().MatchString(clause) || hasPast(clause)
		if tells && len(clauses) > 1 && (i == len(clauses)-1 || len(namesIn(clause)) > 0) {
			clauses = append(clauses, s)
			break
		}
	}
	for _, clause := range clauses {
		if (told().MatchString(clause) || hasPast(clause)) && !hedge().MatchString(clause) && !slices.Contains(out, clause) {
			out = append(out, clause)
		}
	}
	if len(out) > 0 && len(namesIn(out[0])) == 0 && len(before) <= maxSentence &&
		(isQuestion(before) || !told().MatchString(before)) {
		out = append(out, strings.TrimRight(before, "?？!！.。"))
	}
	return out
}

// isNegated reports whether a sentence denies that something may be struck off.
func isNegated(s string) bool {
	return lateNegation().MatchString(s)
}

var lateNegation = sift(lazyregexp.New(`(?i)\b(?:not|can't|don't|yet|until|once|when|if|before|after|tomorrow|will|almost)\b[^,]*\b(?:off|done)\b|(?:还|還|先|暂时|暫時)?(?:不能|别|別|没|沒)[^,，]*[划劃勾销銷]|等.*[划劃勾]`))

// mayBeNews rules out most sentences without an expression.
func mayBeNews(s string) bool {
	if strings.ContainsAny(s, "了过過已完好搞妥掉划劃归歸齐齊✓✅") {
		return true
	}
	for w := range strings.FieldsSeq(s) {
		w = strings.ToLower(strings.Trim(w, "-*,.:;!()\"'"))
		if strings.HasSuffix(w, "ed") || pasts()[w] != "" || newsWords()[w] {
			return true
		}
	}
	return false
}

var newsWords = sync.OnceValue(func() map[string]bool {
	return wordSet("done complete set live off behind longer way post mail more all need in on up out away back gone ready over closed history here there place check green clean booked paid sent had works runs since again")
})

// hasPast reports whether a clause has a verb in the past tense or a participle.
func hasPast(s string) bool {
	for w := range strings.FieldsSeq(s) {
		w = strings.ToLower(strings.Trim(w, "-*,.:;!()\"'"))
		if len(w) > 4 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") || pasts()[w] != "" {
			return true
		}
	}
	return false
}

// cutClauses cuts a sentence where another thing may begin.
func cutClauses(s string) []string {
	return clauseEnd().Split(s, -1)
}

var clauseEnd = sift(lazyregexp.New(`(?i)[,;，；、。!！]| [-–—] |\b(?:and|so|but|because|which|which means|next is)\b`))

// unnamed are words that name nothing in the news that something is done.
var unnamed = sync.OnceValue(func() map[string]bool {
	return wordSet(`the a an is are was were has have had been be being now i we you he she they my our your his its their this that these
	those just already all i've we've that's it's it i'm please successfully also finally so then and of to for in on at with from
	about by into out up off over as done finished completed complete finish sorted handled taken care way list plate hands cross tick strike
	check crossed ticked struck checked mark marked can could yes ok okay good news great actually at last today yesterday morning
	afternoon evening night ago hour earlier minutes week last me us one thing task item todo do did longer need needed any more
	anymore after everything went gone there here too well let know again round around got myself since later everywhere yay
	cancelled canceled still must don't forget remind needs note self add put let's monday tuesday wednesday thursday friday saturday
	sunday noon weekend both some through along across`)
})

// emptyHan are characters that name nothing there.
const emptyHan = "了啦的我们們把都吧请請刚剛过過已经經完好掉妥毕畢成搞定给給就也那这這个個件事条條项項可以划劃勾待办辦啊呢哦嗯呀嘛你您他她它咱在上下去来來到是终終于於总總算才今昨天早晚午前后後今日里裡得地着著被让讓做弄处處理束全部顺順利一有现現帮幫从從对對向为為"

// hanVerbs are characters of verbs that may be told in other words.
const hanVerbs = "交缴繳付打写寫寄发發送买買订訂约約预預修改整理备備份洗拿取领領借还還续續查看填报報搬换換装裝删刪更新联聯系繫通知打扫掃清问問回复覆办辦签簽存提转轉充订定做准準备安排"

// namesIn lists the words of a text that name something.
func namesIn(text string) []namedWord { return listNames(text, false) }

// namesOfTodo lists those of a to-do, of which the first word is most often what is to be done.
func namesOfTodo(text string) []namedWord { return listNames(text, true) }

func listNames(text string, isTodo bool) []namedWord {
	var out []namedWord
	recipient := false
	lead := "^"
	first := true
	add := func(w namedWord) {
		w.lead = lead
		lead = ""
		first = false
		out = append(out, w)
	}
	for w := range strings.FieldsSeq(same.NormalForm(strings.ReplaceAll(foldText(text, true), "-", " "))) {
		r := []rune(w)
		if isHan(r[0]) {
			if strings.ContainsRune(emptyHan, r[0]) {
				lead = w
				recipient = recipient || strings.ContainsRune("给給跟向对對", r[0])
				if r[0] == '的' {
					for i := len(out) - 1; i >= 0 && out[i].han && !out[i].verb; i-- {
						out[i].aside = true
					}
				}
				continue
			}
			verb := strings.ContainsRune(hanVerbs, r[0])
			recipient = recipient && !verb
			add(namedWord{text: w, verb: verb, aside: recipient, to: recipient, han: true})
			continue
		}
		w, owner := strings.CutSuffix(w, "'s")
		if unnamed()[w] {
			first = false
			if !articles[w] || lead == "" {
				lead = w
			}
			continue
		}
		verb := isTodo && first && unicode.IsLetter(r[0]) || strings.HasSuffix(w, "ed") && len(w) > 4
		if base := pasts()[w]; base != "" {
			verb = true
			w = base
		}
		if unicode.IsLetter(r[0]) {
			if ts := terms.SplitTerms(w); len(ts) == 1 {
				w = ts[0]
			}
		}
		add(namedWord{text: w, verb: verb, owner: owner && !verb})
		last := &out[len(out)-1]
		last.aside = narrowing[last.lead]
	}
	return out
}

var articles = wordSet("the a an my our this that his her their its your")

// isDoneIn reports whether a sentence says of what is to be done that it was: with its own verb in the past.
func (t openTodo) isDoneIn(s string) bool {
	for w := range strings.FieldsSeq(s) {
		w = strings.ToLower(strings.Trim(w, "-*,.:;!()\"'`"))
		base := pasts()[w]
		if base == "" && len(w) > 4 && strings.HasSuffix(w, "ed") {
			base = w
		}
		if base == "" {
			continue
		}
		for _, part := range t.parts {
			if slices.ContainsFunc(part, func(n namedWord) bool { return n.verb && isAkin(n.text, base) }) {
				return true
			}
		}
	}
	return false
}

// shareNamed returns how much of a to-do the names of some news have, from 0 (it is about something else) to 1.
func (t openTodo) shareNamed(said *newsClause, bound float64) float64 {
	least := 1.0
	for _, part := range t.parts {
		least = min(least, sharePart(part, said, bound))
	}
	if len(t.parts) == 0 {
		return 0
	}
	return least
}

// sharePart compares what is to be done with what was: they are about different things if beside a word that
// both have stands another one in each (the water bill, the electricity bill; to Ada, to Bob).
func sharePart(part []namedWord, news *newsClause, least float64) float64 {
	if !hasShare(part, news.index, least) { // as of most
		return 0
	}
	said := news.names
	if least == leastShare && (isBesides(part, said) || lacksMain(part, said)) || toOthers(part, said) {
		return 0
	}
	var all, shared float64
	names := 0
	hans := 0
	others := 0     // what narrows down one of its names: the plants in the yard
	things := false // and not only verbs
	conflict := false
	for i, w := range part {
		weight := weightOf(part, i)
		all += weight
		at := indexOf(said, w.text)
		if at < 0 {
			continue
		}
		shared += weight
		if differs(part, said, i-1, at-1) && w.lead == "" && said[at].lead == "" {
			return 0
		}
		if at > 0 && said[at-1].owner && indexOf(part, said[at-1].text) < 0 && lacksName(part[i+1:], said) { // January's
			return 0
		}
		if differs(part, said, i+1, at+1) && part[i+1].lead == said[at+1].lead && !articles[part[i+1].lead] {
			if !w.han {
				return 0
			}
			conflict = true
		}
		switch {
		case w.han:
			hans++
			things = things || !w.verb
		case w.verb && said[at].verb:
		case said[at].owner && at+1 < len(said) && indexOf(part, said[at+1].text) < 0: // Bob's mother
			return 0
		default:
			names++
			if next := at + 1; next < len(said) && narrowing[said[next].lead] && indexOf(part, said[next].text) < 0 {
				others++
			}
		}
	}
	if names == 0 && (hans < min(2, len(part)) || !things) || shared < all*least ||
		conflict && shared < all*0.6 {
		return 0
	}
	if shared == all && others > 0 {
		return 0
	}
	return shared / all
}

// hasShare reports whether the words of what is to be done that are among some names weigh enough.
func hasShare(part []namedWord, among nameIndex, least float64) bool {
	var all, shared float64
	for i, w := range part {
		weight := weightOf(part, i)
		all += weight
		if among.has(w.text) {
			shared += weight
		}
	}
	return shared >= all*least
}

// weightOf returns how much a word tells of a to-do: less if it only says what is done, or for whom, or of what
// kind the thing is that the next word names.
func weightOf(part []namedWord, i int) float64 {
	w := part[i]
	next := i + 1
	switch {
	case w.verb:
		return 0.4
	case w.han && w.aside:
		return 0.3
	case !w.han && next < len(part) && part[next].lead == "" && !part[next].verb:
		return 0.4
	case w.aside && i > 1:
		return 0.5
	}
	return 1
}

// isBesides reports whether what was done was done to something else, of which a name of the to-do only says what
// it is for: the paint for the gate.
func isBesides(part, said []namedWord) bool {
	other := false
	found := false
	for _, w := range said {
		if w.han || w.verb || amounts[w.text] {
			continue
		}
		known := indexOf(part, w.text) >= 0
		if known && !w.aside {
			return false
		}
		other = other || !known && !found
		found = found || known
	}
	return other && found
}

// toOthers reports whether something was given to others than those to whom it is to be given.
func toOthers(part, said []namedWord) bool {
	asked := false
	told := false
	for _, w := range part {
		if w.to && indexOf(said, w.text) >= 0 {
			return false
		}
		asked = asked || w.to
	}
	for _, w := range said {
		told = told || w.to
	}
	return asked && told
}

// lacksMain reports whether nothing of what a to-do is about was named, but only for whom or with what; or, in Chinese,
// whether something else was done with it.
func lacksMain(part, said []namedWord) bool {
	main := 0
	known := 0
	asked := 0
	told := 0
	for _, w := range part {
		switch {
		case w.han && w.verb:
			asked++
			if indexOf(said, w.text) >= 0 {
				return false
			}
		case w.han || w.verb || prepositions[w.lead]:
		default:
			main++
			if indexOf(said, w.text) >= 0 {
				known++
			}
		}
	}
	longer := false // what has the name of a thing in its own: the dentist's, where the dentist is to be rung
	for i, w := range said {
		if w.han && w.verb {
			told++
		}
		longer = longer || i > 0 && w.han && !w.verb && w.lead == "" && indexOf(part, w.text) < 0 &&
			!said[i-1].verb && indexOf(part, said[i-1].text) >= 0
	}
	return main > 0 && known == 0 || asked > 0 && told > 0 && longer
}

var prepositions = wordSet("in of for to with from on at about by into before after")

// lacksName reports whether one of some words is a name that was not said.
func lacksName(words, said []namedWord) bool {
	return slices.ContainsFunc(words, func(w namedWord) bool { return !w.verb && indexOf(said, w.text) < 0 })
}

// leastShare is the share of the words of a to-do that the news of it has, faintShare where it is said to be over.
const (
	leastShare    = 0.23
	leastReported = 0.5 // where an assistant says it
	faintShare    = 0.1
)

func indexOf(in []namedWord, w string) int {
	return slices.IndexFunc(in, func(n namedWord) bool { return isAkin(n.text, w) })
}

// isAkin reports whether two words are forms of one: pay and payment, inspect and inspection.
func isAkin(a, b string) bool {
	if a == b {
		return true
	}
	shorter := min(len(a), len(b))
	if shorter < 4 || a[0] >= utf8.RuneSelf || b[0] >= utf8.RuneSelf || strings.ContainsAny(a+b, "0123456789./_") {
		return false
	}
	n := 0
	for n < shorter && a[n] == b[n] {
		n++
	}
	return n >= max(5, shorter-2) || n == 4 && shorter == 4 && endings[a[n:]+b[n:]]
}

// endings are what may follow a word of four letters: call and calling are akin, pass and passport are not.
var endings = wordSet("s ed ing er ment z")

// differs reports whether what stands at two places are different names, each of which the other side lacks.
func differs(part, said []namedWord, i, at int) bool {
	return i >= 0 && i < len(part) && at >= 0 && at < len(said) && !part[i].verb && !said[at].verb &&
		indexOf(said, part[i].text) < 0 && indexOf(part, said[at].text) < 0
}

// amounts are words that count things.
var amounts = wordSet("two three four five six seven eight nine ten dozen zero all both every")

var narrowing = wordSet("in of for")
