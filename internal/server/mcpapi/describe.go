package mcpapi

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// Tools of this face, beside the recall tools.
const (
	readTool          = scrollback.RecallPrefix + "read"
	searchTool        = scrollback.RecallPrefix + "search"
	listTool          = scrollback.RecallPrefix + "list"
	conversationsTool = scrollback.RecallPrefix + "conversations"
	messagesTool      = scrollback.RecallPrefix + "messages"
)

// toolDescription is what a client is told about a tool. Clients with many tools look for
// the right one by the words of its title and description, and so these say what a
// person would ask for. Params describes each parameter; Least is the least value of
// those that are integers. Output describes the fields of a result.
type toolDescription struct {
	title, text string
	params      map[string]string
	least       map[string]int
	output      string
}

// refForms says what may stand for a ref.
const refForms = "history:<id> or artifact:<id>, as context_list and context_search give it, " +
	"or the numbers of messages of the conversation as it is now: #392 or #392-#410"

// describe is what is said about each tool.
var describe = map[string]toolDescription{
	conversationsTool: {
		title: "Find past conversations",
		text: "List or find past conversations (chat history, earlier sessions) of any tool by title, project and folder: first those about the folder you work in, " +
			"then the most recently changed, with id, title, number of messages, dates, tool and git branch. To find one by what was said in it, use context_search without a conversation.",
		params: map[string]string{"query": "words that the title holds, or the beginning of an id; without it, all conversations",
			"project": "only conversations of this project",
			"folder":  "only conversations about this folder (absolute) or below it", "limit": "how many conversations",
			"cursor": "next of the page before"},
		least: map[string]int{"limit": 1},
		output: `"conversations":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},` +
			`"project":{"type":"string"},"messages":{"type":"integer"},"created":{"type":"string"},"updated":{"type":"string"},` +
			`"tool":{"type":"string","description":"that it was imported from"},"folder":{"type":"string"},"git_branch":{"type":"string"}},` +
			`"required":["id","title","project","messages","created","updated"]}},` +
			`"next":{"type":"string","description":"cursor of the next page"},"note":{"type":"string"}},"required":["conversations"]`,
	},
	messagesTool: {
		title: "Read messages of a conversation",
		text: "Read the messages of a past conversation (transcript, chat history) as they were said: the newest ones, or those before or after a message. " +
			"Reads every message, compacted or not; a long one is read to its end by seq and offset.",
		params: map[string]string{"branch": "an abandoned branch, as a hit names it",
			"before": "the newest messages before this seq", "after": "the messages after this seq; 0 is the beginning",
			"seq": "only this message", "offset": "characters of its text to skip, with seq; next_offset of the page before",
			"limit": "how many messages"},
		least: map[string]int{"before": 2, "after": 0, "seq": 1, "offset": 0, "limit": 1},
		output: `"conversation_id":{"type":"string"},"title":{"type":"string"},"total":{"type":"integer","description":"messages of the conversation"},` +
			`"messages":{"type":"array","description":"oldest first","items":{"type":"object","properties":{"seq":{"type":"integer"},` +
			`"role":{"type":"string"},"name":{"type":"string"},"date":{"type":"string"},"status":{"type":"string"},"text":{"type":"string"},` +
			`"next_offset":{"type":"integer","description":"the text goes on here: call again with seq and this offset"}},` +
			`"required":["seq","role","date","text"]}},` +
			`"turns":{"type":"array","description":"turns without a stored answer: running, cut off or failed","items":{"type":"object","properties":{` +
			`"after_seq":{"type":"integer","description":"the message behind which it stands"},"state":{"type":"string"},` +
			`"text":{"type":"string","description":"what was said so far"},"error":{"type":"string"}},"required":["after_seq","state"]}},"before":{"type":"integer","description":"for the page before this one"},` +
			`"after":{"type":"integer","description":"for the page after this one"}},"required":["conversation_id","title","total","messages"]`,
	},
	searchTool: {
		title: "Search past messages",
		text: "Search everything that was said in past conversations (chat history, memory of earlier sessions) by words, names and dates, best first. " +
			"Without a conversation it searches all of them, whichever tool they were in, first those about the folder you work in, and says where each hit is. " +
			"Read the original around a hit with context_read.",
		params: map[string]string{"folder": "the folder you work in, absolute, if the server does not know it",
			"query": `words to look for; "quoted" ones count for more, and must occur if there are no others; role:user, after:2026-03-01, before:2026-04 or on:2026-03-05 narrow it`,
			"limit": "how many hits", "role": "only messages of this role",
			"around": "neighbouring messages on each side of the best three hits",
			"order":  "relevance: the best first; time: the same hits, the oldest first"},
		least: map[string]int{"limit": 1, "around": 0},
		output: `"hits":{"type":"array","items":{"type":"object","properties":{"conversation_id":{"type":"string","description":"if not the one searched"},` +
			`"seq":{"type":"integer"},"role":{"type":"string"},"date":{"type":"string"},"content":{"type":"string"},` +
			`"tool":{"type":"string","description":"that it was said in, if it was imported"},"folder":{"type":"string"},"git_branch":{"type":"string"},` +
			`"abandoned_branch":{"type":"string","description":"the branch it is on, if the conversation went on another way"},` +
			`"ref":{"type":"string","description":"where it is read if it is compacted"},"before":{"type":"array","items":{"type":"object"}},` +
			`"after":{"type":"array","items":{"type":"object"}}},"required":["seq","role","date","content"]}},` +
			`"truncated":{"type":"boolean","description":"more messages matched than were considered"},"note":{"type":"string"}},"required":["hits"]`,
	},
	listTool: {
		title: "List compacted parts and files",
		text: "List the refs of a conversation: what lies behind its compacted history, big tool outputs and files. One line each: " +
			"ref, messages, date, size and what it holds; first what stands for the history now, then artifacts, then older parts. " +
			"Messages that are not compacted have no ref: read them with context_messages.",
		params: map[string]string{"kind": "history: compacted messages; artifact: big outputs and files; without it, both",
			"limit":  "how many refs",
			"cursor": "next of the page before"},
		least: map[string]int{"limit": 1},
		output: `"year":{"type":"integer","description":"of all dates, unless they name their own"},"refs":{"type":"array","items":{"type":"string"}},` +
			`"next":{"type":"string","description":"cursor of the next page"}},"required":["refs"]`,
	},
	readTool: {
		title: "Read an original",
		text: "Read the original behind a ref, page by page: compacted messages word for word, a whole tool output, a file; " +
			"or messages by their numbers, compacted or not. " +
			"With a seq instead of a ref: that message and those around it, as a hit of context_search names it.",
		params: map[string]string{"ref": refForms,
			"seq": "the message to open, instead of a ref", "branch": "with seq: an abandoned branch, as a hit names it",
			"offset": "bytes to skip; next_offset of the page before", "limit": "bytes to read"},
		least: map[string]int{"offset": 0, "limit": 1, "seq": 1},
		output: `"conversation_id":{"type":"string"},"seq":{"type":"integer"},"ref":{"type":"string"},"offset":{"type":"integer"},"next_offset":{"type":"integer"},"done":{"type":"boolean"},` +
			`"content":{"type":"string"},"bytes":{"type":"integer","description":"of the whole"}},` +
			`"required":["content"]`,
	},
	scrollback.RecallPrefix + "tail": {
		title: "Read the end of an original",
		text:  "Read the last lines of the original behind a ref: the end of a log, of a tool output, of compacted messages.",
		params: map[string]string{"ref": refForms,
			"lines": "how many lines"},
		least:  map[string]int{"lines": 1},
		output: `"ref":{"type":"string"},"lines":{"type":"integer"},"content":{"type":"string"}},"required":["ref","lines","content"]`,
	},
	scrollback.RecallPrefix + "kept": {
		title: "List what is kept word for word",
		text: "List what people said in a past conversation that still stands (preferences, standing instructions, open to-dos), word for word, " +
			"with the number of its message. People change this list; here it is only read.",
		params: map[string]string{"all": "true to list what no longer stands too: done, withdrawn or dropped",
			"cursor": "next of the page before"},
		output: `"kept":{"type":"array","items":{"type":"object","properties":{"kind":{"type":"string"},"seq":{"type":"integer"},` +
			`"text":{"type":"string"},"state":{"type":"string","description":"of what no longer stands"}},"required":["kind","seq","text"]}},` +
			`"next":{"type":"string","description":"cursor of the next page"}},"required":["kept"]`,
	},
	scrollback.RecallPrefix + "grep": {
		title: "Find lines by regular expression",
		text: "Find the lines that match a regular expression in a whole past conversation, compacted parts and big tool outputs included, " +
			"behind one ref, or in messages by their numbers; with the true number of matches.",
		params: map[string]string{"ref": "look only behind this ref, or in these messages: #392-#410", "pattern": "regular expression (RE2)",
			"max_results":   "how many matches to return",
			"context_lines": "lines around each match", "case_sensitive": "true to match case"},
		least: map[string]int{"max_results": 1, "context_lines": 0},
		output: `"total":{"type":"integer"},"partial":{"type":"boolean","description":"not everything could be searched"},` +
			`"unread":{"type":"array","items":{"type":"string"}},"matches":{"type":"array","items":{"type":"object","properties":{` +
			`"ref":{"type":["string","null"]},"seq":{"type":"integer"},"line":{"type":"integer"},"content":{"type":"string"},` +
			`"before":{"type":"array","items":{"type":"string"}},"after":{"type":"array","items":{"type":"string"}}},` +
			`"required":["ref","line","content"]}}},"required":["total","matches"]`,
	},
}

