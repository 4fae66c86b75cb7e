package threading

import "strings"

// Dialect is the form of the API that a client speaks.
type Dialect string

// The dialects that clients speak.
const (
	Chat      Dialect = "chat"      // OpenAI's chat completions
	Responses Dialect = "responses" // OpenAI's responses
	Messages  Dialect = "messages"  // Anthropic's messages
	Gemini    Dialect = "gemini"    // Google's generateContent
	Ollama    Dialect = "ollama"    // Ollama's chat
)

// Role says whose an item is.
type Role string

// The roles of items. Developer messages have the role System.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind says what an item is.
type Kind string

// The kinds of items.
const (
	Text       Kind = "text"
	Call       Kind = "call"
	Result     Kind = "result"
	Image      Kind = "image" // or another file
	Thinking   Kind = "thinking"
	Compaction Kind = "compaction" // the item that stands for a history that we compacted
	Opaque     Kind = "opaque"     // anything else
)

// Item is a piece of a client's history, in its order.
type Item struct {
	Role Role
	Kind Kind
	// Text is what the item says: a text or a result as it is, the arguments of a call in canonical
	// JSON, and a hash or canonical JSON of anything else.
	Text string
	// Name is the tool of a call, and of a result where the client says it.
	Name string
	// ID is the id of a call, also on its result. It is empty where the dialect or the client has none.
	ID string
	// Message and Part say where the item stands in the client's list, both from 0.
	Message int
	Part    int
	// Media is what an image or another file was sent as, nil if that cannot be read.
	Media *Media
	// IsError says that a result is a failure.
	IsError bool

	normal *normalText // what it was found to be, if that is remembered
}

// Remember lets copies of an item share its normal form once that is known: it does not change any more.
func (it *Item) Remember() { it.normal = &normalText{} }

// Media is an image or another file as a client sent it: its bytes in base64, its text, or its address.
type Media struct {
	Type string // such as image/png; empty if the client did not say
	Name string
	Data string
	Text string
	URL  string
	ID   string // by which the server of the client's model knows it, where that has the bytes and we do not
}

// Source is a conversation that a client keeps in a file of its own: the tool and the id by which an import knows it.
type Source struct{ Tool, ID string }

// Request is what a client sent, in a form without a dialect.
type Request struct {
	Dialect Dialect
	Model   string
	// System has the instructions that stand apart from the history.
	System []string
	// Tools are the names of the tools that are offered.
	Tools []string
	Items []Item

	// Name is what the client calls the conversation, with a prefix that says where it was found. It is
	// empty if the client said nothing.
	Name string
	// Explicit says that Name came by our own header: it names one conversation, without lanes.
	Explicit bool
	// Weak says that conversations may share Name that have nothing else in common, as the key of a cache: it breaks
	// ties, and proves nothing.
	Weak bool
	// Parent is the name of the conversation that this one is a sub-agent of.
	Parent string
	// Declared is what the client says that the request is for, as "codex:turn" or "claude:auxiliary".
	Declared string
	// Source is what the client's own file of the conversation is known by; the zero value if that is not known.
	Source Source

	// Chain is the id of an answer of ours that the request goes on from.
	Chain string
	// Conversation is the id of a conversation at our face, to whose end the items are added.
	Conversation string
	// WarmUp asks for no answer.
	WarmUp bool
	// Compacts asks for a compaction item instead of an answer.
	Compacts bool

	// Body is a hash of everything that was sent, without what a client changes from try to try.
	Body Hash
}

// State says how far a request has come.
type State string

// The states of a request.
const (
	Running     State = "running"
	Finished    State = "finished"
	Interrupted State = "interrupted" // a part of an answer came
	Failed      State = "failed"      // nothing came
)

// Answer is what the client was sent. Look-ups of ours that it did not see are no part of it.
type Answer struct {
	// ID is the id of the answer at the face, by which a request can go on from it.
	ID    string
	Items []Item
	State State
	// Delivered says that this process wrote the end of the answer to its client.
	Delivered bool
}

// SetAddress sets where the media is: in a data: URL, or at an address.
func (m *Media) SetAddress(url string) {
	rest, inline := strings.CutPrefix(url, "data:")
	if !inline {
		m.URL = url
		return
	}
	head, data, _ := strings.Cut(rest, ",")
	m.Type = strings.TrimSuffix(head, ";base64")
	m.Data = data
}
