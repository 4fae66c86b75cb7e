package request

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// AgentToolName is the name of the tool that starts sub-agents.
const AgentToolName = "agent"

// AgentTool defines the tool that starts sub-agents. Its bytes never change within a version.
func AgentTool() scrollback.Tool {
	return scrollback.Tool{
		Name: AgentToolName,
		Description: "Start a sub-agent: it works on one task in a conversation of its own, beside this one, and its last answer is the result. " +
			"It sees nothing of this conversation. Several calls at once work in parallel. Its whole work stays readable by the ref in the result.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"task":{"type":"string","description":"all it needs to know: what to do, what is known already, what to return"},` +
			`"title":{"type":"string","description":"a few words"},` +
			`"model":{"type":"string","description":"default: that of this conversation"},` +
			`"limit":{"type":"integer","minimum":2000,"description":"its window in tokens"},` +
			`"roots":{"type":"array","items":{"type":"string"},"description":"folders it may work in, out of those of this conversation; default: all of them"}},` +
			`"required":["task"]}`),
	}
}

// IsAgentCall reports whether a call by this name starts a sub-agent, and is not a call of a tool
// that the client of the conversation brings.
func IsAgentCall(c scrollback.Conversation, name string) bool {
	if name != AgentToolName {
		return false
	}
	for _, t := range c.Settings.Tools {
		if t.Name == AgentToolName {
			return false
		}
	}
	return true
}

// OffersAgents reports whether the model of a conversation is offered the tool, where sub-agents
// are allowed.
func OffersAgents(c scrollback.Conversation) bool {
	return c.Settings.Agents && IsAgentCall(c, AgentToolName)
}
