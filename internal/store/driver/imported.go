package driver

import "github.com/scrollback-ai/scrollback"

// ImportedCall is the usage of a call of a model that another tool made, as the tool's files have it.
type ImportedCall struct {
	scrollback.Usage
	Conversation scrollback.ConversationID
	// Call tells the call from all others, whatever conversation they are of: files copy the beginning of
	// each other, and are imported again.
	Call    string
	Project string
	Tool    string
	Model   string
	At      int64 // Unix ms
}

// CallWindow is how long before and after an imported call one of this program's own may be booked that is the same
// call, in ms: it went through this program, and its answer is in the tool's files too.
const CallWindow = 10 * 60_000

// IsSameCall reports whether a record of an own call is that of an imported one: the provider counted as many tokens of
// each kind, at about the same time.
func (c ImportedCall) IsSameCall(r scrollback.UsageRecord) bool {
	return !r.Estimated && r.Purpose == "turn" && c.OutputTokens > 0 && r.OutputTokens == c.OutputTokens &&
		r.InputTokens == c.InputTokens && r.CachedTokens == c.CachedTokens &&
		r.At >= c.At-CallWindow && r.At <= c.At+CallWindow
}

// AddImported adds an imported call to the sums of its tool, if it is one that the query asks for.
func (p *UsageSums) AddImported(c ImportedCall) {
	p.add(scrollback.UsageRecord{Usage: c.Usage, Conversation: c.Conversation, Model: c.Model,
		Purpose: scrollback.PurposeImported, At: c.At}, c.Project, c.Tool)
}
