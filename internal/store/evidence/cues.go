package evidence

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// What is asked for, in a prompt whose characters are folded.
var (
	whyCue   = lazyregexp.New(`(?i)\b(why|reasons?|caused?|how come|against)\b|为什么|为啥|为何|原因|理由|怎么会`)
	againCue = lazyregexp.New(`(?i)\b(again|still|any ?more|these days|that fixed|seen (this|that) before|the old|` +
		`as (for|with|in)|same (as|way)|like (we|the|for|in)|our|we)\b|` +
		`又|还是|再次|老问题|那次|那边|那个|当初|当时|参考|照|上次|之前|来着|我们|咱`)
	// It asks whether something may be done, or says that it will be: what was decided may stand against it.
	permissionCue = lazyregexp.New(`(?i)\b(can|could|may|should|shall|do|must) (i|we)\b|\bright\?|` +
		`\b(do|does) .{0,20} have to\b|行不行|能不能|可不可以|要不要|可以吗|直接|吧|我想|打算|是不是|我们`)
	// It wants something new made, or told.
	makeCue = lazyregexp.New(`(?i)^\W*((please|pls|can you|could you) )?(write|rename|list|draw|make|create|explain|` +
		`translate|convert|format|run|commit|bump|generate|show|print|sort|zip|pin|count|export|save|read|give|put)\b|` +
		`^(请|帮我|麻烦|给我)*(写|画|翻译|解释|生成|统计|提取|跑|提交)|改名|写个|写一个|画个|画一|统一成|改成`)
	amountAsked = lazyregexp.New(`(?i)\b(how (many|much|often|long|high|big|far)|when|what time|by when|number|rate|` +
		`threshold|limit|date|percent|size|version|port|which day)\b|几|多少|多久|什么时候|何时|哪天|哪版|比例`)
	placeAsked = lazyregexp.New(`(?i)\b(where|which (file|path|table|branch|machine|folder)|link|url)\b|` +
		`哪个文件|哪里|哪儿|在哪|哪张表|路径`)
)

// cues say what a prompt asks for, and how.
type cues struct{ why, again, permission, make, amount, place bool }

// readCues reads the beginning and the end of a prompt, where people ask.
func readCues(s string) cues {
	if len(s) > 2*cueBytes {
		s = strings.ToValidUTF8(s[:cueBytes], "") + "\n" + strings.ToValidUTF8(s[len(s)-cueBytes:], "")
	}
	s = terms.FoldText(s)
	return cues{
		why:        whyCue().MatchString(s),
		again:      againCue().MatchString(s),
		permission: permissionCue().MatchString(s),
		make:       makeCue().MatchString(s),
		amount:     amountAsked().MatchString(s),
		place:      placeAsked().MatchString(s),
	}
}

// What a message of an earlier conversation is.
var (
	questionEnd   = lazyregexp.New(`\?\W*$|(吗|呢|么|没)[。!]?$`)
	questionStart = lazyregexp.New(`(?i)^\W*((and )?(how|why|who)|what|which|where|when|whose|is|are|does|did|was|were|` +
		`can|could|has|have|do (i|we|you|they))\b`)
	denseQuestion = lazyregexp.New(`什么|怎么|为何|为啥|多少|多久|几个|几点|哪[个些里家种]|要不要|是否|是不是|有没有|能不能|还是`)
	decisionCue   = lazyregexp.New(`(?i)\b(then|always|never|only|no|not|don'?t|neither|rather|ok|okay|fine|keep|both|` +
		`let'?s|we take|we use|use|must|rule|honestly|instead|stay|yes|wants?|by hand|exactly|nothing)\b|` +
		`就|吧|定了|一律|统一|只|不准|不许|不要|不能|不做|别|必须|以后|都|保留|先|按|以|要求|说|取|用|归`)
	proposalCue = lazyregexp.New(`(?i)\b(options?|either|choices?|suggest|could|compared|or|vs|recommend|fits?|both work|` +
		`your call|would)\b|可以|或者|建议|两种|比较了|还是|一种|方案|要么`)
	standingCue = lazyregexp.New(`(?i)\b(always|never|only|must|don'?t|do not|no|rule|everywhere|not|neither|minimum|` +
		`at least|keep|nothing|may|lowest|at most|ever|forever|until)\b|` +
		`一律|不准|不许|不要|不能|别|必须|以后|最低|最高|不做|统一|谁也|千万|只|都`)
	doneCue = lazyregexp.New(`(?i)^\W*(done|changed|updated|understood|ok|okay|agreed|kept|right|yes|set up|written|` +
		`implemented|configured|noted|added|removed|renamed)\b|` +
		`^(好|已|改好|明白|记在|实现|收到|写进|可以了|是的|要的)`)
	pathCue   = lazyregexp.New("[\\w-]+/[\\w./-]+|\\w+\\.\\w{2,5}\\b|`")
	reasonCue = lazyregexp.New(`(?i)\b(because|since|so that|wants?|needed|need|cause|culprit|due|insists?|too|doesn'?t|` +
		`no)\b|因为|由于|所以|导致|要求|不想|没|原因|太`)
)
