package gemini

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// family is what the name of a model says about it.
type family struct {
	gemma     bool
	version   float64 // 2.5; that of a name without one is the newest
	pro, lite bool
}

var versioned = regexp.MustCompile(`(?:gemini|gemma)-(\d+(?:\.\d+)?)`)

func familyOf(id string) family {
	id = strings.ToLower(id)
	f := family{gemma: strings.Contains(id, "gemma"), version: 99, pro: strings.Contains(id, "-pro"),
		lite: strings.Contains(id, "-lite")}
	if m := versioned.FindStringSubmatch(id); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			f.version = v
		}
	}
	return f
}

// signs says that a step's first call is refused without a signature.
func (f family) signs() bool { return !f.gemma && f.version >= 3 }

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

// think is the configuration of a request, or nil, and the parameters it holds.
func (f family) think(r model.Request, known scrollback.Learned) (*thinkingConfig, []string) {
	dropped := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return remote.Dropped(known, n) })
	}
	t := r.Thinking
	// neither thinks unless it is told to
	silent := f.gemma && t == (scrollback.Thinking{}) || f.lite && f.version < 3 && t == (scrollback.Thinking{})
	if f.version < 2.5 || f.gemma && f.version < 4 || silent || dropped(paramConfig, paramThinking) {
		return nil, nil
	}
	c := &thinkingConfig{}
	params := []string{paramConfig, paramThinking}
	if !t.Off() && !dropped(paramThoughts) {
		c.IncludeThoughts = true
		params = append(params, paramThoughts)
	}
	if f.version >= 3 {
		if level := t.Level(f.levels(known)...); level != "" && !dropped(paramLevel, wordsLevel) {
			c.ThinkingLevel = strings.ToUpper(level)
			params = append(params, paramLevel, wordsLevel, refusedLevel(level))
		}
	} else if n, ok := f.budget(t, remote.MaxOutput(r, known)); ok && !dropped(paramBudget, wordsBudget) {
		c.ThinkingBudget = &n
		params = append(params, paramBudget, wordsBudget)
	}
	if *c == (thinkingConfig{}) {
		return nil, nil
	}
	return c, params
}

// levels are those that a model is known to take: some refuse the least of them, which is
// learned.
func (f family) levels(known scrollback.Learned) []string {
	all := []string{"minimal", "low", "medium", "high"}
	return slices.DeleteFunc(all, func(l string) bool {
		return l == "minimal" && f.pro || remote.Dropped(known, refusedLevel(l))
	})
}

// refusedLevel is how a server names a level that it does not know.
func refusedLevel(level string) string { return wordsLevel + " " + level }

// budget is how many tokens to think, within what the model takes; -1 leaves the
// number to it.
func (f family) budget(t scrollback.Thinking, maxOutput int64) (n int64, ok bool) {
	least := int64(1)
	most := int64(24576)
	switch {
	case f.pro:
		least = 128
		most = 32768
	case f.lite:
		least = 512
	}
	wanted := t.Wanted()
	switch tokens := t.Tokens(maxOutput); {
	case t.Off() && f.pro: // it cannot be stopped
		return least, true
	case t.Off():
		return 0, true
	case tokens > 0:
		return min(max(tokens, least), most), true
	}
	return -1, wanted != nil
}
