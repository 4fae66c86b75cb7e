package ollama

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// level is what is dropped by a model that can think, and knows no levels of it.
const level = "think.level"

// thinkField returns the field of that name: a level where an effort or a budget is asked
// for, else whether to think, and nil to leave it to the model. A model of the
// gpt-oss family takes levels only, and cannot be kept from thinking: it is asked
// for the least.
func (m *Model) thinkField(t scrollback.Thinking, known scrollback.Learned) any {
	wanted := t.IsWanted()
	if wanted == nil || remote.IsDropped(known, "think") {
		return nil
	}
	name := m.at.Model[strings.LastIndexByte(m.at.Model, '/')+1:]
	switch levelled := strings.HasPrefix(strings.ToLower(name), "gpt-oss"); {
	case !*wanted && levelled && !remote.IsDropped(known, level):
		return "low"
	case !*wanted:
		return false
	case remote.IsDropped(known, level):
		return true
	}
	if l := t.EffortLevel("low", "medium", "high"); l != "" {
		return l
	}
	return true
}
