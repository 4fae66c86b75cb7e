package kept

import (
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/same"
)

var (
	// change says that something is different now; loosely, that something may or need not be, which takes back
	// only what says the opposite.
	changed = sift(lazyregexp.New(`(?i)\b(?:actually|instead|after all|on second thoughts?|(?:back|go back|revert(?:ed)?|return|switch(?:ed)?|chang(?:e|ed|ing)|mov(?:e|ed|ing)) (?:\w+ ){0,3}(?:to|from)|back (?:in|on)|cleared up|cured|grew out of|(?:is|are) an option|scratch|correction|update|changed (?:my|our) minds?|change of (?:plan|heart|mind)|forget|ignore|never ?mind|cancel\w*|disregard|take (?:that|it) back|undo|lift(?:ed|ing)?|dropping the|overrul\w+|no longer appl\w+|reversed?|withdraw\w*|relax\w*|scrap|called off|is off|rather than|make (?:it|that)|turns out|new rule|strike)\b` +
		`|取消|作废|作廢|收回|算了|不作数|不作數|更正|更新|改成|改为|改為|改用|改回|改到|换成|換成|换回|換回|恢复|恢復|反悔|改主意|撤销|撤銷|别管|別管|不算|推翻|解除|放宽|放寬|说错|說錯|变了|變了|改了|还是[^不没]|還是[^不沒]|不对，|不是.*而是|(?:过敏|過敏|病|伤|傷|症).{0,4}好了|痊愈|康复|康復|可以停|限制取消`))
	loosening = sift(lazyregexp.New(`(?i)\b(?:again|now|no longer|any ?more|anymore|these days|nowadays|okay|ok|fine|allowed|welcome|feel free|(?:you|we) (?:can|may)|start(?:ed)?|stop(?:ped)?|quit|gave up|don't (?:need|have)|no need|not necessary|needn't|became|outgr\w+|used to|at last|since then|happy to|happily|all right|alright|drop|enough of|done with|over|no more|back|lately|learn(?:ed|t) to|c[ao]me (?:a)?round|warmed|got over|gone|permitted|by all means|go ahead|sick of|tired of|as of|changed|different now|went off|gone off|from (?:now|here) on|going forward)\b` +
		`|现在|現在|了(?:$|[,，。！!；;～~])|可以|又|重新|不用|不必|不再|开始|開始|还是|還是|没事|沒事|无妨|無妨|没关系|沒關係|随意|隨意|无所谓|無所謂|解禁|都行|没必要|沒必要|如今|最近|以后|以後|从今|從今|接下来|接下來`))
	// adding says that something holds beside what was said before, and repeating that it was said before.
	adding = sift(lazyregexp.New(`(?i)\b(?:also|as well|either|still|even|both|in addition|besides|on top of)\b|\btoo(?:[.,;!?]|$)|^(?:once )?again[,:]|\b(?:as i said|reminder|remember|once more)\b` +
		`|也(?:[^可行没沒]|$)|仍然|依然|依旧|另外|并且|此外|同样|同樣|再说一遍|再說一遍|重申|再强调|再強調|同时|同時|继续|繼續|还是不|還是不|还是没|一样`))
	// momentary speaks of one thing or one time.
	momentary = sift(lazyregexp.New(`(?i)\b(?:this (?:time|one|once)|just (?:this|for)|for (?:this|today|now|once)|translate|that one)\b|这次|這次|这一次|这封|這封|这篇|今天|暂时|翻译成|翻譯成`))
	denial    = sift(lazyregexp.New(`(?i)\b(?:not|never|no|none|nothing|without|avoid|skip|stop\w*|drop|refuse|omit|leave out|forget|hate|dislike|cannot|quit|gave up|off)\b|n't\b|[不别別没沒无無勿禁戒停]|避免|省略|拒绝|拒絕|讨厌|討厭`))
)

