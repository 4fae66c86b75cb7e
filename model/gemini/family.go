package gemini

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// modelFamily is what the name of a model says about it.
type modelFamily struct {
	gemma     bool
	version   float64 // 2.5; that of a name without one is the newest
	pro, lite bool
}

var versioned = lazyregexp.New(`(?:gemini|gemma)-(\d+(?:\.\d+)?)`)

func parseFamily(id string) modelFamily {
	id = strings.ToLower(id)
	f := modelFamily{gemma: strings.Contains(id, "gemma"), version: 99, pro: strings.Contains(id, "-pro"),
		lite: strings.Contains(id, "-lite")}
	if m := versioned().FindStringSubmatch(id); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			f.version = v
		}
	}
	return f
}

// requiresSignature reports whether a step's first call is refused without a signature.
func (f modelFamily) requiresSignature() bool { return !f.gemma && f.version >= 3 }

// Parameters that a server may refuse, as its refusals name them.
const (
	paramConfig   = "thinkingConfig"
	paramThinking = "thinking"
	paramThoughts = "includeThoughts"
	paramLevel    = "thinkingLevel"
	wordsLevel    = "thinking level"
	paramBudget   = "thinkingBudget"
	wordsBudget   = "thinking budget"
	wordsCalling  = "function calling" // the tools
)

// thinkingConfig says how much to think: by a level from Gemini 3 on, by a budget
// before, never by both.
type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
	ThinkingBudget  *int64 `json:"thinkingBudget,omitempty"`
}

// thinkingConfig returns the configuration of a request, or nil, and the parameters it holds.
func (f modelFamily) thinkingConfig(r model.Request, known scrollback.Learned) (*thinkingConfig, []string) {
	dropped := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return remote.IsDropped(known, n) })
	}
	t := r.Thinking
	// neither thinks unless it is told to
	silent := f.gemma && t == (scrollback.Thinking{}) || f.lite && f.version < 3 && t == (scrollback.Thinking{})
	if f.version < 2.5 || f.gemma && f.version < 4 || silent || dropped(paramConfig, paramThinking) {
		return nil, nil
	}
	c := &thinkingConfig{}
	params := []string{paramConfig, paramThinking}
	if !t.IsOff() && !dropped(paramThoughts) {
		c.IncludeThoughts = true
		params = append(params, paramThoughts)
	}
	if f.version >= 3 {
		if level := t.EffortLevel(f.thinkingLevels(known)...); level != "" && !dropped(paramLevel, wordsLevel) {
			c.ThinkingLevel = strings.ToUpper(level)
			params = append(params, paramLevel, wordsLevel, refusedLevel(level))
		}
	} else if n, ok := f.thinkingBudget(t, remote.OutputLimit(r, known)); ok && !dropped(paramBudget, wordsBudget) {
		c.ThinkingBudget = &n
		params = append(params, paramBudget, wordsBudget)
	}
	if *c == (thinkingConfig{}) {
		return nil, nil
	}
	return c, params
}

// thinkingLevels returns those that a model is known to take: some refuse the least of them, which is
// learned.
func (f modelFamily) thinkingLevels(known scrollback.Learned) []string {
	all := []string{"minimal", "low", "medium", "high"}
	return slices.DeleteFunc(all, func(l string) bool {
		return l == "minimal" && f.pro || remote.IsDropped(known, refusedLevel(l))
	})
}

// refusedLevel returns how a server names a level that it does not know.
func refusedLevel(level string) string { return wordsLevel + " " + level }

// thinkingBudget returns how many tokens to think, within what the model takes; -1 leaves the
// number to it.
func (f modelFamily) thinkingBudget(t scrollback.Thinking, maxOutput int64) (n int64, ok bool) {
	least := int64(1)
	most := int64(24576)
	switch {
	case f.pro:
		least = 128
		most = 32768
	case f.lite:
		least = 512
	}
	wanted := t.IsWanted()
	switch tokens := t.BudgetTokens(maxOutput); {
	case t.IsOff() && f.pro: // it cannot be stopped
		return least, true
	case t.IsOff():
		return 0, true
	case tokens > 0:
		return min(max(tokens, least), most), true
	}
	return -1, wanted != nil
}
