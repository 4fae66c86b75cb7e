package door

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
	"github.com/scrollback-ai/scrollback/model"
)

// readMessages returns the messages that are new in a request: the atoms that are, and what came with them that is
// compared to nothing, such as reminders. Those are messages of the system, for nobody said them: they stand before
// what a person said, and behind results, which follow their calls. Instructions at the head of the history are no
// message.
func readMessages(asked *threading.Request, m *threading.Match) []engine.ExchangeMessage {
	holds := map[int]int{} // the new atom that an item belongs to
	for n, a := range m.New {
		for i := a.First; i <= a.Last; i++ {
			holds[i] = n
		}
	}
	head := instructionsEnd(asked)
	summary := summaryAtoms(asked, m)
	places := map[messageKey]int{}
	var out []placedMessage
	for i, it := range asked.Items {
		atom, isNew := holds[i]
		if i < head || it.Kind == threading.Thinking || !isNew && (i < m.From || slices.Contains(m.Known, i)) {
			continue
		}
		role := scrollback.Role(it.Role)
		if !isNew && role == scrollback.RoleUser {
			role = scrollback.RoleSystem
		}
		isSummary := isNew && slices.Contains(summary, atom)
		key := messageKey{it.Message, role, isSummary}
		at, known := places[key]
		if !known {
			at = len(out)
			places[key] = at
			out = append(out, placedMessage{engine.ExchangeMessage{Message: scrollback.Message{Role: role},
				IsSummary: isSummary}, it.Message})
		}
		one := &out[at]
		if isNew && !slices.Contains(one.Atoms, atom) {
			one.Atoms = append(one.Atoms, atom)
		}
		part, bytes := readItem(it)
		if bytes != nil {
			if one.Attached == nil {
				one.Attached = map[int][]byte{}
			}
			one.Attached[len(one.Parts)] = bytes
		}
		one.Parts = append(one.Parts, part)
	}
	slices.SortStableFunc(out, func(a, b placedMessage) int {
		return cmp.Or(a.in-b.in, slices.Index(rolesInOrder, a.Role)-slices.Index(rolesInOrder, b.Role))
	})
	all := make([]engine.ExchangeMessage, len(out))
	for i, p := range out {
		all[i] = p.ExchangeMessage
	}
	return all
}

// summaryAtoms returns which of the new atoms are the summary by which the client has compacted its history: where the
// summary is an answer, the question before it too, which nobody asked. What only the server can read that made it is
// none here.
func summaryAtoms(asked *threading.Request, m *threading.Match) []int {
	if m.Compaction == nil {
		return nil
	}
	at := slices.IndexFunc(m.New, func(a threading.Atom) bool {
		return a.First <= m.Compaction.Quoted && m.Compaction.Quoted <= a.Last
	})
	if at < 0 {
		return nil
	}
	it := asked.Items[m.Compaction.Quoted]
	if _, ours := openSummary(it.Text); it.Kind != threading.Text && !(it.Kind == threading.Compaction && ours) {
		return nil
	}
	if it.Role == threading.Assistant && at == 1 && m.New[0].Role == threading.User {
		return []int{0, 1}
	}
	return []int{at}
}

// placedMessage is a message, and which of the client's it is of.
type placedMessage struct {
	engine.ExchangeMessage
	in int
}

// messageKey is what the items of one message have in common.
type messageKey struct {
	in        int
	role      scrollback.Role
	isSummary bool
}

// rolesInOrder is the order of what one message of a client holds.
var rolesInOrder = []scrollback.Role{scrollback.RoleTool, scrollback.RoleSystem, scrollback.RoleUser,
	scrollback.RoleAssistant}

// readItem returns an item as a part of a message, and the bytes of a file.
func readItem(it threading.Item) (scrollback.Part, []byte) {
	switch it.Kind {
	case threading.Call:
		return scrollback.ToolCall{ID: it.ID, Name: it.Name, Arguments: model.ParseArguments(it.Text)}, nil
	case threading.Result:
		return scrollback.ToolResult{CallID: it.ID, Name: it.Name, Text: it.Text, IsError: it.IsError}, nil
	case threading.Image:
		return readMedia(it)
	case threading.Compaction:
		if summary, ours := openSummary(it.Text); ours {
			return scrollback.Text{Text: summary}, nil
		}
		return scrollback.Text{Text: it.Text}, nil
	default:
		return scrollback.Text{Text: it.Text}, nil
	}
}

func readMedia(it threading.Item) (scrollback.Part, []byte) {
	m := it.Media
	if m == nil {
		return scrollback.Text{Text: "[a file that cannot be read]"}, nil
	}
	if m.Text != "" {
		return scrollback.Text{Text: m.Text}, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		bytes, _ = base64.RawStdEncoding.DecodeString(strings.TrimRight(m.Data, "=")) // as far as it can be read
	}
	kind := m.Type
	if kind == "" && len(bytes) > 0 {
		kind, _, _ = strings.Cut(http.DetectContentType(bytes), ";")
	}
	isImage := strings.HasPrefix(kind, "image/") || kind == "" && m.URL != ""
	switch {
	case len(bytes) == 0 && m.URL == "" && m.ID != "":
		return scrollback.Text{Text: "[the file " + m.ID + ", which only the server has that it was uploaded to]"}, nil
	case len(bytes) == 0 && m.URL == "":
		return scrollback.Text{Text: "[a file that cannot be read]"}, nil
	case len(bytes) == 0 && isImage:
		return scrollback.Image{URL: m.URL, Name: m.Name}, nil
	case len(bytes) == 0:
		return scrollback.Text{Text: "[a file at " + m.URL + "]"}, nil
	case isImage:
		return scrollback.Image{MediaType: kind, Name: m.Name}, bytes
	default:
		return scrollback.File{MediaType: kind, Name: m.Name}, bytes
	}
}