// faceTools are those that only this face has, with the shapes of their parameters.
var faceTools = []scrollback.Tool{
	{Name: conversationsTool,
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"project":{"type":"string"},` +
			`"folder":{"type":"string"},"limit":{"type":"integer","maximum":100,"default":20},"cursor":{"type":"string"}}}`)},
	{Name: messagesTool,
		Parameters: json.RawMessage(`{"type":"object","properties":{"branch":{"type":"string"},"before":{"type":"integer"},"after":{"type":"integer"},` +
			`"seq":{"type":"integer"},"offset":{"type":"integer","default":0},"limit":{"type":"integer","maximum":100,"default":20}}}`)},
}

// listTools returns all tools of this server: of one conversation there is no list.
func (f *mcpFace) listTools() []scrollback.Tool {
	all := slices.Concat(faceTools, recall.Tools())
	return slices.DeleteFunc(all, func(t scrollback.Tool) bool { return f.only != "" && t.Name == conversationsTool })
}

// toolSchema returns the schema of a tool's parameters as this server wants it: the conversation
// is named unless there is only one, and that is all there is to a search's scope.
func (f *mcpFace) toolSchema(t scrollback.Tool) json.RawMessage {
	var schema struct {
		Type       string                    `json:"type"`
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required,omitempty"`
		Additional bool                      `json:"additionalProperties"`
	}
	panicOnError(t.Name, json.Unmarshal(t.Parameters, &schema))
	delete(schema.Properties, "scope")
	text := func() map[string]any { return map[string]any{"type": "string"} }
	switch {
	case t.Name == readTool:
		schema.Properties["seq"] = map[string]any{"type": "integer"}
		schema.Properties["branch"] = text()
		schema.Required = nil
	case t.Name == searchTool && f.only == "":
		schema.Properties["folder"] = text()
	}
	about := describe[t.Name]
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		schema.Properties[name]["description"] = about.params[name]
		if least, ok := about.least[name]; ok {
			schema.Properties[name]["minimum"] = least
		}
	}
	if f.only == "" && t.Name != conversationsTool {
		schema.Properties["conversation"] = map[string]any{"type": "string",
			"description": "id of the conversation, the beginning of one, or latest"}
		if t.Name != searchTool {
			schema.Required = append([]string{"conversation"}, schema.Required...)
		}
	}
	b, err := json.Marshal(schema)
	panicOnError(t.Name, err)
	return b
}

// outputSchema returns the schema of a tool's results.
func outputSchema(name string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + describe[name].output + `}`)
}

// panicOnError panics over a definition of our own that is wrong.
func panicOnError(name string, err error) {
	if err != nil {
		panic("mcpapi: " + name + ": " + err.Error())
	}
}
