package openwebui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// relinkMessages gives a parent to messages that have lost theirs. An answer follows the last question
// before it, or, if it names another that is lost, the answer to that. In a conversation whose answers have lost their
// parents, a question without one follows the message before it; elsewhere it begins another branch.
func relinkMessages(messages map[string]message) map[string]message {
	orphans := map[string]bool{}
	for id, m := range messages {
		_, known := messages[m.Parent]
		orphans[id] = m.Parent == "" || !known || m.Parent == id
	}
	for _, m := range messages {
		for _, child := range m.Children {
			delete(orphans, child)
		}
	}
	maps.DeleteFunc(orphans, func(_ string, is bool) bool { return !is })
	order := slices.SortedFunc(maps.Keys(messages), func(a, b string) int {
		x := messages[a]
		y := messages[b]
		return cmp.Or(cmp.Compare(exported.SecondsToMillis(x.At), exported.SecondsToMillis(y.At)),
			cmp.Compare(messageRank(x), messageRank(y)),
			strings.Compare(a, b))
	})
	lost := false
	for id := range orphans {
		lost = lost || messages[id].Role == "assistant"
	}
	if !lost {
		return messages
	}
	out := maps.Clone(messages)
	asked := ""
	before := ""
	for _, id := range order {
		m := out[id]
		up := before
		if m.Role == "assistant" {
			up = cmp.Or(asked, before)
			if last := messages[before]; m.Parent != "" && last.Role == "assistant" && last.Parent != m.Parent {
				up = before // what it answers was asked behind that, and is lost
			}
		}
		if orphans[id] && up != "" {
			m.Parent = up
			out[id] = m
		}
		if before = id; m.Role == "user" {
			asked = id
		}
	}
	return out
}

// messageRank puts a question before an answer of the same second.
func messageRank(m message) int {
	if m.Role == "assistant" {
		return 1
	}
	return 0
}
