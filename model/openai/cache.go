package openai

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
)

// layerEnds are the last messages of layers that later requests begin with too, by
// their places among the messages.
type layerEnds map[scrollback.Layer]int

// noteMessages records that a layer reaches to the last of the messages.
func (e layerEnds) noteMessages(layer scrollback.Layer, ms []wire.Message) {
	if n := len(ms); n > 0 && layer != scrollback.LayerRequestOnly {
		e[layer] = n - 1
	}
}

// markCache marks up to where a prompt may be cached, for models whose servers do not
// see it by themselves: the ends of instructions, of what was folded, of what was
// said before this turn, and of the prompt.
func (m *Model) markCache(c *chatRequest, e layerEnds) {
	name := strings.ToLower(m.at.Model)
	if !slices.ContainsFunc(m.d.marks, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		c.isDropped("cache_control") {
		return
	}
	for _, layer := range []scrollback.Layer{scrollback.LayerInstructions, scrollback.LayerPlaceholders,
		scrollback.LayerMessages, scrollback.LayerPrompt} {
		at, ok := e[layer]
		if !ok {
			continue
		}
		msg := &c.Messages[at]
		if n := len(msg.Content); n > 0 && msg.Content[n-1].Text != "" && msg.Role != string(scrollback.RoleAssistant) {
			msg.Content[n-1].CacheControl = &wire.CacheControl{Type: "ephemeral"}
		}
	}
	c.params = append(c.params, "cache_control")
}