// instructionsEnd returns the first item of a history that is no instruction at its head.
func instructionsEnd(asked *threading.Request) int {
	for i, it := range asked.Items {
		if it.Role != threading.System {
			return i
		}
	}
	return len(asked.Items)
}

// readInstructions returns the instructions of a request: those that stand apart, and those at the head of its history.
func readInstructions(asked *threading.Request) string {
	all := slices.Clone(asked.System)
	for _, it := range asked.Items[:instructionsEnd(asked)] {
		all = append(all, it.Text)
	}
	return strings.Join(all, "\n\n")
}

// answerItems returns an answer as its client will send it again.
func answerItems(ps scrollback.Parts) (out []threading.Item) {
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, threading.Item{Role: threading.Assistant, Kind: threading.Text, Text: p.Text})
		case scrollback.ToolCall:
			out = append(out, threading.Item{Role: threading.Assistant, Kind: threading.Call, Name: p.Name, ID: p.ID,
				Text: dialect.CanonicalArguments(string(p.Arguments))})
		default:
		}
	}
	return out
}

// answerID returns the id of an answer at a face, from that of its turn.
func (r *Request) answerID(turn string) string {
	id := strings.ReplaceAll(turn, "-", "")
	switch r.Dialect {
	case threading.Chat:
		return "chatcmpl-" + id
	case threading.Responses:
		if r.Transient {
			return transientBegins + id
		}
		return "resp_" + id
	case threading.Messages:
		return "msg_" + id
	default:
		return id
	}
}

// options are what a request says besides its history.
type options struct {
	Tools    []scrollback.Tool
	Thinking scrollback.Thinking
}

// wireOptions are the fields that say so, of all dialects.
type wireOptions struct {
	Tools  []wireTool `json:"tools"`
	Effort string     `json:"reasoning_effort"`

	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Thinking struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"`
	Generation struct {
		Thinking struct {
			Budget *int64 `json:"thinkingBudget"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

// optionFields are the names of the fields of wireOptions.
var optionFields = []string{"tools", "reasoning_effort", "reasoning", "thinking", "generationConfig"}

// readOptions reads what a request says besides its history. What is of another type than it should be is as good as
// not there.
func readOptions(d threading.Dialect, body []byte) options {
	var w wireOptions
	for _, m := range splice.ListMembers(body) { // one by one: a field that cannot be read spoils no other
		if !slices.Contains(optionFields, m.Name) {
			continue
		}
		_ = json.Unmarshal([]byte(`{"`+m.Name+`":`+string(body[m.Value.From:m.Value.To])+`}`), &w)
	}
	out := options{Tools: readTools(d, w.Tools, body)}
	switch {
	case w.Effort != "":
		out.Thinking.Effort = w.Effort
	case w.Reasoning.Effort != "":
		out.Thinking.Effort = w.Reasoning.Effort
	case w.Thinking.Type == "disabled":
		off := false
		out.Thinking.On = &off
	case w.Thinking.Budget > 0:
		out.Thinking.Budget = w.Thinking.Budget
	case w.Generation.Thinking.Budget != nil && *w.Generation.Thinking.Budget > 0:
		out.Thinking.Budget = *w.Generation.Thinking.Budget
	}
	return out
}

// withModel returns a body that names a model as its server does. Where the path names it, the body is left alone.
func withModel(body []byte, name string) []byte {
	quoted, err := json.Marshal(name)
	if err != nil {
		return body // a text is always JSON: not reached
	}
	for _, m := range splice.ListMembers(body) {
		if m.Name == "model" && string(body[m.Value.From:m.Value.To]) != string(quoted) {
			return slices.Concat(body[:m.Value.From], quoted, body[m.Value.To:])
		}
	}
	return body
}

// passed are the beginnings of the headers of dialects, which go on to a server of the same one.
var passed = []string{"Anthropic-", "Openai-", "X-Goog-", "X-Stainless-", "X-Codex-", "X-Claude-"}

// passHeader returns the headers of a request that go on to the model's server: those of its dialect, but for what lets
// in.
func passHeader(h http.Header) map[string][]string {
	out := map[string][]string{}
	for name, values := range h {
		if slices.ContainsFunc(passed, func(begin string) bool { return strings.HasPrefix(name, begin) }) &&
			name != "X-Goog-Api-Key" {
			out[name] = values
		}
	}
	return out
}

// credential returns what the client brings to be let in at its provider; nil if that is nothing, or a key of ours.
func (r *Request) credential() *model.Credential {
	if r.OwnCredential {
		return nil
	}
	names := []string{"Authorization"}
	switch r.Dialect {
	case threading.Messages:
		names = []string{"Authorization", "X-Api-Key"}
	case threading.Gemini:
		names = []string{"X-Goog-Api-Key"}
	default:
	}
	for _, name := range names {
		if v := r.Header.Get(name); v != "" && strings.TrimPrefix(v, "Bearer ") != Placeholder {
			return &model.Credential{Name: name, Value: v}
		}
	}
	return nil
}
