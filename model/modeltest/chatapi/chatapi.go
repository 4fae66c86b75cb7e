// Package chatapi stands in for servers of chat completions as OpenAI specified
// them: it refuses what they refuse, in their words, and plays a model for the rest.
//
// Words it adds: rule (what a server refuses in addition to what all do), quirk (how its
// stream differs from what OpenAI documents), preset (what is known about one server:
// its rules, its quirks, the parameters it takes, the bodies of its refusals).
//
// Reasoning comes back as it was sent, or not at all where no rule asks for it.
// Each call is answered once and in order. What is known about the servers is in
// docs/guides/dialects-chat.md. modeltest.Server speaks the same protocol and
// refuses nothing.
//
// It may not know model/openai, which is tested with it, nor another stand-in.
package chatapi

import (
	"net/http"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Rules are what a server of chat completions refuses beside what all do. All
// want a key, a model they know, messages that say something, and each call
// answered once and in order.
type Rules uint

const (
	// an answer that called, and thought, comes back with its reasoning; one that did not, with the field
	ReasoningWithCalls Rules = 1 << iota
	ReasoningFilled          // and the field is not empty
	DetailsWithCalls         // an answer that called comes back with its reasoning details, all and in order
	Alternates               // the template: user and assistant take turns, a system message only in front
	SystemFront              // the template: a system message only in front
	NoSystem                 // the template: no system message at all, and turns
	NoNull                   // content is never null
	NoLists                  // content is a list of parts in a user's message only
	NoEffortWithTools        // no effort beside tools (OpenAI's 5.4)
	NoThoughtWithTools       // tools only with the effort none (OpenAI's 5.6 and later)
	TextOnly                 // no images
	BytesOnly                // no images at addresses
	OneMaximum               // max_tokens and max_completion_tokens not together
	LongWithin200            // a request that is too long is refused within an answer of status 200
)

// Quirks are how a server's stream differs from what OpenAI documents.
type Quirks uint

const (
	NoIndex        Quirks = 1 << iota // pieces of calls have no index
	OneIndex                          // all calls have index 0, and differ in their ids
	IndexFromOne                      // indexes begin at 1
	WholeCalls                        // arguments come in one piece
	SaysStop                          // the finish reason is stop also behind calls
	UsageInChoice                     // usage stands in choices[0]
	UsageNull                         // usage is null in all chunks but the last
	CachedOnTop                       // cached_tokens stands beside prompt_tokens
	CacheHits                         // prompt_cache_hit_tokens stands beside prompt_tokens
	ReasoningAside                    // completion_tokens do not count reasoning
	Fractions                         // numbers are fractions
	NumericIDs                        // ids are numbers
	ContentList                       // content is a list of parts
	ObjectArgument                    // arguments are an object
	Comments                          // comment lines keep the connection alive
	NoDone                            // [DONE] never comes
	LateID                            // an id comes with the first piece only, then blank ones
)

// Options say how a server of chat completions is.
type Options struct {
	Server    string   // whose words and bodies of refusals it has: a name of the presets; "" is OpenAI's
	Key       string   // that must be sent; empty for none
	Models    []string // it knows; nil for any
	Limit     int64    // tokens of input and answer together; 0 for no limit
	MaxOutput int64    // the longest answer that may be asked for; 0 for any
	Rules     Rules
	Quirks    Quirks

	// Reasoning is the field that reasoning is streamed in; empty for never. Details
	// streams OpenRouter's reasoning details besides.
	Reasoning string
	Details   bool

	// Search is the tool that searches the web; empty if there is none.
	Search string
	// Takes are the parameters it takes beside model, messages, tools and stream.
	Takes []string
	// Starved breaks that many answers off with insufficient_system_resource.
	Starved int
}

// Preset returns how the server of a preset is, as far as is known; any other name
// has what is common to all.
func Preset(name string) Options {
	takes := func(more ...string) []string { return append([]string{"stream_options", "tool_choice"}, more...) }
	o := Options{Server: name, Key: "sk-chat", Reasoning: "reasoning_content",
		Takes: takes("max_tokens", "reasoning_effort")}
	switch name {
	case "openai":
		o.Reasoning = ""
		o.Takes = takes("max_completion_tokens", "reasoning_effort", "prompt_cache_key")
		o.Quirks = UsageNull
		o.Rules = NoLists | NoThoughtWithTools
	case "deepseek":
		o.Takes = takes("max_tokens", "reasoning_effort", "thinking")
		o.Rules = ReasoningWithCalls | TextOnly | NoLists
		o.Quirks = Comments | CacheHits | UsageNull
	case "xai":
		o.Takes = takes("max_completion_tokens")
		o.Quirks = WholeCalls | ReasoningAside | Fractions
	case "poe":
		o.Takes = takes("max_completion_tokens", "reasoning_effort")
		o.Rules = NoLists
		o.Quirks = SaysStop | NoIndex | LateID
	case "ark":
		o.Takes = takes("max_tokens", "max_completion_tokens", "thinking")
		o.Rules = OneMaximum | NoLists
		o.Quirks = UsageNull
	case "openrouter":
		o.Reasoning = "reasoning"
		o.Details = true
		o.Search = "openrouter:web_search"
		o.Takes = takes("max_tokens", "reasoning")
		o.Rules = DetailsWithCalls
		o.Quirks = Comments | SaysStop
	case "dashscope":
		o.Takes = takes("max_tokens", "enable_thinking", "thinking_budget", "preserve_thinking")
		o.Rules = NoLists
		o.Quirks = UsageNull | LateID
	case "moonshot":
		o.Takes = takes("max_completion_tokens", "reasoning_effort", "thinking", "prompt_cache_key")
		o.Rules = ReasoningWithCalls | ReasoningFilled | NoLists | BytesOnly
		o.Quirks = NoIndex | UsageInChoice | CachedOnTop
	case "workers-ai":
		o.Rules = NoNull | NoLists
		o.Quirks = SaysStop | ObjectArgument | NumericIDs | NoIndex
	case "custom":
		o.Quirks = OneIndex | NoDone
	case "lmstudio":
		o.Rules = Alternates | LongWithin200 | BytesOnly
		o.Quirks = NumericIDs
	case "vllm":
		o.Reasoning = "reasoning"
		o.Rules = NoSystem
	case "llama.cpp":
		o.Rules = SystemFront
		o.Quirks = Fractions | IndexFromOne
	}
	return o
}

// New stands in for a server of chat completions that serves m.
func New(m model.Model, o Options) *modeltest.Strict {
	return modeltest.NewStrict(m, &server{o: o, given: map[string]thought{}})
}

// server speaks chat completions.
type server struct {
	o Options

	mu      sync.Mutex
	given   map[string]thought // what was thought, by the id of each call and by the words of each answer
	answers int
	starved int
}

// thought is what a server gave out of what its model thought.
type thought struct {
	text    string
	details []any
}

func (s *server) hasRule(r Rules) bool   { return s.o.Rules&r != 0 }
func (s *server) hasQuirk(q Quirks) bool { return s.o.Quirks&q != 0 }

func (s *server) Handles(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/chat/completions") && r.Method == http.MethodPost
}

func (s *server) Serve(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// rememberThought keeps what was thought for an answer, under a key.
func (s *server) rememberThought(key string, t thought) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[key] = t
}

func (s *server) findThought(key string) (thought, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.given[key]
	return t, ok
}
