package openai

import (
	"github.com/scrollback-ai/scrollback/wire"
)

// preserves reports whether the model must be asked to read reasoning it is sent back.
func (m *Model) preserves() bool { return m.d.preserve != "" && m.family(m.d.families...) }

// think says how much to think, in the server's own form.
func (m *Model) think(c *chat) {
	t := c.r.Thinking
	on := t.Wanted()
	if m.preserves() && m.d.preserve == "preserve_thinking" && c.may(m.d.preserve) {
		c.PreserveThinking = true
	}
	if m.d.thinking == thinkEffort {
		m.thinkEffort(c)
	}
	if on == nil {
		if m.preserves() && m.d.preserve == "thinking" && c.may(m.d.preserve) {
			c.Thinking = &wire.ThinkingWish{Type: "enabled", Keep: "all"} // as it is by itself
		}
		return
	}
	switch m.d.thinking {
	case thinkReasoning:
		if !c.may("reasoning") {
			return
		}
		c.Reasoning = &wire.ReasoningWish{Effort: t.Effort, MaxTokens: t.Budget}
		switch {
		case t.Budget > 0 && *on:
			c.Reasoning.Effort = "" // it takes one or the other
		case !*on || t.Effort == "":
			c.Reasoning = &wire.ReasoningWish{Enabled: on}
		case t.Effort == "max":
			c.Reasoning.Effort = "xhigh"
		}
	case thinkType:
		m.thinkType(c, *on)
	case thinkEnable:
		if c.may("enable_thinking") {
			c.EnableThinking = on
		}
		if n := t.Tokens(c.r.MaxOutputTokens); n > 0 && c.may("thinking_budget") {
			c.ThinkingBudget = n
		}
	case thinkEffort: // above
	}
}

// effortWithTools stands for a parameter that newer models of OpenAI refuse here:
// tools together with an effort, also when that is the model's own. Where it is
// dropped, a request with tools asks for no effort at all.
const effortWithTools = "function tools with reasoning_effort"

// thinkEffort names a level.
func (m *Model) thinkEffort(c *chat) {
	level := c.r.Thinking.Level("none", "minimal", "low", "medium", "high", "xhigh")
	if len(c.r.Tools) > 0 && !c.may(effortWithTools) {
		level = "none"
	}
	if level != "" && c.may("reasoning_effort") {
		c.ReasoningEffort = level
	}
}

// thinkType turns thinking on or off, and names a level to models that have some.
func (m *Model) thinkType(c *chat, on bool) {
	var levels []string
	byLevel := false // thinking is not turned on and off, but has a level
	switch {
	case m.family("deepseek-v4"):
		levels = []string{"high", "xhigh"}
	case m.family("kimi-k3"):
		levels = []string{"low", "high", "max"}
		byLevel = true
	case m.family("kimi-k2.7") && !on:
		return // it always thinks
	}
	if !byLevel && c.may("thinking") {
		c.Thinking = &wire.ThinkingWish{Type: "disabled"}
		if on {
			c.Thinking.Type = "enabled"
		}
		if on && m.preserves() {
			c.Thinking.Keep = "all"
		}
	}
	if levels == nil || !on && !byLevel {
		return
	}
	if level := c.r.Thinking.Level(levels...); level != "" && c.may("reasoning_effort") {
		if level == "xhigh" {
			level = "max" // what DeepSeek calls it
		}
		c.ReasoningEffort = level
	}
}
