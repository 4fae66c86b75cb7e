// Package model defines what the engine needs from a language model: items of a
// window in, deltas out.
//
// Words it adds: request (one step's input), delta (a piece of the output), answer (all
// of the output, while it is written).
//
// A stream yields deltas in the order the model wrote them and ends with exactly
// one delta that has a Finish reason; a stream that ends without one was cut
// off. An error ends the stream. Retries, if any, happen before the first delta
// only. Stopping the iteration or ending the context stops the model.
//
// Errors are *scrollback.Error: unavailable wrapping scrollback.ErrUpstream for
// a provider that fails, rate_limited, refused, over_budget, canceled. Any other error, and a
// panic, of a model of one's own becomes an unavailable one with its words; see [GuardStream].
//
// It may not know the store, conversations, HTTP or any one provider.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Model streams replies to requests. It is safe for concurrent use.
type Model interface {
	// Facts returns what is known about the model beforehand. It does no I/O.
	Facts() Facts

	// Stream asks for the next assistant message.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Facts describes a model. Limit and MaxOutput are tokens; 0 means unknown.
type Facts struct {
	Name      string // as a conversation names it: "provider/name", or "offline"
	Limit     int64
	MaxOutput int64
	Dialect   scrollback.Dialect

	// NoSummaries says that it cannot write a summary, so there is no need to ask.
	NoSummaries bool

	// Searches says that its server can search the web by itself, and SearchesAlone that
	// it does so only in requests without tools: there they are left out.
	Searches, SearchesAlone bool

	// Unready is why it cannot be asked as things are, such as a key that is missing; nil if
	// it can. The rest of its facts holds all the same.
	Unready error

	// APIs are those that requests can be forwarded to it in.
	APIs []string

	// Here says that it runs on this machine, and Offline that it is no language model at
	// all: it only quotes what was said.
	Here, Offline bool
}

// WebSearch is what a model's server is said to refuse that cannot search the web, by the
// name of the parameter in lessons.
const WebSearch = "web_search"

// Request is the input of one step. An item of kind KindTools carries no parts:
// the definitions are in Tools.
type Request struct {
	Items           []scrollback.Item
	Tools           []scrollback.Tool
	Limit           int64 // the window in tokens that the request was planned for; 0 if unknown
	MaxOutputTokens int64
	AnswerOnly      bool // tools stay defined, and must not be called any more
	Thinking        scrollback.Thinking
	WebSearch       bool // the server may search the web for it, if its Facts say that it can

	// CacheKey is the same for all requests of one conversation, so that a provider
	// may send them where its prompt cache is; empty for none.
	CacheKey string
	// Learned is what the model's server has taught so far.
	Learned scrollback.Learned
	// Bounds are those of the reply; zero fields are the defaults.
	Bounds Bounds

	// Bytes reads an image of the items. Nil means that none can be shown.
	Bytes func(ctx context.Context, id scrollback.ArtifactID) ([]byte, error)

	// NoRetries says that the one who asked tries again: a request that fails is not sent a second time, unless
	// its refusal taught how to change it.
	NoRetries bool

	// Forward, if not nil, is sent instead of what all the other fields but Bounds say. Its API is one of the model's.
	Forward *Forward
}

// ParseArguments makes whole arguments of what a model wrote for a call: the JSON
// object itself, well-formed, {} for nothing, and anything else inside an object, so that the
// tool can say what is wrong with it.
func ParseArguments(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return json.RawMessage("{}")
	case text[0] == '{' && json.Valid([]byte(text)):
		return scrollback.WellFormed(json.RawMessage(text))
	}
	wrapped, err := plainjson.Marshal(map[string]string{"malformed_arguments": text})
	if err != nil {
		return json.RawMessage("{}") // a text is always JSON: not reached
	}
	return wrapped
}

// Delta is a piece of a reply; any of its fields may be set. A Call is whole.
// Opaque belongs to the text, reasoning or call of the same delta, and ends its
// part; alone it belongs to the part that is being written, or if there is none it is a
// separate part: reasoning that is not shown. End ends the part that is being written, so
// that what follows is another one, even if it is of the same kind. Usage counts the whole request so far; the last one
// counts.
type Delta struct {
	Text      string
	Reasoning string
	Call      *scrollback.ToolCall
	Opaque    scrollback.Opaque
	End       bool
	Usage     *scrollback.Usage
	Credits   *Credits
	Search    *scrollback.Search // of the web, by the model's server; one with the same query takes its place
	RequestID string
	Finish    string // scrollback.FinishStop, FinishToolCalls, FinishLength, …

	// Lesson is something to be kept of the model's server. It may come before a
	// request is tried again.
	Lesson *Lesson
}

// Credits is the cost of a call according to the provider, in its own currency.
type Credits struct {
	Amount   float64
	Currency string
}

// IsContent reports whether the delta carries content of the reply: after one, a request
// is not tried again.
func (d Delta) IsContent() bool {
	return d.Text != "" || d.Reasoning != "" || d.Call != nil || d.Opaque != nil || d.Finish != ""
}

// Offerer is a model whose server says which models it serves, as a person names them here:
// "provider/name as the server knows it".
type Offerer interface {
	OfferedModels(ctx context.Context) ([]string, error)
}

// Lister is a model whose server reports the size of its windows. It
// returns zeros for what the server does not say.
type Lister interface {
	List(ctx context.Context) (limit, maxOutput int64, err error)
}
