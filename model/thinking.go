package model

import "github.com/scrollback-ai/scrollback"

// ThinkingClock measures how long a model thinks before it speaks: from its first
// thought, or where none is shown from the question. All times are Unix ms.
type ThinkingClock struct {
	Asked int64 // when the question was sent

	began, spoke int64
}

// NoteDelta notes a delta that came at a time.
func (c *ThinkingClock) NoteDelta(d Delta, now int64) {
	if d.Reasoning != "" && c.began == 0 {
		c.began = now
	}
	if (d.Text != "" || d.Call != nil || d.Finish != "") && c.spoke == 0 {
		c.spoke = now
	}
}

// ThoughtMS returns how long it thought, in ms: at least one if it thought at all.
func (c *ThinkingClock) ThoughtMS(u scrollback.Usage) int64 {
	switch {
	case c.began > 0:
		return max(c.spoke-c.began, 1)
	case u.ReasoningTokens > 0:
		return max(c.spoke-c.Asked, 1)
	}
	return 0
}
