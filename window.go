package scrollback

// Layer names one of the layers of a window, most stable first.
type Layer string

// The layers in the order they are sent.
const (
	LayerInstructions Layer = "instructions"
	LayerEnvironment  Layer = "environment"
	LayerSummary      Layer = "summary"
	LayerPlaceholders Layer = "placeholders" // sent with the summary as one fenced message
	LayerMessages     Layer = "messages"
	LayerPrompt       Layer = "prompt"
	LayerRequestOnly  Layer = "request_only"
)

// Layers lists the layers in the order they are sent.
func Layers() []Layer {
	return []Layer{LayerInstructions, LayerEnvironment, LayerSummary, LayerPlaceholders,
		LayerMessages, LayerPrompt, LayerRequestOnly}
}

// ItemKind is the kind of an item of a window.
type ItemKind string

// The kinds of item.
const (
	KindInstructions ItemKind = "instructions"
	KindTools        ItemKind = "tools" // definitions; the item carries no parts
	KindEnvironment  ItemKind = "environment"
	KindFolded       ItemKind = "folded"          // all of layer 3; Holds lists what is in it
	KindSummary      ItemKind = "summary"         // inside a folded item
	KindPlaceholder  ItemKind = "placeholder"     // inside a folded item
	KindAck          ItemKind = "acknowledgement" // only where a dialect must alternate
	KindMessage      ItemKind = "message"
	KindRepair       ItemKind = "repair" // stands for what the log lacks
	KindRequestOnly  ItemKind = "request_only"
	KindPin          ItemKind = "pin" // in a manifest: a folded message that a person wants in sight
)

// Item is one thing a window sends. Seq is the message it shows, or 0. Holds
// lists the summary and the placeholders inside a folded item, and Joins what a turn is
// made of where several messages are sent as one.
type Item struct {
	Kind   ItemKind
	Layer  Layer
	Role   Role
	Seq    int64
	Name   string
	Model  string // who made the parts; opaque payloads go back only to it
	Parts  Parts
	Weight Weight
	Holds  []Hold
	Joins  []Join
}

// Hold is a summary or a placeholder within a folded item. Bytes is how much of the item's
// text is its own; the holds follow each other in it, behind what opens the block.
type Hold struct {
	Kind     ItemKind
	Ref      Ref
	FirstSeq int64
	LastSeq  int64
	Tokens   int64
	Bytes    int
}

// Join is one of the messages that are sent as one turn, and how many of the item's parts
// are its own: they follow each other unless the dialect has results in the order of their
// calls.
type Join struct {
	Kind   ItemKind
	Layer  Layer
	Seq    int64
	Parts  int
	Weight Weight
}

// Budget is what a window may weigh. Limit is the model's window in tokens and
// Reserve what is kept for the answer; Weight is what remains, in tokens, bytes
// and images.
type Budget struct {
	Limit   int64
	Reserve int64
	Weight
}

// Window is what one step sends to a model: items in order, and the tools it
// may call. Excluded says what the log holds that the window does not show.
type Window struct {
	Items    []Item
	Tools    []Tool
	Budget   Budget
	Weight   Weight
	Excluded []Excluded
	Pinned   []int64 // folded messages that it shows because a person wants them in sight
}

// Excluded is a run of messages that a window leaves out, where to read it, and
// why: "folded", "invalid" (an empty or failed reply), "unfinished" (an
// interrupted reply that is being requested again), "pinned, and no room" (a folded
// message whose pin exceeds the share for pins), [ExcludedLeftOut], or [ExcludedNotCompacted].
type Excluded struct {
	FirstSeq int64  `json:"first_seq"`
	LastSeq  int64  `json:"last_seq"`
	Ref      *Ref   `json:"ref"`
	Reason   string `json:"reason"`
}

// Reasons of [Excluded]: of messages that a person left out, and of imported ones that are neither compacted yet nor
// among the newest that fit.
const (
	ExcludedLeftOut      = "left_out"
	ExcludedNotCompacted = "not_compacted"
)

// SeqRange is the messages of a path from one seq to another.
type SeqRange struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// KeptApart is kept sentences that still stand and have no room in a window: how many, and where they are read.
type KeptApart struct {
	Sentences int `json:"sentences"`
	Ref       Ref `json:"ref"`
}

// Manifest accounts for a window: what was sent, what was left out and why.
// Budget and Tokens are tokens. CacheReuse is the share of this request's
// tokens, 0 to 1, at its beginning that are the same as in the request before, and Reused
// the same in tokens. CompactsAt is the weight at which the policy compacts before a
// request; 0 if it never does because of tokens.
//
// Of a draft, Draft is what it weighs, Compacts what sending it would compact, nil for
// nothing, and Over by how much the request exceeds the budget. Of a step that was sent,
// Step counts from 1, and Partial says that what is shown is not exactly what was sent:
// something that it was made from is not known any more. Items are there on request.
type Manifest struct {
	ConversationID ConversationID  `json:"conversation_id"`
	Model          string          `json:"model"`
	Policy         string          `json:"policy"`
	Limit          int64           `json:"limit"`
	LimitFrom      LimitFrom       `json:"limit_from"`
	Budget         int64           `json:"budget"`
	Tokens         int64           `json:"tokens"`
	Bytes          int64           `json:"bytes"`
	Images         int64           `json:"images"`
	CacheReuse     float64         `json:"cache_reuse"`
	Layers         []ManifestLayer `json:"layers"`
	Excluded       []Excluded      `json:"excluded"`
	KeptApart      []KeptApart     `json:"kept_apart,omitempty"`
	Inherited      []Inherited     `json:"inherited,omitempty"`
	CompactsAt     int64           `json:"compacts_at"`
	Reused         int64           `json:"reused"`
	Draft          int64           `json:"draft,omitempty"`
	Over           int64           `json:"over"`
	Compacts       *Foreseen       `json:"compacts,omitempty"`
	Step           int             `json:"step,omitempty"`
	SentAt         int64           `json:"sent_at,omitempty"`
	Partial        bool            `json:"partial,omitempty"`
	Forwarded      bool            `json:"forwarded,omitempty"` // it went on as its client wrote it
	Items          []ContextItem   `json:"items,omitempty"`
}