// slots are what can have one value at a time, each with its values: a later one takes the place of an earlier
// one, whatever else they say.
var slots = [][]func() *expression{
	{
		sift(lazyregexp.New(`(?i)\benglish\b|英文|英语|英語`)), sift(lazyregexp.New(`(?i)\b(?:chinese|mandarin)\b|中文|汉语|漢語|普通话|普通話|国语|國語`)),
		sift(lazyregexp.New(`(?i)\bgerman\b|德文|德语|德語`)), sift(lazyregexp.New(`(?i)\bfrench\b|法文|法语|法語`)), sift(lazyregexp.New(`(?i)\bspanish\b|西班牙[文语語]`)),
		sift(lazyregexp.New(`(?i)\bjapanese\b|日文|日语|日語`)), sift(lazyregexp.New(`(?i)\bkorean\b|韩[文语]|韓[文語]`)), sift(lazyregexp.New(`(?i)\bportuguese\b|葡萄牙[文语語]|葡[文语語]`)),
		sift(lazyregexp.New(`(?i)\bitalian\b|意大利[文语語]`)), sift(lazyregexp.New(`(?i)\bdutch\b|荷兰[文语]`)), sift(lazyregexp.New(`(?i)\brussian\b|俄[文语語]`)),
	},
	{
		sift(lazyregexp.New(`(?i)\b(?:short|shorter|brief|concise|terse|one sentence|\w+ (?:sentences|words|lines))\b|简短|簡短|简洁|簡潔|精简|[两三一百]句|字以内|字以內|[百十千]字`)),
		sift(lazyregexp.New(`(?i)\b(?:long|longer|detailed|detail|full|thorough|in depth|at length|elaborate)\b|详细|詳細|详尽|展开|展開|[写寫讲講]长|长一点|長一點|细一点`)),
	},
	{sift(lazyregexp.New(`(?i)\b(?:metric|celsius|kilomet\w+)\b|公制|摄氏|攝氏|公里`)), sift(lazyregexp.New(`(?i)\b(?:imperial|fahrenheit|miles|cups|ounces|pounds|inches)\b|英制|华氏|華氏|英里`))},
	{sift(lazyregexp.New(`(?i)\b(?:formal|formally|polite)\b|正式|敬语|敬語|您`)), sift(lazyregexp.New(`(?i)\b(?:informal|casual|casually|first name|relaxed)\b|随意|隨意|轻松|輕鬆|口语|口語`))},
	{sift(lazyregexp.New(`(?i)\bbullets?\b|列表|条列|條列|要点|要點`)), sift(lazyregexp.New(`(?i)\b(?:prose|paragraphs?|running text)\b|段落|散文`)), sift(lazyregexp.New(`(?i)\btables?\b|表格`))},
	{sift(lazyregexp.New(`简体|簡體`)), sift(lazyregexp.New(`繁体|繁體`))},
	{sift(lazyregexp.New(`(?i)\b(?:nights|night shifts?)\b|夜班|晚班`)), sift(lazyregexp.New(`(?i)\b(?:days|day shifts?)\b|白班|日班|早班`))},
	{
		sift(lazyregexp.New(`(?i)\bhints?\b|提示`)),
		sift(lazyregexp.New(`(?i)\b(?:full|whole|complete|straight) (?:solutions?|answers?)\b|(?:直接|完整|全部).{0,6}答案`)),
	},
	{
		sift(lazyregexp.New(`(?i)\b(?:vegetarian|vegan|plant[- ]based|meat[- ]free)\b|吃素|素食|全素|吃斋|吃齋`)),
		sift(lazyregexp.New(`(?i)\b(?:eat|eating|ate) (?:meat|fish|chicken|beef|seafood|everything)\b|吃.{0,3}(?:肉|海鲜|海鮮|鱼|魚|荤|葷)`)),
	},
	{sift(lazyregexp.New(`(?i)\btabs\b`)), sift(lazyregexp.New(`(?i)\bspaces\b`))},
}

// moves are what is settled by a date, a sum or a name, and how another one is told: a later one takes its place.
var moves = []struct{ was, now func() *expression }{
	{
		sift(lazyregexp.New(`(?i)\b(?:deadline|due)\b|截止|截稿|期限`)),
		sift(lazyregexp.New(`(?i)\b(?:pushed|extended|postponed|brought forward|moved|new deadline|(?:have|got) until)\b.*\d|` +
			`(?:延|推迟|推遲|改|提前|宽限|寬限)[到至].*[\d一二三四五六七八九十月号號]`)),
	},
	{
		sift(lazyregexp.New(`(?i)\b(?:budget|limit|at most|maximum|tops out)\b.*\d|(?:预算|預算|最多|上限|不超过|不超過).*[\d一二三四五六七八九十两兩百千万萬]`)),
		sift(lazyregexp.New(`(?i)\b(?:go up to|raise[d]? (?:it )?to|stretch to|went up to|cut to|down to|can spend|new budget)\b.*\d|` +
			`(?:涨|漲|提|加|降|放宽|放寬|减|減)[到至].*[\d一二三四五六七八九十两兩百千万萬]`)),
	},
	{
		sift(lazyregexp.New(`(?i)\bcall me \w|叫我`)),
		sift(lazyregexp.New(`(?i)\b(?:just|please|simply|now|from now on|actually|instead)\b.*\bcall me \w|\bcall me \w+ (?:instead|from now on)|(?:还是|還是|直接|就|改)叫我`)),
	},
}

