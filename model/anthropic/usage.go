package anthropic

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// count is a figure as servers write it: a number, perhaps with a fraction or as a
// text, null, or absent. What cannot be one counts as absent, and is odd where it was
// meant to be one.
type count struct {
	n   int64
	set bool
	odd bool
}

// UnmarshalJSON never fails: no answer is lost over its figures.
func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	switch {
	case err != nil && !math.IsInf(f, 0):
	case f >= 0 && f <= scrollback.MaxCallTokens:
		*c = count{n: int64(math.Round(f)), set: true}
	default:
		c.odd = true
	}
	return nil
}

// over is c if it is known, and else o.
func (c count) over(o count) count {
	if c.set {
		return c
	}
	return o
}

// usage is what an answer has consumed so far. Its figures count from the beginning
// of the answer, and any may be missing.
type usage struct {
	Input      count `json:"input_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
	Output     count `json:"output_tokens"`
	Details    struct {
		Thinking count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Iterations []iteration `json:"iterations"`

	odd bool // some figure cannot be
}

// iteration is one of several attempts at an answer.
type iteration struct {
	Type   string `json:"type"`
	Input  count  `json:"input_tokens"`
	Output count  `json:"output_tokens"`
}

// merge adds a later account, as far as it can be read.
func (u *usage) merge(raw json.RawMessage) {
	var later usage
	if !readable(json.Unmarshal(raw, &later)) {
		return
	}
	u.Input = later.Input.over(u.Input)
	u.Output = later.Output.over(u.Output)
	u.CacheRead = later.CacheRead.over(u.CacheRead)
	u.CacheWrite = later.CacheWrite.over(u.CacheWrite)
	u.Details.Thinking = later.Details.Thinking.over(u.Details.Thinking)
	for _, c := range []count{later.Input, later.CacheRead, later.CacheWrite, later.Output, later.Details.Thinking} {
		u.odd = u.odd || c.odd
	}
	if len(later.Iterations) > 0 {
		u.Iterations = later.Iterations
	}
	for _, it := range later.Iterations {
		u.odd = u.odd || it.Input.odd || it.Output.odd
	}
}

// with is what an answer has consumed together with those it goes on from.
func (u usage) with(before scrollback.Usage) scrollback.Usage {
	sum := before.Add(u.total())
	if u.odd {
		sum = sum.Doubted()
	}
	return sum
}

// total is the account in our words. Attempts at the answer are added up, except those of
// an adviser, which is another model; if another model gave the answer in the end, the
// figures beside them are already its own.
func (u usage) total() scrollback.Usage {
	in := u.Input.n
	out := u.Output.n
	var ins, outs int64
	own := 0
	elsewhere := false
	for _, it := range u.Iterations {
		switch it.Type {
		case "advisor_message":
			continue
		case "fallback_message":
			elsewhere = true
		}
		own += 1
		ins += it.Input.n
		outs += it.Output.n
	}
	if own > 0 && !elsewhere {
		in = ins
		out = outs
	}
	in += u.CacheRead.n + u.CacheWrite.n
	return scrollback.Usage{InputTokens: in, CachedTokens: u.CacheRead.n, CacheWriteTokens: u.CacheWrite.n,
		OutputTokens: out, ReasoningTokens: u.Details.Thinking.n, TotalTokens: in + out}
}
