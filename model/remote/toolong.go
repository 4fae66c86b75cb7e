package remote

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
)

// longCodes are codes and types that say it all.
var longCodes = []string{"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
	"model_context_window_exceeded", "request_too_large",
	"outofcontexterror", "context_too_large", "tokens_limit_reached", "tokens_too_long", "3010", "5021", "1261", "3051",
	"2013", "1039", "336007", "336103"}

// longWords are the many words for a request that does not fit. A group named L is
// the window, N what the server counted of the input, both in tokens.
var longWords = sync.OnceValue(func() []*regexp.Regexp {
	const n, l = `(?P<N>[\d,]+)`, `(?P<L>[\d,]+)`
	var out []*regexp.Regexp
	for _, p := range []string{
		// vLLM, which may have stopped counting; its newer words for an answer too long
		`maximum context length is ` + l + ` tokens.{0,120}at least [\d,]+ (?:input )?(?:tokens|characters)`,
		`maximum context length is ` + l + ` tokens and your request has ` + n + ` input tokens`,
		// OpenAI, DeepSeek, OpenRouter; the figures of the parts go before the sum
		`maximum context length is ` + l + `(?: tokens)?.{0,40}requested.{0,40}\(` + n +
			` (?:in the messages|of text input|in the prompt)`,
		`maximum context length is ` + l +
			`(?: tokens)?.{0,120}(?:messages|prompt|input)[^\d]{0,60}(?:resulted in|contains|has)[^\d]{0,20}` + n,
		`maximum context length is ` + l + `(?: tokens)?.{0,80}requested (?:about )?` + n,
		`maximum context length (?:is|of) ` + l,
		// vLLM of late; the figure of the input goes before what is left for it
		`passed ` + n + ` input tokens.{0,80}context length is only ` + l + ` tokens`,
		`exceeds the context window`,
		`string too long.{0,60}maximum length \d{6,}`, // a shorter bound is that of an id or a key
		// Anthropic
		`prompt is too long: ` + n + ` tokens > ` + l,
		`input length and .{0,4}max_tokens.{0,4} exceed context limit: ` + n + ` \+ [\d,]+ > ` + l,
		`prompt is too long`,
		// Gemini
		`input token count \(?` + n + `\)? exceeds the maximum number of tokens allowed \(?` + l,
		`input token count.{0,40}exceeds the maximum number of tokens allowed[^\d]{0,4}` + l + `?`,
		// Moonshot, xAI
		`exceeded model token limit: ` + l + `(?:.{0,4}requested: ` + n + `)?`,
		`maximum prompt length is ` + l + ` but the request contains ` + n,
		// DashScope, Ark, Workers AI
		`range of input length should be \[\d+, ?` + l + `\]`,
		`total tokens of image and text exceed`,
		// no count of the input
		`estimated number of input and maximum output tokens \([\d,]+\) exceeded this model context window limit \(` + l +
			`\)`,
		// llama.cpp, LM Studio, Ollama
		`request \(` + n + ` tokens\) exceeds the available context size \(` + l,
		`(?:the )?request exceeds the available context size`,
		`n_keep:? ?\(?` + n + `\)?\)? ?>= n_ctx:? ?\(?` + l,
		`context length of only ` + l + ` tokens`,
		`context shift is disabled`,
		`text fields that are too large`,
		`expected maxlength: \d+, actual`,
		`greater than the context length`,
		`longer than the context length`,
		`context (?:length|window|size)[^.]{0,40}(?:exceed|too (?:long|large|small))`,
		`(?:exceed|larger than|longer than|over)[^.]{0,60}context (?:length|window|size|limit)`,
	} {
		out = append(out, regexp.MustCompile(p))
	}
	return out
})

// findTooLong recognises a request that does not fit, and reads the figures it names.
func findTooLong(p Problem, words string) (model.Lesson, bool) {
	l := model.Lesson{TooLong: true, Limit: p.Limit, Requested: p.Requested}
	words = asides().ReplaceAllString(words, "")
	for _, re := range longWords() {
		m := re.FindStringSubmatch(words)
		if m == nil {
			continue
		}
		for i, name := range re.SubexpNames() {
			switch {
			case name == "L" && l.Limit == 0:
				l.Limit = readFigure(m[i])
			case name == "N" && l.Requested == 0:
				l.Requested = readFigure(m[i])
			}
		}
		if l.Limit == 0 && l.Requested == 0 { // the known words say no figures: others may
			l.Limit, l.Requested, _, _ = findOverlong(words)
		} else if limit, requested := findSizes(words); l.Requested == 0 && limit == l.Limit {
			l.Requested = requested
		}
		return l, true
	}
	limit, requested, inBytes, ok := findOverlong(words)
	for _, name := range []string{words, p.Code, p.Type} { // a name instead of a sentence
		if !ok && bareName().MatchString(name) {
			_, _, _, ok = findOverlong(strings.NewReplacer("_", " ", "-", " ").Replace(name))
		}
	}
	if ok {
		l.Limit = cmp.Or(l.Limit, limit)
		l.Requested = cmp.Or(l.Requested, requested)
	}
	l.Bytes = inBytes || p.Status == http.StatusRequestEntityTooLarge && l.Limit == 0 || p.Code == "request_too_large" ||
		p.Type == "request_too_large"
	return l, ok || l.Bytes || slices.Contains(longCodes, p.Code) || slices.Contains(longCodes, p.Type)
}

// asides say nothing of what was refused: addresses, and the names of requests.
var asides = lazyregexp.New(`https?://\S+|\(?\b(?:request|trace|log)[ _-]?id\b['"]?[:=]? ?['"]?[\w-]+['"]?\)?`)

// bareName is a message or a code that is one name.
var bareName = lazyregexp.New(`^[a-z]+(?:[_-][a-z]+){2,}$`)

// readFigure returns a number of tokens, 0 for an impossible one.
func readFigure(s string) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil || n > 1<<31 {
		return 0
	}
	return n
}
