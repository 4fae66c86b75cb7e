package codex

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// metered is what is known of what calls of the model have used.
type metered struct {
	records bool              // calls have records of their own
	total   usage             // of the thread, as it was told last
	known   bool              // it was told
	pending *scrollback.Usage // of an answer that comes
	spare   *scrollback.Usage // of what a model said to compact its window
}

// usage is what calls have used, as the tool counts it.
type usage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Written   int64 `json:"cache_write_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
	Total     int64 `json:"total_tokens"`
}

// own is the usage as we count it, or nil if nothing was used.
func (u usage) own() *scrollback.Usage {
	in := func(n int64) int64 { return max(0, min(n, scrollback.MaxCallTokens)) }
	if u.Input <= 0 && u.Output <= 0 {
		return nil
	}
	return &scrollback.Usage{InputTokens: in(u.Input), CachedTokens: in(u.Cached), CacheWriteTokens: in(u.Written),
		OutputTokens: in(u.Output), ReasoningTokens: in(u.Reasoning), TotalTokens: in(u.Total)}
}

// record takes the record of a call, which comes after what the call said.
func (t *teller) record(l *line) error {
	var v struct {
		Usage usage `json:"usage"`
	}
	if err := json.Unmarshal(l.payload, &v); err != nil {
		return err
	}
	t.records, t.pending = true, nil
	if u := v.Usage.own(); u != nil && !t.used(u) {
		t.spare = u
	}
	return nil
}

// count takes the count of a thread, in which that of the last call is: it comes after what
// the call said, or, in some versions, before; and it is repeated.
func (t *teller) count(raw json.RawMessage) {
	var v struct {
		Info *struct {
			Total usage `json:"total_token_usage"`
			Last  usage `json:"last_token_usage"`
		} `json:"info"`
	}
	if t.records || json.Unmarshal(raw, &v) != nil {
		return
	}
	if v.Info == nil {
		t.known = false
		return
	}
	if t.known && t.total == v.Info.Total {
		return
	}
	t.known, t.total = true, v.Info.Total
	if u := v.Info.Last.own(); u != nil && !t.used(u) {
		t.pending, t.spare = u, u
	}
}

// used gives the newest answer of the turn what its call used, if that is not known yet.
func (t *teller) used(u *scrollback.Usage) bool {
	if t.answer != nil && t.answer.usage == nil {
		t.answer.usage = u
		t.close()
		return true
	}
	if t.last >= 0 && t.talk.nodes[t.last].entry.Message.Usage == nil {
		t.talk.nodes[t.last].entry.Message.Usage = u
		return true
	}
	return false
}
