// Package words is what the program says to people in a terminal, in English and Chinese.
//
// Words it adds: texts (all sentences of one language, by what they are for).
//
// Invariants: both languages say everything, with the same values in the same order; a test
// compares them. What was stored in English and has a sentence in the table is said in the
// language of whoever reads it. What came from elsewhere is said without the characters
// that make a terminal do something.
//
// It may not know where the words go, nor the environment: its callers say which language.
package words

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/server/language"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// Texts is what the chat itself says, in one language. Those with verbs take the
// arguments that their comments name, in that order.
type Texts struct {
	Language    string // as a tag: en, zh
	Greeting    string // model
	Resumed     string // title, messages
	ResumedOne  string // title, of a conversation of one message
	Gone        string // model, why, the model instead
	Earlier     string // number of messages not shown
	Ended       string // conversation
	Placeholder string
	Working     string
	Stopping    string
	Leave       string // Ctrl-C was pressed with nothing typed
	Interrupted string
	Assumed     string // model, tokens its window is assumed to have
	Compacting  string
	Compacted   string // first seq, last seq, tokens before, after
	Nothing     string
	Behind      string // per cent of the messages that search has in its index
	Unknown     string // command
	Meant       string // command, the one that was probably meant
	Missing     string // command, what it takes
	Model       string // model
	Titled      string // title
	Status      string // model, tokens, budget
	NewThread   string
	Keys        string
	Offline     string
	Help        map[string]string // by command
	Results     map[scrollback.CompactionResult]string
	Unchanged   string // text of a result
	NoReceipts  string
	NoPins      string
	NoRefs      string
	NoHits      string
	NoTalks     string // how to begin one
	NoneHere    string // of a list that leaves others out
	Match       string // one line was found
	Matches     string // lines that were found
	Unread      string // what could not be searched
	MoreUnread  string // the same, and more like it
	CutShort    string // a search that ran out of time
	Abandoned   string // of a hit
	NewFolder   string // path
	Cleared     string // marks a receipt, as do the next two
	Checked     string
	Undone      string
	Inherited   string
	Pick        string
	PickKeys    string
	ResumeHint  string
	RewindHint  string
	BranchHint  string
	Rewound     string // messages
	Notebook    NotebookTexts
	CopyOf      string // title of what is forked
	Saved       string // file
	OnlyThought string // stands before the reasoning of a model that gave nothing else
	Added       string // folder
	NotGranted  string // folder of the conversation
	FolderGone  string // the same
	TypePrompt  string
	NoInput     string // how long
	NoFile      string // a reference that is being typed names nothing
	MoreFiles   string // how many more it may name
	TakesConversation,
	TakesSeq,
	TakesNumber,
	TakesFolder,
	TakesFile string
	TakesPattern string
	TakesWords   string
	TakesName    string
	TakesTitle   string
	Trouble      TroubleTexts
	Web          WebTexts
	Reference    ReferenceTexts
	Window       WindowTexts
}

// WindowTexts are about the next request. Layers, Limits and Reasons are by the names that
// manifests have; what is not in them stays as it is.
type WindowTexts struct {
	Head       string // model, policy, tokens of the window, where that is known from
	Used       string // tokens, tokens of the budget, share, per cent that are the same
	From       string // project, tokens, settings
	NoSettings string
	Free       string
	Behind     string // last message, placeholders
	Version    string // of a file
	Same       string // version, message
	Layers     map[string]string
	Limits     map[string]string
	Reasons    map[string]string
}

// ReferenceTexts say what a reference of a prompt came to.
type ReferenceTexts struct {
	Line      string // the mark, what is said of it
	Unchanged string // version, seq of the message that has it
	Between   string // sentences
	// Said has the sentences that are stored with references, as they are made in English.
	Said map[string]string
}

// verb is where a part stands in a sentence.
var verb = regexp.MustCompile(`%[a-z0-9]+`)

