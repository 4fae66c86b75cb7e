package scrollback

// Learned is what a model's server has taught about it, kept for that model in the
// store. Zero fields are unknown.
type Learned struct {
	// Factor is how many of the model's tokens correspond to one o200k token.
	Factor float64 `json:"factor,omitempty"`

	// Limit is the window that is served, in tokens, LimitFrom how it is known, and
	// LimitAt when it was learned (Unix ms).
	Limit     int64     `json:"limit,omitempty"`
	LimitFrom LimitFrom `json:"limit_from,omitempty"`
	LimitAt   int64     `json:"limit_at,omitempty"`
	// MaxOutput is the longest answer that may be requested, in tokens.
	MaxOutput int64 `json:"max_output,omitempty"`
	// ListedAt is when the server's list of models was last fetched (Unix ms).
	ListedAt int64 `json:"listed_at,omitempty"`

	// Dropped are the parameters that the server refuses, by their names in its protocol.
	Dropped []string `json:"dropped,omitempty"`
	// Strict is how strict the model's chat template was found to be.
	Strict Strictness `json:"strict,omitempty"`
	// MaxImages is how many images one request may have.
	MaxImages int `json:"max_images,omitempty"`
	// NoMedia are the media types of images that are refused, and NoImages stands for single
	// images that were, the last of them.
	NoMedia  []string `json:"no_media,omitempty"`
	NoImages []string `json:"no_images,omitempty"`
	// API is "chat" if the server supports nothing newer.
	API string `json:"api,omitempty"`
}

// LimitFrom is the source from which the window of a model is known.
type LimitFrom string

// How a window is known: from the request, from the server, from others.
const (
	LimitRequest      LimitFrom = "request"
	LimitConversation LimitFrom = "conversation"
	LimitProject      LimitFrom = "project" // what is stored of the conversation's project
	LimitFlag         LimitFrom = "flag"
	LimitConfig       LimitFrom = "config"  // what the configuration says about the model
	LimitList         LimitFrom = "list"    // the server's list of models
	LimitRefusal      LimitFrom = "refusal" // the server's own "too long"
	LimitCatalog      LimitFrom = "catalog"
	LimitAssumed      LimitFrom = "assumed"
)

// Strictness is what a model's chat template demands beyond its server's protocol.
type Strictness string

// The grades of strictness; each includes the one before.
const (
	StrictNothing  Strictness = ""
	StrictTurns    Strictness = "turns"     // user and assistant take turns, system text comes first
	StrictNoSystem Strictness = "no_system" // and no system messages at all
)