// Foreseen is a compaction that a request would cause. TokensAfter is the window's by the lines
// that are kept without a model. Beside says that the request fits and does not wait for it;
// More that others follow before the request is sent.
type Foreseen struct {
	FirstSeq     int64 `json:"first_seq"`
	LastSeq      int64 `json:"last_seq"`
	Messages     int64 `json:"messages"`
	TokensBefore int64 `json:"tokens_before"`
	TokensAfter  int64 `json:"tokens_after"`
	Beside       bool  `json:"beside,omitempty"`
	More         bool  `json:"more,omitempty"`
}

// ContextItem is a piece of a request with what the model reads. A text of which only the ends
// are sent has a [Cut]. Joined says that the next item is in the same message of the request.
type ContextItem struct {
	Layer   Layer    `json:"layer"`
	Kind    ItemKind `json:"kind"`
	Role    Role     `json:"role,omitempty"`
	Seq     int64    `json:"seq,omitempty"`
	LastSeq int64    `json:"last_seq,omitempty"`
	Ref     Ref      `json:"ref,omitempty"`
	Name    string   `json:"name,omitempty"`
	Tokens  int64    `json:"tokens"`
	Draft   bool     `json:"draft,omitempty"`
	Joined  bool     `json:"joined_with_next,omitempty"`
	Parts   Parts    `json:"parts"`
	Tools   []Tool   `json:"tools,omitempty"`
}

// ManifestLayer is one layer of a manifest.
type ManifestLayer struct {
	Name   Layer          `json:"name"`
	Tokens int64          `json:"tokens"`
	Items  []ManifestItem `json:"items"`
}

// ManifestItem is one item of a layer. LastSeq is the last message that a summary or a
// placeholder covers, or the last of a run of messages that the item stands for.
type ManifestItem struct {
	Kind    ItemKind `json:"kind"`
	Seq     int64    `json:"seq,omitempty"`
	LastSeq int64    `json:"last_seq,omitempty"`
	Ref     Ref      `json:"ref,omitempty"`
	Tokens  int64    `json:"tokens"`
	Draft   bool     `json:"draft,omitempty"`

	References []ManifestReference `json:"references,omitempty"`
}

// ManifestReference is what a message refers to, and what that weighs of its Tokens.
type ManifestReference struct {
	Source  string `json:"source"`
	Version int    `json:"version,omitempty"`
	SameAs  int64  `json:"same_as,omitempty"` // it is unchanged, and in this message
	Error   string `json:"error,omitempty"`
	Tokens  int64  `json:"tokens"`
}

// WindowMark identifies the bytes a request began with, so that the next one can
// tell how much of it a provider's prompt cache still holds. Items and Tokens
// count the marked prefix; Hash is of its bytes. Layers marks the prefixes that
// end with each layer.
type WindowMark struct {
	Items  int         `json:"items"`
	Tokens int64       `json:"tokens"`
	Hash   string      `json:"hash"`
	Layers []LayerMark `json:"layers,omitempty"`
	// Sent is the account of the request, without its list of items: only in turns that are
	// older than the accounts of steps.
	Sent *Manifest `json:"sent,omitempty"`
}

// LayerMark is the prefix of a request that ends with a layer.
type LayerMark struct {
	Items  int    `json:"items"`
	Tokens int64  `json:"tokens"`
	Hash   string `json:"hash"`
}

// Dialect is what a provider's protocol demands of a window, as facts for the rules
// of package window, which has one for each provider. The zero value demands
// only what all of them do. A pattern is a regular expression; an empty one allows
// anything.
type Dialect struct {
	Name            string // as the guide has it: openai, anthropic or gemini
	Alternates      bool   // user and assistant take turns, the user first and last; system text comes before them
	ResultsAlone    bool   // results are a user turn of their own, in the order and by the names of their calls
	NoBlank         bool   // no text of white space only
	UniqueIDs       bool   // no call id occurs twice in a window
	ObjectArguments bool   // arguments are a JSON object
	SignedReasoning bool   // no reasoning without its payload
	BoundReasoning  bool   // no reasoning once anything that stood before it has changed
	NoSystem        bool   // no system items at all

	CallID      string // pattern of a call's id
	CallName    string // pattern of a call's name, unless the request defines a tool of that name
	SpeakerName string // pattern of the name of who speaks

	ImageURLs     bool   // images at addresses are fetched
	ImageTypes    string // media types of images, separated by spaces; empty allows any
	MaxImageBytes int64  // of one image; 0 for no separate bound
	MaxImageSide  int    // pixels of one image; 0 for no bound
}
