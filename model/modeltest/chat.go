package modeltest

import (
	"net/http"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
)

// ChatRules are what a server of chat completions refuses beside what all do. All
// want a key, a model they know, messages that say something, and each call
// answered once and in order.
type ChatRules uint

const (
	ChatReasoningWithCalls ChatRules = 1 << iota // an answer that called, and thought, comes back with its reasoning; one that did not, with the field
	ChatReasoningFilled                          // and the field is not empty
	ChatDetailsWithCalls                         // an answer that called comes back with its reasoning details, all and in order
	ChatAlternates                               // the template: user and assistant take turns, a system message only in front
	ChatSystemFront                              // the template: a system message only in front
	ChatNoSystem                                 // the template: no system message at all, and turns
	ChatNoNull                                   // content is never null
	ChatNoLists                                  // content is a list of parts in a user's message only
	ChatNoEffortWithTools                        // no effort beside tools (OpenAI's 5.4)
	ChatNoThoughtWithTools                       // tools only with the effort none (OpenAI's 5.6 and later)
	ChatTextOnly                                 // no images
	ChatOneMaximum                               // max_tokens and max_completion_tokens not together
	ChatLongWithin200                            // a request that is too long is refused within an answer of status 200
)

// ChatQuirks are how a server's stream differs from what OpenAI documents.
type ChatQuirks uint

const (
	ChatNoIndex        ChatQuirks = 1 << iota // pieces of calls have no index
	ChatOneIndex                              // all calls have index 0, and differ in their ids
	ChatIndexFromOne                          // indexes begin at 1
	ChatWholeCalls                            // arguments come in one piece
	ChatSaysStop                              // the finish reason is stop also behind calls
	ChatUsageInChoice                         // usage stands in choices[0]
	ChatUsageNull                             // usage is null in all chunks but the last
	ChatCachedOnTop                           // cached_tokens stands beside prompt_tokens
	ChatCacheHits                             // prompt_cache_hit_tokens stands beside prompt_tokens
	ChatReasoningAside                        // completion_tokens do not count reasoning
	ChatFractions                             // numbers are fractions
	ChatNumericIDs                            // ids are numbers
	ChatContentList                           // content is a list of parts
	ChatObjectArgument                        // arguments are an object
	ChatComments                              // comment lines keep the connection alive
	ChatNoDone                                // [DONE] never comes
	ChatLateID                                // an id comes with the first piece only, then blank ones
)

// ChatOptions say how a server of chat completions is.
type ChatOptions struct {
	Server    string   // whose words and bodies of refusals it has: a name of the presets; "" is OpenAI's
	Key       string   // that must be sent; empty for none
	Models    []string // it knows; nil for any
	Limit     int64    // tokens of input and answer together; 0 for no limit
	MaxOutput int64    // the longest answer that may be asked for; 0 for any
	Rules     ChatRules
	Quirks    ChatQuirks

	// Reasoning is the field that reasoning is streamed in; empty for never. Details
	// streams OpenRouter's reasoning details besides.
	Reasoning string
	Details   bool

	// Takes are the parameters it takes beside model, messages, tools and stream.
	Takes []string
	// Starved breaks that many answers off with insufficient_system_resource.
	Starved int
}

// ChatServer is how the server of a preset is, as far as is known; any other name
// has what is common to all.
func ChatServer(name string) ChatOptions {
	takes := func(more ...string) []string { return append([]string{"stream_options", "tool_choice"}, more...) }
	o := ChatOptions{Server: name, Key: "sk-chat", Reasoning: "reasoning_content", Takes: takes("max_tokens", "reasoning_effort")}
	switch name {
	case "openai":
		o.Reasoning, o.Takes, o.Quirks = "", takes("max_completion_tokens", "reasoning_effort", "prompt_cache_key"), ChatUsageNull
		o.Rules = ChatNoLists | ChatNoThoughtWithTools
	case "deepseek":
		o.Takes = takes("max_tokens", "reasoning_effort", "thinking")
		o.Rules, o.Quirks = ChatReasoningWithCalls|ChatTextOnly|ChatNoLists, ChatComments|ChatCacheHits|ChatUsageNull
	case "xai":
		o.Takes, o.Quirks = takes("max_completion_tokens"), ChatWholeCalls|ChatReasoningAside|ChatFractions
	case "poe":
		o.Takes, o.Rules, o.Quirks = takes("max_completion_tokens", "reasoning_effort"), ChatNoLists, ChatSaysStop|ChatNoIndex|ChatLateID
	case "ark":
		o.Takes, o.Rules, o.Quirks = takes("max_tokens", "max_completion_tokens", "thinking"), ChatOneMaximum|ChatNoLists, ChatUsageNull
	case "openrouter":
		o.Reasoning, o.Details, o.Takes = "reasoning", true, takes("max_tokens", "reasoning")
		o.Rules, o.Quirks = ChatDetailsWithCalls, ChatComments|ChatSaysStop
	case "dashscope":
		o.Takes, o.Rules = takes("max_tokens", "enable_thinking", "thinking_budget", "preserve_thinking"), ChatNoLists
		o.Quirks = ChatUsageNull | ChatLateID
	case "moonshot":
		o.Takes = takes("max_completion_tokens", "reasoning_effort", "thinking", "prompt_cache_key")
		o.Rules, o.Quirks = ChatReasoningWithCalls|ChatReasoningFilled|ChatNoLists, ChatNoIndex|ChatUsageInChoice|ChatCachedOnTop
	case "workers-ai":
		o.Rules, o.Quirks = ChatNoNull|ChatNoLists, ChatSaysStop|ChatObjectArgument|ChatNumericIDs|ChatNoIndex
	case "custom":
		o.Quirks = ChatOneIndex | ChatNoDone
	case "lmstudio":
		o.Rules, o.Quirks = ChatAlternates|ChatLongWithin200, ChatNumericIDs
	case "vllm":
		o.Reasoning, o.Rules = "reasoning", ChatNoSystem
	case "llama.cpp":
		o.Rules, o.Quirks = ChatSystemFront, ChatFractions|ChatIndexFromOne
	}
	return o
}

// NewChat stands in for a server of chat completions that serves m.
func NewChat(m model.Model, o ChatOptions) *Strict {
	return &Strict{model: m, speak: &chatServer{o: o, given: map[string]chatThought{}}}
}

// chatServer speaks chat completions.
type chatServer struct {
	o ChatOptions

	mu      sync.Mutex
	given   map[string]chatThought // what was thought, by the id of each call and by the words of each answer
	answers int
	starved int
}

// chatThought is what a server gave out of what its model thought.
type chatThought struct {
	text    string
	details []any
}

func (s *chatServer) has(r ChatRules) bool    { return s.o.Rules&r != 0 }
func (s *chatServer) quirk(q ChatQuirks) bool { return s.o.Quirks&q != 0 }

func (s *chatServer) handles(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/chat/completions") && r.Method == http.MethodPost
}

func (s *chatServer) serve(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// remember keeps what was thought for an answer, under a key.
func (s *chatServer) remember(key string, t chatThought) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[key] = t
}

func (s *chatServer) recall(key string) (chatThought, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.given[key]
	return t, ok
}
