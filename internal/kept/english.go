package kept

// Pieces of English rules.
const (
	// start is where an order may begin.
	start = `(?:^|[,;:(…] ?|[-–—] |\b(?:and|but|so|also|please|plz|pls|then|ok|okay|well|rule number \w+) )`
	// acts are verbs of orders that people give to an assistant.
	acts = `(?:answer|reply|respond|write|use|call|give|show|tell|ask|keep|make|put|add|include|avoid|skip|stop|start|` +
		`begin|end|treat|` +
		`address|speak|talk|chat|explain|assume|cite|quote|check|run|test|format|sign|send|mark|list|translate|correct|name|` +
		`stick|go|do|don't|` +
		`never|always|only|just|let|remind|mention|say|be|act|pretend|play|summari[sz]e|leave|round|refer|wait|remember|` +
		`spell|follow|limit|` +
		`provide|return|output|propose|suggest|recommend|sort|read|try|think|take|point|look|set|draft|stay|warn|confirm|` +
		`commit|push|merge|` +
		`number|highlight|attach|convert|round|show|log|document|indent|prefix|omit|drop|no|hold|pick|choose|hide|prefer|` +
		`default|lead|open|finish|close|reserve|protect|respect|ignore|label|wrap|` +
		`abbreviate|match|measure|price|schedule|book|plan|cook|teach|quiz|grade|challenge|praise|proofread|edit|touch|` +
		`print|store|save|repeat|switch|link|count|help|work|change|delete|update|refuse)\b`
	// habits are what answers and texts are made of: an order about them is about all of them.
	habits = `(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|explanations?|comments?|commits?|commit messages?|` +
		`drafts?|dates?|units?|` +
		`spelling|tone|headings?|bullets?(?: points?)?|lists?|tables?|markdown|emojis?|citations?|sources?|quotes?|` +
		`paragraphs|sentences|` +
		`tabs|spaces|semicolons|names?|variables?|functions?|tests?|jargon|adverbs?|adjectives?|exclamation marks?|` +
		`em dashes|they/them|she/her|he/him|feedback|` +
		`currenc(?:y|ies)|euros|dollars|prices|metric|imperial|celsius|fahrenheit|json|plain text|code|queries|libraries|` +
		`packages|` +
		`files?|recipes?|emails?|letters?|texts?|apolog(?:y|ies|ising|izing)|small talk|preamble|var|let|links?)`
	// tongues are languages to answer in.
	tongues = `(?:english|french|german|spanish|italian|portuguese|dutch|polish|russian|chinese|mandarin|cantonese|` +
		`japanese|korean|` +
		`arabic|hindi|turkish|swedish|danish|norwegian|finnish|greek|hebrew|czech|ukrainian|vietnamese|thai|latin|welsh|irish)`
	month = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`
	day   = `(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|noon|midnight|the end of|next|` + month +
		`|\d{1,2}(?:st|nd|rd|th)?\b|the \d|end of|eod|eow|q[1-4])`
)

var english = languageGrammar{
	idiom: []string{
		`\b(?:never ?mind|you never know|better late than never|never say never|now or never|never again|never once|` +
			`never in (?:my|his|her|our|all my) |as always|like always|(?:don't|do not|dont|didn't|doesn't) (?:know|think|mind|` +
			`care|worry|have|remember|understand|see why|get it|believe|feel|want to know|bother|panic|you)\b|` +
			`don't (?:get me wrong|sweat it|be sorry|be silly|ask me|tell me|mention it)|(?:can't|cannot|couldn't) (?:remember|` +
			`decide)|(?:i'll|i will|we'll) never forget|must (?:say|admit|confess)|of course)`,
	},
	veto: []string{
		`\blet's play\b|\bno (?:reason|luck|news|answer|sign|use|wonder|doubt)\b`,
		`\bapparently\b[.!]?$|, what an? \w+[.!]?$|\brather wait\b`,
		`\bremind me (?:again |please )?(?:of )?(?:what|where|how|which|when|who|why|whether|about|if)\b`,
		`\baccording to\b|^(?:honestly|frankly|turns out|apparently|did you know)\b`,
		`^(?:thanks|thank you|what an?\b|(?:in|from) the (?:story|book|film|movie|novel|game)\b)`,
		`\b(?:once upon a time|as [a-z]+ (?:wrote|said|put it)[,:])|^as [a-z]+ (?:wrote|said|put it)\b`,
		`\b(?:my|the|our|his|her|their|your)(?: \w+){0,2} (?:says?|said|told|thinks?|thought|claims?|claimed|insists?|` +
			`insisted|complains?)\b`,
		`\b(?:he|she|they|everybody|everyone|people|nobody|who|mum|mom|dad)(?: always| never| once)? (?:says?|said|told|` +
			`thinks?|thought|claims?|claimed|insists?|insisted|decided|prefers?|never|always|must)\b`,
		`\b(?:i|we) (?:was|were) told\b|\bi told (?:him|her|them)\b`,
		`\b(?:used to|would have|should have|could have|might have|was supposed|were supposed) |\bhow to\b.*\?$`,
	},
	once: []string{
		`\bbe (?:quick|brief for once)\b|\bfor (?:class|school|the interview|the exam|tomorrow)\b`,
		`\b(?:write|make|put|rewrite|turn|translate|do|say) (?:it|this|that|them)\b|\bfor this (?:test|time|one|task|run|demo|question)\b|\b(?:eat|drink|have|read|use) this\b`,
		`^(?:please )?(?:list|name|count|find|explain|show me|give me|check|summari[sz]e|translate|compare|describe|convert|sort|fix|delete|remove|rename|run|read|open|move|copy|merge|update|replace|print) (?:\w+ )?(?:all|every|each|any|everything)\b`,
		`\bi(?:'d like| want| need| would like|'m trying)? to (?:practi[sc]e|try|see|learn|test|compare)\b|\bfor practice\b|\b(?:first|second|third|last|other) (?:one|option|version|draft)\b`,
		`\b(?:right now|now|yet|just yet|today|tonight|this (?:time|once|one)|for now|at the moment|for a moment|still)\b`,
	},
	scope: []string{
		`^(?:whatever i|no matter)\b`,
		`\bfrom (?:now|here|today|this point) on`,
		`\b(?:going forward|in future|in the future|always|never|every|each|whenever|decided|deadline|due|settled)\b`,
	},
	asks: []string{
		`\?["')]*$`,
		`^(?:why|how|who|whose|is|are|am|was|were|does|did|has|have|should|shall|do (?:you|we|they|i)|what(?:'s| is| are|` +
			` if| would| do| does)|when (?:did|do|does|is|will|was)|where (?:is|are|did|do)|which (?:one|of))\b`,
	},
	asked: []string{
		`^(?:(?:hey|hi|ok|okay|so|and|also|please),? )*(?:can|could|would|will) (?:you|we|i ask you to)\b.*\b(?:from (?:now|` +
			`here) on|always|never|every|each|by default|going forward|in future|in the future|whenever|stop|all (?:your|my|` +
			`the)|for the rest)\b`,
	},
	rules: []rule{
		// Rules by name, and what holds come what may.
		{
			cues: []string{
				`rule|make a|take a|you're|you are|under any|under no|without|whatever|no matter|any|anything|everything|every`,
				`stays|stay|we will|we won't|we are|we're`,
			},
			match: []string{
				`^(?:\w+ ){0,2}rule\b[^,.]*:|^(?:please )?(?:make|take) (?:a )?note\b[^,.]*:`,
				`\byou(?:'re| are) (?:not|never|only) to\b|\bunder (?:any|no) circumstances\b`,
				`\bno [a-z]+\b[^,.]* (?:lands?|ships?|merges?|goes|gets|happens?|leaves?|is|are)\b.*\b(?:without|until|unless|before)\b`,
				`^(?:any|every|each|all|anything|everything)\b[^.]*, ?` + acts + ` (?:it|them|one)\b`,
				`^(?:whatever i|no matter)\b.*\b(?:don't|do not|never|no|only)\b`,
				`\bstays? (?:out of|off|at|away from)\b`,
				`\bwe(?:'re| are| will| won't) (?:not |no longer )?(?:be )?(?:us|do|writ|tak|sell|ship|support)[a-z]*\b.*` +
					`\b(?:any ?more|any longer|everywhere)\b`,
			},
			but: []string{`\b(?:he|she|they|who) stays?\b|\b(?:he|she) (?:is|was)\b`},
		},
		// How long it holds, with an order.
		{
			cues: []string{
				`from now on|from here on|from today|from this point|going forward|in future|in the future|henceforth|until i`,
				`until further|for the rest|for the remainder|unless i|by default|at all times|throughout|each time|every time`,
				`whenever|any time|anytime|as long as|in all|in every|across all`,
			},
			match: []string{
				start + acts,
				`\b(?:from (?:now|here|today) on|going forward|in future|by default),? (?:please )?` + acts,
				`\b(?:please|you(?:'ll| will| must| should|'re| are| can| may)|i want|i need|i'd like|let's|needs?|must|has to|` +
					`have to|should|assume)\b`,
				`\b(?:(?:british|american|uk|us) (?:spelling|english)|` + habits +
					`)\b.*\b(?:throughout|by default|from (?:now|here) on)`,
			},
			but: []string{
				`\b(?:whenever|every time|each time) i (?:hear|see|think|smell|go|visit|feel)\b`,
			},
		},
		// When something happens, this is to be done.
		{
			cues: []string{
				`if |when `,
			},
			match: []string{
				`(?:^|[,;:] )(?:if|when) (?:you|i|we|there|something|a|an|the|my|in)\b[^,]*, ?(?:then |please |just |always )*` +
					acts,
			},
			but: []string{
				`\b(?:when|if) (?:you're|you are) (?:done|ready|finished)`,
			},
		},
		// Always and never, as an order.
		{
			cues: []string{
				`always|never|ever|under no circumstances|on no account|at no point`,
			},
			match: []string{
				start + `(?:always|never|under no circumstances|on no account|don't ever|do not ever) [a-z]+`,
				start + `(?:never,? ever|(?:always|never),[^,]{1,40},) ` + acts,
				`\b(?:you|we|it|they|this|that|these|names?|` + habits + `)(?: (?:must|should|shall|may|can|will|need to|have to|` +
					`are to|is to|are|is))+ (?:always|never)`,
				`\b(?:should|must|shall|needs? to|has to|have to|is|are) (?:always|never) (?:to )?[a-z]+`,
				`\b(?:i want|i need|i'd like|i expect) (?:you|us|it|them) (?:to )?(?:always|never)`,
			},
			but: []string{
				`\b(?:always|never) (?:a|an|the|been|had|has|have|seen|heard|thought|knew|did|did|was|were|wanted|said|got|better|` +
					`happy|nice|good|fun|late|like|so|underestimate|works?|fails?|[a-z]{2,}(?:[^e]ed|ied)|too|quite|really|ever (?:seen|been|heard|had|thought|knew|was|were|again)|going)\b`,
				`\b(?:i|i've|i'd|i'm|it's|that's|it|there) (?:(?:is|was|are) )?(?:always|never)\b`,
				`\bis always (?:late|early|full|busy)\b`,
			},
		},
		// Duties.
		{
			cues: []string{
				`must|has to|have to|needs to|need to|is to|are to|shall|should|required|mandatory|forbidden|prohibited|not allowed`,
				`off limits|may only|is never|are never`,
			},
			match: []string{
				`\b(?:you|we|it|every|each|all|any|no|only|nothing|everything|anything|nobody|` + habits + `|` +
					`[a-z]+s)\b[^,]*\b(?:must|must not|mustn't|has to|have to|needs? to|shall|should|may only)\b`,
				`\b(?:is|are) (?:required|mandatory|forbidden|prohibited|not allowed|off limits)\b`,
				`\b(?:must|has to|have to|needs? to) (?:not )?be [a-z]+(?:ed|en|t)\b|\byou don't (?:need|have) to\b`,
				`\bshould (?:be|focus|include|use|start|end|contain|have|follow|look|sound|read|stay|show|fit|mention|list)\b`,
				`\b(?:has|have|needs?|must)(?: to)? be\b.*\b(?:by|before|until)\b`,
			},
			but: []string{
				`\bmust (?:be (?:joking|kidding|tired|hungry|why|the|a|fun|nice|hard|so|mad|crazy)|have|admit|say)\b`,
				`\b(?:i|he|she|they|it|that|this|there|someone|everyone|one) (?:must|had to|have to|has to|need to)\b`,
				`\bshould be (?:fine|ok|okay|here|there|back|fun|easy|ready|able|enough|happy|proud|ashamed)\b`,
				`\b(?:i|he|she|they|it|that|this) should\b|\bhas to be (?:a joke|the)`,
				`\b(?:i|you) (?:really )?should (?:try|see|have|go|probably)\b|\bno need\b`,
				`\b(?:wonder|unsure|sure) (?:if|whether)\b`,
			},
		},
		// What must not be.
		{
			cues: []string{
				`don't|do not|dont |no |stop |avoid |refrain |quit |nothing |nobody |no one |skip |leave out|without `,
			},
			match: []string{
				start + `(?:don't|do not|dont) [a-z]+|^(?:please |and |also |absolutely |ok,? )*no (?:more )?[a-z]+`,
				`, no [a-z]+\b.*$|` + start + `(?:stop|quit|avoid) (?:[a-z]+ing|using)\b`,
				start + `(?:avoid|refrain|skip|leave out) `,
				`\b(?:nothing|nobody|no one)\b.*\b(?:gets?|may|goes|should|must|is allowed|leaves|touches)\b`,
				`\bi don't (?:eat|drink|speak|read|want (?:you|any|to (?:discuss|see|hear))|like (?:it when|your))`,
				`\b(?:code|answers?|repl(?:y|ies)) without\b`,
			},
			but: []string{
				`^no (?:problem|worries|idea|thanks|way|wonder|doubt|need|rush|matter|clue|luck|one knows|i|it|that|we)\b|^no[,.!]`,
				`, no (?:i|it|thanks|problem|worries)\b`,
				start + `(?:don't|do not) (?:forget to|wait|laugh|cry|start|leave yet|go|hang up|give up|look)\b`,
				`\b(?:stop|skip|avoid) (?:the (?:server|build|job|process|test|second|first|next|last)|it|that|this)\b`,
			},
		},
		// Preferences.
		{
			cues: []string{
				`i never want|i prefer|i'd prefer|i would prefer|i much prefer|i really prefer|i'd rather|i would rather`,
				`my preference|i like|i'd like|i would like|i want|i need you|works best|i favour|i favor`,
			},
			match: []string{
				`\bi(?:'d| would)?(?: much| really| strongly| generally| always)* (?:prefer|rather|favou?r)\b|\bmy preference\b`,
				`\bi never want\b|\bi (?:like|want|need|would like|'d like) (?:all |only |every )*(?:my|your|it when|you|the)\b`,
				`\bi'd like (?:my|your|you|all)\b|\bworks best\b`,
			},
			but: []string{
				`\bprefer not to (?:think|talk|say|know)|\b(?:prefer|rather) (?:to )?(?:forget|go|sleep|leave|stay in|be)\b`,
				`\b(?:like|want) (?:the|your) (?:idea|look|sound|new|first|second|suggestion)`,
				`\bi (?:like|want|need|'d like) you(?:r)?(?: to)? (?:\w+ )*(?:a|an|one|two|three|this|that|it)\b`,
				`\bi want the (?:first|second|last|file|same)\b`,
			},
		},
		// Decisions.
		{
			cues: []string{
				`decid|decision|agreed|settled|we chose|we've chosen|chosen|going with|go with|went with|stick with|sticking with`,
				`stick to|let's|final|it's final|moved to|postponed|we'll use|we will use|we use |we're using|rule`,
			},
			match: []string{
				`\b(?:we|i've|i have|team|board)(?:'ve|'re| have| are| all| finally| now| both)* (?:decided|agreed|settled|chose|` +
					`chosen|going with|go with|went with|sticking|switching|will use|use)\b`,
				`\bwe'll (?:use|go with|stick)\b|\b(?:it's|it is|that's|that is) (?:settled|decided|final|agreed)\b`,
				`\bdecision(?: is)?:? |\blet's (?:settle|stick|go with|use|agree|keep|call|settle)\b`,
				`\b(?:has|have|is|are)(?: been)? (?:moved|postponed|brought forward|pushed back) to\b|\brule(?: number)? (?:\w+)?:`,
				`\bstick to (?:that|it)\b|` + start + `stick to\b`,
			},
			but: []string{
				`\b(?:haven't|hasn't|not|never|nobody|no one) (?:yet )?(?:decided|agreed|settled)`,
				`\b(?:big|hard|tough|difficult|your|his|her|bad|good) decision\b`,
				`\b(?:decided|agreed) (?:against )?(?:to|on) .*\b(?:and|but) [a-z]+ed\b`,
				`\blast (?:spring|summer|year|week|month|winter|autumn)\b`,
			},
		},
		// Deadlines and limits of money.
		{
			cues: []string{
				`deadline|due |due by|no later than|at the latest|submissions|closes|close on|close at|by noon|by midnight|by `,
				`budget|capped|launch|release|freeze|expires|must ship|ships on|starts on|cutoff|cut-off|runs out|working hours`,
				`office hours`,
			},
			match: []string{
				`\bdeadlines?\b.*\b(?:is|are|was moved|moved|moves|has moved|stays|for)\b.*` + day + `|\bdeadline:? ` + day,
				`\b(?:due|closes?|expires?|ships?|starts?|freezes?|launch(?:es)?|goes live|moved to)(?: is)? (?:on|by|at|in|before|` +
					`to)? ?` + day,
				`\bno later than\b|\bat the latest\b`,
				`\b(?:must|has to|have to|needs?|due|submit|hand|ready|done|finished|deliver|in|paid|sent|complete[d]?)\b.*\bby ` +
					day,
				`\bruns out (?:on|in|at) |\bdeadline (?:moves|is|has)\b|\bbudget\b.*\b(?:is|capped|max|under|limit)\b`,
				`\b(?:working|office) hours\b.*\b(?:are|is|\d)`,
			},
			but: []string{
				`\b(?:missed|sounded|scary|stressful|nearly|almost|forgot)\b`,
				`\bshould (?:arrive|come|be (?:here|there|back|fine|ok))\b|\bwas (?:due|last)\b`,
			},
		},
		// What is to be remembered.
		{
			cues: []string{
				`remember|keep in mind|bear in mind|note that|take note|make a note|don't forget|do not forget|for the record`,
				`important`,
			},
			match: []string{
				start + `(?:always )?(?:remember|bear in mind|note|take note|make a note|for the record)(?:[:,]| that| this| my|` +
					` the| we| i| to| it's)`,
				`\bkeep (?:that |this |it )?in mind\b|\bdon't forget (?:that|to|my|the|we|i)|\bdo not forget\b`,
				`^(?:this is |very )?important(?:: | note)|\bit(?:'s| is) important (?:to me )?that\b`,
			},
			but: []string{
				`\bremember (?:when|that (?:time|day|trip|night|one)|the (?:time|day|trip))`,
				`\b(?:i|do you|can't|don't|i'll) remember`,
			},
		},
		// Facts about the person that bind.
		{
			cues: []string{
				`allerg|intoleran|vegetarian|vegan|celiac|coeliac|gluten|diabetic|kosher|halal|colour-blind|colorblind|color-blind`,
				`colour blind|color blind|call me|my name|pronouns|i go by|i can't eat|i can't have|i cannot|i can't drink|pregnant`,
				`lactose|dyslexi|address me|wheelchair|left-handed|i never eat|i never drink`,
			},
			match: []string{
				`\b(?:i'm|i am|i|my|we're|we are|i've|she's|he's|is)\b.*\b(?:allerg|intoleran|vegetarian|vegan|coeliac|celiac|` +
					`diabetic|kosher|halal|colou?r[- ]?blind|pregnant|dyslexi|left-handed)`,
				`\b(?:i|he|she|we) (?:can't|cannot|never|mustn't) (?:eat|have|drink|tolerate)\b`,
				start + `(?:call|address) (?:me|him|her|us|my)\b|\bmy (?:full |first )?name(?:'s| is)\b|\bpronouns are\b`,
				`\bi go by\b`,
			},
			but: []string{
				`\bcall me (?:back|when|tomorrow|later|crazy|old-fashioned)\b`,
			},
		},
		// How answers are to look, whatever they are about.
		{
			cues: []string{
				`answer|repl|respon|write |use |keep |explain|speak|only |just |make sure|be |treat|put |prefer|in json|spelling`,
				`comments|code |prices|format|summar|include|cite|indent|sign |ask me|tell me|assume|act as|pretend|address`,
				`confidential|limit `,
			},
			match: []string{
				start + `(?:answer|reply|respond|speak|write|talk|explain)(?: to me| everything| things| back)?(?: only|` +
					` strictly)? (?:in|with|as|like|briefly|concisely) (?:only )?(?:` + tongues + `|json|plain|bullet|simple|short|` +
					`markdown|one|under|fewer|less|if|briefly|concisely|\w+ words)`,
				start + `(?:keep|make)(?: all| all of)?(?: your| my| the)? (?:` + habits + `|it|them|things|` +
					`everything)\b.*\b(?:short|brief|simple|concise|under|below|formal|informal|casual|polite|to the point|in )`,
				start + `use (?:only |just )?(?:` + habits + `|` + tongues + `|british|american|the (?:metric|24|oxford|present|` +
					`past|active))`,
				start + `(?:only|just) (?:ever |give me |suggest |use |answer |recommend |write |show |return |` +
					`output )+(?:` + habits + `|in\b)`,
				start + `(?:respond|answer|reply|output|return)\b.* only\b`,
				start + `make sure (?:that )?(?:every|all|each|any|no|you always|nothing)`,
				`\btreat (?:everything|all|every|any|my|the)\b.*\bas\b|\bconfidential\b`,
				start + `(?:ask|tell|check with|warn|consult) me (?:before|first)|` + start + `(?:act as|pretend|assume)\b`,
				`\bcomments\b.*\b(?:stay|in ` + tongues + `)`,
				`^(?:all |your |my )?` + habits + `(?: only)? in (?:plain|` + tongues + `|metric|iso)`,
				start + `write "?“?.*\b(?:and not|not|instead of|rather than)\b`,
				`\b(?:please )?(?:address|call|refer to) (?:my|our|the|his|her) .*\b(?:formally|as|by)\b`,
				`^(?:british|american|metric|imperial|` + tongues + `)\b[a-z ]*(?:only|throughout|please|units)`,
				`\bin ` + habits + ` (?:i|you|we) (?:want|need|should)\b`,
				start +
					`(?:put|include|add|cite|show|list|mark) (?:all|every|any|each|the (?:source|units?|year|most)|a (?:short|` +
					`source))\b.*\b(?:in|at|to|with|of|for) (?:every|each|all|your|any)\b`,
			},
			but: []string{
				`\b(?:this|that|these|those|the (?:following|first|second|third|last|previous|above|title|attached))\b`,
			},
		},
		// Orders about things in general: bare plurals, all and every, manners, contrasts.
		{
			cues: []string{
				`all |every|each|any|anything|everything|whatever|at a time|like |as if|as though|never|not |rather than|instead of`,
				`be |stay |keep |leave |hands off|round |refer|as they|as he|as she|decimal|in character|character|the dungeon`,
				`you're the|you are the|you're my|you are my|you play|use |give me|write |avoid |prefer|include|add |suggest`,
				`recommend|show me|offer|cite|mark `,
			},
			match: []string{
				start + acts + `[^,]*\b(?:all|every|each|any|anything|everything|whatever)\b`,
				`\b(?:one|two|a few) [a-z]+(?: [a-z]+)? at a time\b`,
				start +
					`(?:speak|talk|write|reply|respond|explain|answer|treat|act|behave|sound)\b[a-z' ]* (?:like|as if|as though)\b`,
				start + acts + `[^,.;]*,? (?:never|not|rather than|instead of|and not) [a-z]+`,
				start +
					`be (?:more |very |always |a bit |completely |totally |brutally )?[a-z]+(?: and [a-z]+)? (?:with|about|in|` +
					`when|to|if|on) `,
				`^(?:please )?be (?:more |very |completely |brutally )?(?:brief|concise|blunt|honest|direct|critical|formal|` +
					`informal|polite|strict|patient|specific|terse|precise|frank)\b`,
				start + `(?:stay|keep) (?:away from|out of|off|in character|clear of)\b|\bhands off\b`,
				start + `leave [^,]* (?:alone|as (?:is|it is|they are)|where (?:it is|they are)|untouched|unchanged)`,
				`\b(?:refer to|address) [a-z ]+ as\b|\b(?:round|to) [^,]*\bdecimals?\b`,
				`\byou(?:'re| are| play) (?:the|a|an|my)\b[^,]*(?:,|\band\b).*\b(?:i'm|i am|stay|never|don't|only|correct|ask|answer)\b`,
				start + `(?:use|give me|write|avoid|prefer|include|add|suggest|recommend|show me|offer|cite|` +
					`mark) (?:[a-z-]+ ){0,2}[a-z]{3,}[^s'\W]s(?:[.,!]|$| (?:in|for|when|to|with|at|and|instead|over)\b)`,
			},
			but: []string{
				`\b(?:the|this|that|these|those|my|our|a|an|two|three|four|five|six|ten|some|failing) (?:[a-z]+ )?(?:file|test|page|` +
					`paragraph|function|button|column|server|table|section|list|version|photo|branch|line|error|bug|names|ideas|jokes|` +
					`examples|options)s?\b`,
				`\b(?:three|four|five|six|ten|some|following|attached|above|last) \b`,
				`^(?:please )?(?:write|add|create|make|show me|give me) (?:[a-z-]+ )*(?:for|to|in|from|of) (?:the|this|that|these|` +
					`my|our|[a-z]+\.[a-z]+)\b`,
				`\b(?:going|at it)\b,? (?:that|it)|\bbe (?:careful|right|back|there|quick)\b`,
			},
		},
		// What follows from how a person lives or works.
		{
			cues: []string{
				`so |therefore|because|take it into account|into account|plan around|work around|consider|accommodat|bear with`,
			},
			match: []string{
				`\b(?:i|i'm|i've|i'll|we|we're|my|our|she|he)\b.*(?:, | )so (?:please |always |never |only |just |no |` +
					`any )?(?:` + acts + `|plan|nothing|everything|keep|large|short)`,
				`\b(?:take|taking) (?:it|that|this) into account\b|\bplan around (?:that|it|this)\b`,
				`\bplease consider (?:that|this|it)\b`,
			},
			but: []string{
				`\bso (?:i|we|it|he|she|they)\b|\b(?:don't|do not) (?:start|wait|run|merge|send)\b.*\byet\b`,
				`\bso (?:let me|tell me what|help me|give me a hand|show me how)\b`,
			},
		},
		// What is only, over something else, in a style, or agreed.
		{
			cues: []string{
				`only|prefer|favour|style|manner|tone|voice|our agreed|agreed|we'll|we will|in the language|whichever language`,
				`create|i'd like to be|i want to be|i would like to be|i need to be|stop calling|don't call|don't be|instead of`,
				`over `,
			},
			match: []string{
				start + acts + `.*\bonly\b ?[.!]?$|` + start + `(?:prefer|favou?r) [a-z]+`,
				start + acts + `.*\bin (?:the|a|an) [a-z' -]*(?:style|manner|tone|voice|format|register|way)\b`,
				`\bour (?:agreed|usual|standard|fixed) [a-z]+\b.*\bis\b|\bin (?:the|whichever|whatever) language i\b`,
				`\bwhen i say [^,]*, ?[a-z]+`,
				`\bwe(?:'ll| will) (?:be )?(?:us(?:e|ing)|meet(?:ing)?|writ(?:e|ing)|call(?:ing)?|pay(?:ing)?|stick(?:ing)?|` +
					`deploy(?:ing)?|work(?:ing)?|speak(?:ing)?|ship(?:ping)?)\b.*\b(?:every|throughout|only|always|for|from|as|in)\b`,
				`\bi(?:'d like| would like| want| need) to be (?:reminded|told|asked|called|addressed|warned|corrected|quizzed|` +
					`challenged|kept)\b`,
				start + `stop (?:calling|being|using|saying|adding|telling|asking|giving|suggesting|ending|starting)\b`,
				start + `(?:don't|do not) be so\b|` + start + `(?:write|give|use|make) [a-z ]*\b(?:instead of|rather than)\b`,
			},
			but: []string{
				`\b(?:this|that) (?:time|one|once)\b|\bthe (?:second|third|first|last|following)\b|\bfor (?:lunch|dinner|coffee)\b`,
				`\bdon't be so (?:silly|sure|sad)`,
			},
		},
		// Conventions and reasons.
		{
			cues: []string{
				`our |that's how|the rule|convention|policy|house style|as a rule|i hate|i can't stand|i loathe|i dislike|note for`,
				`note to|reminder|memo|fyi|nb:|nb `,
			},
			match: []string{
				`\b(?:our|the|this) (?:[a-z]+ )?(?:style|convention|policy|standard|rule|house rule|practice|` +
					`guideline)s?\b.*\b(?:is|has|says|are|forbids?|requires?|allows?|no)\b`,
				`\bthat's how (?:this|it|we|things)\b|(?:^|[,;] )as a rule\b`,
				`\bi (?:really )?(?:hate|can't stand|loathe|dislike)\b.*, (?:so |please )?(?:get|keep|don't|skip|no|never|just|be|` +
					`give|use|leave)`,
				`^(?:note(?: for later| to self)?|reminder|memo|fyi|nb) ?[:,]`,
			},
			but: []string{
				`\bthe rules? of (?:chess|football|the game|cricket)\b|\bbroke the rule`,
			},
		},
		// Conventions of a project, secrets, free hands, and things that stay as they are.
		{
			cues: []string{
				`we use |we follow|we write|we name|we put|we spell|we call|we work|we keep|we always|we never|we only|for this `,
				`in this |this project|this repo|the project|find out|stays|remains|exactly as|word for word|verbatim|untouched`,
				`until i|until you|secret|can't eat|can't drink|can't have|cannot eat|final call|final say|the last word|i decide`,
				`free hand|feel free to|you can |you may |whatever|no matter|spoilers|hard rule|golden rule|never on|whenever`,
				`each other|free|emails|letters`,
			},
			match: []string{
				`\bwe (?:always |never |only )?(?:use|follow|write|name|put|spell|call|work|keep|deploy|ship|review|test|round|pay|` +
					`count) [^,]*\b(?:in|for|on|with|as|by|here|conventions?|commits?|style)\b`,
				`^(?:for|in|on) (?:this|our|the) (?:[a-z]+ )?(?:repo|repository|project|chat|conversation|book|novel|document|` +
					`thread|game|team|codebase|company|house|course|series)\b.*`,
				`\b(?:must not|mustn't|can't|cannot|may not|should not|shouldn't) (?:find out|know|see|hear|learn|read)\b`,
				`\b(?:stays?|remains?) (?:hidden|secret|private|a secret|unchanged|the same|in|as|between|off|under|closed|open)\b`,
				`\b(?:exactly as|verbatim|word for word)\b`,
				`\buntil i(?:'ve| have)?\b.*\b(?:had|tried|asked|said|ask|say|try|confirm|approve|guess)`,
				`\b(?:husband|wife|son|daughter|partner|mother|father|mum|dad|child|kid|kids|friend|he|she|we|i) (?:can't|cannot|` +
					`mustn't) (?:eat|drink|have)\b`,
				`\b(?:final (?:call|say|decision)|the last word)\b|\bfeel free to\b|^you (?:can|may) .*\b(?:with|around|to|at) me\b`,
				`^(?:whatever|no matter) [^,]*, ?(?:please |always |then )*` + acts + `|\bno spoilers\b`,
				`\b(?:hard|golden|strict|firm|house|ground) rule\b`,
				start + acts + ` .*\b(?:my|our) (?:[a-z]+ )?(?:emails|letters|essays|posts|messages|notes|texts|reports|stories|` +
					`articles|invoices)\b`,
				start + `(?:leave|keep) [a-z ]*(?:mornings?|evenings?|nights?|afternoons?|days?) (?:free|clear|open)\b`,
			},
			but: []string{
				`\b(?:can't have (?:it|everything|both|been)|sees? (?:it|him|her)$|can't see|cannot see|can't hear|can't know)`,
				`^(?:in|for) this (?:story|film|photo)|\bin the end we\b`,
			},
		},
		// What is still to be done.
		{
			cues: []string{
				`todo|to-do`,
			},
			match: []string{
				`\bto-?do\b ?:|^to-?do\b`,
			},
		},
	},
}