// Translate is what was stored of a reference, sentence by sentence. One that the table does not
// have stays as it is.
func (t ReferenceTexts) Translate(stored string) string {
	out := strings.Split(stored, "; ")
	for i, s := range out {
		for English, format := range t.Said {
			pattern := "^" + verb.ReplaceAllString(regexp.QuoteMeta(English), "(.+?)") + "$"
			if m := regexp.MustCompile(pattern).FindStringSubmatch(s); m != nil {
				parts := m[1:]
				out[i] = verb.ReplaceAllStringFunc(format, func(string) (part string) {
					part = parts[0]
					parts = parts[1:]
					return part
				})
				break
			}
		}
	}
	return strings.Join(out, t.Between)
}

// TroubleTexts say what went wrong with a turn and what to do about it.
type TroubleTexts struct {
	States  map[scrollback.TurnState]string
	Reasons map[string]string // by finish reason
	Cause   string            // what the provider said
	Todo    string            // advice
	Again   string            // what to type
	Without string            // message, what to type to go on without it
	Back    string            // message, what to type to go back before it
	LeftOut string            // messages that are left out, or Nobody
	Nobody  string            // no messages
	Mark    string            // a state beside what was said
	Why     string            // a state, the reason
	Instead string            // why extracts stand for what was compacted
	Advice  map[scrollback.Advice]string
	Setting map[scrollback.Advice]string // the same where a setting is known, which it takes
}

// NotebookTexts are about notebooks that are run. Those with verbs take the arguments that
// their comments name.
type NotebookTexts struct {
	Cell      string            // number, first line
	Elsewhere string            // messages, conversation
	Copy      string            // the notebook that it is a copy of
	Differs   string            // the conversation that the file names
	TakenBack string            // cell
	Lost      string            // conversation
	Beside    string            // file
	Stale     string            // cells
	Beyond    string            // folder, reason
	Reasons   map[string]string // in words of the language; others stay as they are
	NoModel   string            // model
	Running   string
	NotRun    string
	Behind    string // messages
	Away      string
	Made      string // file
}

// WebTexts say what was searched for on the web.
type WebTexts struct {
	On, Off   string
	Searching string
	Searched  string // takes the query
	Nothing   string
	Failed    string // takes the reason
	Sources   string // before the list of pages
}

func (t WebTexts) State(on bool) string {
	if on {
		return t.On
	}
	return t.Off
}

// Result is a compaction's result as a person reads it.
func (t Texts) Result(r scrollback.CompactionResult) string {
	return cmp.Or(t.Results[r], string(r))
}

// Reason says in the language why something of a file was skipped, or a summary not used.
func (t Texts) Reason(english string) string {
	if t.Language == Chinese.Language {
		return language.Chinese.Reason(english)
	}
	return english
}

// Why says why a model that was asked gave no summary; empty if it did.
func (t Texts) Why(r scrollback.Receipt) string {
	if r.SummaryResult == "" {
		return ""
	}
	if r.SummaryWhy == "" {
		return t.Result(r.SummaryResult)
	}
	return fmt.Sprintf(t.Trouble.Why, t.Result(r.SummaryResult), columns.Clip(t.Reason(r.SummaryWhy), whyWidth))
}

// Extracted says that extracts stand for what was compacted because a model that was asked gave
// no summary, and why; empty if none was asked, or it gave one.
func (t Texts) Extracted(r scrollback.Receipt) string {
	why := t.Why(r)
	if why == "" || r.SummaryBy != scrollback.SummaryExtractive {
		return why
	}
	return fmt.Sprintf(t.Trouble.Instead, why)
}

// Of is the table for a locale as the environment names it, in the order
// LC_ALL, LC_MESSAGES, LANG: the first that is not empty decides.
func Of(locales ...string) Texts {
	for _, l := range locales {
		if l != "" {
			if strings.HasPrefix(strings.ToLower(l), "zh") {
				return Chinese
			}
			return English
		}
	}
	return English
}

// whyWidth is how much of a reason is shown, in columns.
const whyWidth = 160
