package anthropic

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// count is a figure as servers write it: a number, perhaps with a fraction or as a
// text, null, or absent. What cannot be one counts as absent.
type count struct {
	n   int64
	set bool
}

// maxCount bounds a figure; a greater one cannot be meant.
const maxCount = 1 << 40

// UnmarshalJSON never fails: no answer is lost over its figures.
func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && f >= 0 && f <= maxCount && !math.IsNaN(f) {
		*c = count{n: int64(math.Round(f)), set: true}
	}
	return nil
}

// over is c where it is known, and else o.
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
}

// iteration is one of several goes at an answer.
type iteration struct {
	Type   string `json:"type"`
	Input  count  `json:"input_tokens"`
	Output count  `json:"output_tokens"`
}

// merge takes in a later account, as far as it can be read.
func (u *usage) merge(raw json.RawMessage) {
	var later usage
	if !readable(json.Unmarshal(raw, &later)) {
		return
	}
	u.Input, u.Output = later.Input.over(u.Input), later.Output.over(u.Output)
	u.CacheRead, u.CacheWrite = later.CacheRead.over(u.CacheRead), later.CacheWrite.over(u.CacheWrite)
	u.Details.Thinking = later.Details.Thinking.over(u.Details.Thinking)
	if len(later.Iterations) > 0 {
		u.Iterations = later.Iterations
	}
}

// total is the account in our words. Goes at the answer are added up, but for those
// of an adviser, who is another model; where another model gave the answer in the
// end, the figures beside them are already its own.
func (u usage) total() scrollback.Usage {
	in, out := u.Input.n, u.Output.n
	var ins, outs int64
	own, elsewhere := 0, false
	for _, it := range u.Iterations {
		switch it.Type {
		case "advisor_message":
			continue
		case "fallback_message":
			elsewhere = true
		}
		own, ins, outs = own+1, ins+it.Input.n, outs+it.Output.n
	}
	if own > 0 && !elsewhere {
		in, out = ins, outs
	}
	in += u.CacheRead.n + u.CacheWrite.n
	return scrollback.Usage{InputTokens: in, CachedTokens: u.CacheRead.n, CacheWriteTokens: u.CacheWrite.n,
		OutputTokens: out, ReasoningTokens: u.Details.Thinking.n, TotalTokens: in + out}
}