// noLonger says nothing of how long something is.
var noLonger = lazyregexp.New(`(?i)\b(?:no|any|much|how) longer\b`)

// ListEnds lists the sentences of a message that may end something which was said before: news that
// something is done, or a change of mind.
func ListEnds(role scrollback.Role, text string) (out []string) {
	if role != scrollback.RoleUser && role != scrollback.RoleAssistant {
		return nil
	}
	before := ""
	for _, s := range SplitSentences(firstPart(text)) {
		news := tickedOf(s) != nil || len(newsIn(s, before)) > 0
		if len(s) <= maxSentence && (news || role == scrollback.RoleUser && mayWithdraw(s)) {
			out = append(out, s)
		}
		before = s
	}
	return out
}

// Replaces reports whether a later sentence of a person takes back an earlier one, or puts something else in
// its place. Where it may only add to it, both stand.
func Replaces(later, earlier string) bool {
	return makeStatement(later).replaces(makeStatement(earlier))
}

// statement is what of a sentence is compared with others.
type statement struct {
	strong, loose bool // it says that something is different now, or may be
	aside         bool // it only adds, asks, or speaks of one time
	values        []int
	denies        bool
	was, now      [3]bool // of moves
	names         []namedWord
	index         nameIndex // of names
	named, hans   int       // names that are not common, and those of one Chinese character
	key           string
	asks          bool
	text          string
	asLater       *laterStatement // once it is compared with earlier ones
}

// laterStatement is what is needed besides of a statement that may replace earlier ones.
type laterStatement struct {
	words   []string
	scale   *scale
	weighed *wordEvidence // of words, once a pair is weighed
}

func (s *statement) readAsLater() *laterStatement {
	if s.asLater == nil {
		s.asLater = &laterStatement{words: wordsOf(s.text), scale: scaleOf(s.text)}
	}
	return s.asLater
}

func makeStatement(s string) *statement {
	v := makeSieve(s)
	out := &statement{names: namesIn(s), key: same.Key(s), denies: countDenials(s, v)%2 == 1,
		asks: isQuestion(s), text: s}
	out.index = indexNames(out.names)
	out.hans = countHan(out.names)
	for _, w := range out.names {
		if !common()[w.text] {
			out.named++
		}
	}
	out.strong, out.loose, out.aside = readChange(s, v)
	for i, m := range moves {
		out.was[i] = m.was().isIn(s, v)
		out.now[i] = m.now().isIn(s, v)
	}
	plain := noLonger().ReplaceAllString(s, " ")
	for _, slot := range slots {
		out.values = append(out.values, valueOf(slot, plain, v))
	}
	return out
}

// mayWithdraw reports whether a sentence may take back what was said before.
func mayWithdraw(s string) bool {
	if isQuestion(s) { // which is aside
		return false
	}
	_, loose, aside := readChange(s, makeSieve(s))
	return loose && !aside
}

// readChange reports whether a sentence says that something is different now, or may be, and whether it only adds,
// asks, or speaks of one time.
func readChange(s string, v *sieve) (strong, loose, aside bool) {
	strong = changed().isIn(s, v)
	for _, m := range moves {
		strong = strong || m.now().isIn(s, v)
	}
	loose = strong || loosening().isIn(s, v)
	return strong, loose, loose && (isQuestion(s) || adding().isIn(s, v) || momentary().isIn(s, v))
}

// mayWithdraw reports whether the sentence may take back what was said before.
func (s *statement) mayWithdraw() bool { return s.loose && !s.aside }

// hasValue reports whether it has what can have one value at a time.
func (s *statement) hasValue() bool {
	return slices.ContainsFunc(s.values, func(v int) bool { return v >= 0 }) || slices.Contains(s.was[:], true)
}

// replaces reports whether the sentence replaces an earlier one.
func (s *statement) replaces(earlier *statement) bool {
	return s.replacesSharing(earlier, countShared(s, earlier))
}

