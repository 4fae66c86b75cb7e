package openai

import (
	"github.com/scrollback-ai/scrollback/internal/wire"
)

// mustPreserve reports whether the model must be asked to read reasoning it is sent back.
func (m *Model) mustPreserve() bool { return m.d.preserve != "" && m.isFamily(m.d.families...) }

// setThinking says how much to think, in the server's own form.
func (m *Model) setThinking(c *chatRequest) {
	t := c.r.Thinking
	on := t.IsWanted()
	if m.mustPreserve() && m.d.preserve == "preserve_thinking" && c.mayUse(m.d.preserve) {
		c.PreserveThinking = true
	}
	if m.d.thinking == thinkEffort {
		m.thinkEffort(c)
	}
	if on == nil {
		if m.mustPreserve() && m.d.preserve == "thinking" && c.mayUse(m.d.preserve) {
			c.Thinking = &wire.ThinkingWish{Type: "enabled", Keep: "all"} // as it is by itself
		}
		return
	}
	switch m.d.thinking {
	case thinkReasoning:
		if !c.mayUse("reasoning") {
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
		if c.mayUse("enable_thinking") {
			c.EnableThinking = on
		}
		if n := t.BudgetTokens(c.r.MaxOutputTokens); n > 0 && c.mayUse("thinking_budget") {
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
func (m *Model) thinkEffort(c *chatRequest) {
	level := c.r.Thinking.EffortLevel("none", "minimal", "low", "medium", "high", "xhigh")
	if len(c.r.Tools) > 0 && !c.mayUse(effortWithTools) {
		level = "none"
	}
	if level != "" && c.mayUse("reasoning_effort") {
		c.ReasoningEffort = level
	}
}

// thinkType turns thinking on or off, and names a level to models that have some.
func (m *Model) thinkType(c *chatRequest, on bool) {
	var levels []string
	byLevel := false // thinking is not turned on and off, but has a level
	switch {
	case m.isFamily("deepseek-v4"):
		levels = []string{"high", "xhigh"}
	case m.isFamily("kimi-k3"):
		levels = []string{"low", "high", "max"}
		byLevel = true
	case m.isFamily("kimi-k2.7") && !on:
		return // it always thinks
	}
	if !byLevel && c.mayUse("thinking") {
		c.Thinking = &wire.ThinkingWish{Type: "disabled"}
		if on {
			c.Thinking.Type = "enabled"
		}
		if on && m.mustPreserve() {
			c.Thinking.Keep = "all"
		}
	}
	if levels == nil || !on && !byLevel {
		return
	}
	if level := c.r.Thinking.EffortLevel(levels...); level != "" && c.mayUse("reasoning_effort") {
		if level == "xhigh" {
			level = "max" // what DeepSeek calls it
		}
		c.ReasoningEffort = level
	}
}
