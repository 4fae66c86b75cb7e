package anthropic

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// usageCount is a figure as servers write it: a number, perhaps with a fraction or as a
// text, null, or absent. What cannot be one counts as absent, and is odd where it was
// meant to be one.
type usageCount struct {
	n   int64
	set bool
	odd bool
}

// UnmarshalJSON never fails: no answer is lost over its figures.
func (c *usageCount) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	switch {
	case err != nil && !math.IsInf(f, 0):
	case f >= 0 && f <= scrollback.MaxCallTokens:
		*c = usageCount{n: int64(math.Round(f)), set: true}
	default:
		c.odd = true
	}
	return nil
}

// orElse returns c if it is known, and else o.
func (c usageCount) orElse(o usageCount) usageCount {
	if c.set {
		return c
	}
	return o
}

// answerUsage is what an answer has consumed so far. Its figures count from the beginning
// of the answer, and any may be missing.
type answerUsage struct {
	Input      usageCount `json:"input_tokens"`
	CacheRead  usageCount `json:"cache_read_input_tokens"`
	CacheWrite usageCount `json:"cache_creation_input_tokens"`
	Output     usageCount `json:"output_tokens"`
	Details    struct {
		Thinking usageCount `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Iterations []iteration `json:"iterations"`

	odd bool // some figure cannot be
}

// iteration is one of several attempts at an answer.
type iteration struct {
	Type   string     `json:"type"`
	Input  usageCount `json:"input_tokens"`
	Output usageCount `json:"output_tokens"`
}

// mergeReport adds a later account, as far as it can be read.
func (u *answerUsage) mergeReport(raw json.RawMessage) {
	var later answerUsage
	if !isReadable(json.Unmarshal(raw, &later)) {
		return
	}
	u.Input = later.Input.orElse(u.Input)
	u.Output = later.Output.orElse(u.Output)
	u.CacheRead = later.CacheRead.orElse(u.CacheRead)
	u.CacheWrite = later.CacheWrite.orElse(u.CacheWrite)
	u.Details.Thinking = later.Details.Thinking.orElse(u.Details.Thinking)
	for _, c := range []usageCount{later.Input, later.CacheRead, later.CacheWrite, later.Output, later.Details.Thinking} {
		u.odd = u.odd || c.odd
	}
	if len(later.Iterations) > 0 {
		u.Iterations = later.Iterations
	}
	for _, it := range later.Iterations {
		u.odd = u.odd || it.Input.odd || it.Output.odd
	}
}

// addEarlier returns what an answer has consumed together with those it goes on from.
func (u answerUsage) addEarlier(before scrollback.Usage) scrollback.Usage {
	sum := before.Add(u.totalUsage())
	if u.odd {
		sum = sum.Doubted()
	}
	return sum
}

// totalUsage returns the account in our words. Attempts at the answer are added up, except those of
// an adviser, which is another model; if another model gave the answer in the end, the
// figures beside them are already its own.
func (u answerUsage) totalUsage() scrollback.Usage {
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