// replacesSharing is replaces, where it is known how many names of the earlier sentence that are not common this one
// has. It needs a name that both have, or a value that the earlier one has.
func (s *statement) replacesSharing(earlier *statement, shared int) bool {
	moves := s.changesValue(earlier)
	later := s.readAsLater()
	if moves && len(later.words) <= fewWords {
		return true
	}
	named := earlier.named
	found := moves || s.found(earlier, shared)
	if later.scale == nil || s.key == earlier.key || s.asks {
		return found
	}
	if len(later.words) > fewWords && 2*shared < named { // a story names much by the way
		return false
	}
	if !found && (shared == 0 || 2*shared < named) {
		return false
	}
	if later.weighed == nil {
		later.weighed = later.scale.weighWords(change, later.words)
	}
	return later.scale.weighPair(later.weighed, pairing{later.words, shared, named, found}) > leastChange
}

// nameIndex has names by how they begin, as all forms of one word do.
type nameIndex map[string][]string

// akinBytes is how many bytes akin words have in common at least, unless they are equal.
const akinBytes = 4

// beginOf returns how a name begins, as all do that are akin to it.
func beginOf(name string) string { return name[:min(akinBytes, len(name))] }

func indexNames(names []namedWord) nameIndex {
	out := make(nameIndex, len(names))
	for _, n := range names {
		begin := beginOf(n.text)
		out[begin] = append(out[begin], n.text)
	}
	return out
}

// has reports whether a form of a word is among the names.
func (x nameIndex) has(w string) bool {
	return slices.ContainsFunc(x[beginOf(w)], func(n string) bool { return isAkin(n, w) })
}

// fewWords, or characters, is how long a sentence is that speaks of one thing.
const fewWords = 20

// changesValue reports whether a sentence names another value of what can have one at a time.
func (s *statement) changesValue(earlier *statement) bool {
	if !s.loose || s.aside || s.key == earlier.key {
		return false
	}
	for i, now := range s.values {
		if was := earlier.values[i]; now >= 0 && was >= 0 && (now != was || s.denies && !earlier.denies) {
			return true
		}
	}
	for i := range moves {
		if s.now[i] && earlier.was[i] {
			return true
		}
	}
	return false
}

// found is replaces by the rules alone, where no value is changed.
func (s *statement) found(earlier *statement, shared int) bool {
	return s.loose && !s.aside && s.key != earlier.key && (s.strong || s.denies != earlier.denies) &&
		(3*shared >= earlier.named || shared > 1 && earlier.hans == 0) && sharesNames(s, earlier)
}

// valueOf returns the value of a slot that a sentence names first, or -1.
func valueOf(slot []func() *expression, s string, v *sieve) int {
	first := -1
	at := len(s)
	for i, value := range slot {
		if !value().mayBeIn(v) {
			continue
		}
		if loc := value().FindStringIndex(s); loc != nil && loc[0] < at {
			first = i
			at = loc[0]
		}
	}
	return first
}

// countDenials counts what turns the meaning of a sentence.
func countDenials(s string, v *sieve) int {
	n := 0
	if denial().mayBeIn(v) {
		n = len(denial().FindAllString(s, -1))
	}
	if affirmed().mayBeIn(v) {
		n -= len(affirmed().FindAllString(s, -1))
	}
	return n
}

// affirmed finds denials that say that something may be.
var affirmed = sift(lazyregexp.New(`(?i)\bno (?:bother|problem|trouble|issue|worries|harm)\b|\bnot (?:a problem|an issue|bad)\b|没问题|沒問題|没事|沒事|不要紧|不要緊`))

// sharesNames reports whether two sentences name the same thing.
func sharesNames(now, was *statement) bool {
	hans := 0
	for _, w := range now.names {
		switch {
		case common()[w.text] || !was.index.has(w.text):
		case !w.han:
			return true
		default:
			hans++
		}
	}
	return hans >= 2 || hans == 1 && was.hans == 1
}

func countHan(in []namedWord) int {
	n := 0
	for _, w := range in {
		if w.han {
			n++
		}
	}
	return n
}

// common are words that many rules and traits share.
var common = sync.OnceValue(func() map[string]bool {
	return wordSet(`use using write prefer like love hate answer repli reply please always never avoid eat drink want keep
	make ask give show call 用 我 你 要 不 回 答 都 每 次 以 后 请 再 更 正 新 改 现 可 开 始 还 是 写`)
})
