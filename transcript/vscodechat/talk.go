package vscodechat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// session is what a file says of its session.
type session struct {
	ID       string            `json:"sessionId"`
	Title    string            `json:"customTitle"`
	Created  float64           `json:"creationDate"`
	Newest   float64           `json:"lastMessageDate"`
	Model    string            `json:"responderUsername"`
	Requests []json.RawMessage `json:"requests"`
}

// request is a prompt with all that answers it.
type request struct {
	ID        string            `json:"requestId"`
	Message   json.RawMessage   `json:"message"`
	Response  []json.RawMessage `json:"response"`
	Model     string            `json:"modelId"`
	Timestamp float64           `json:"timestamp"`
	Canceled  bool              `json:"isCanceled"`
	Prompt    sessionlog.Count  `json:"promptTokens"`
	Answer    sessionlog.Count  `json:"completionTokens"`
	Result    *result           `json:"result"`
	Variables struct {
		List []struct {
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"variables"`
	} `json:"variableData"`
}

// result is how a request ended.
type result struct {
	Error *struct {
		Message string `json:"message"`
	} `json:"errorDetails"`
	Metadata struct {
		Rounds  []round                    `json:"toolCallRounds"`
		Results map[string]json.RawMessage `json:"toolCallResults"`
		Model   string                     `json:"resolvedModel"`
		Prompt  sessionlog.Count           `json:"promptTokens"`
		Answer  sessionlog.Count           `json:"outputTokens"`
	} `json:"metadata"`
}

// round is one call of a model within a request.
type round struct {
	Response string `json:"response"`
	Thinking struct {
		Text json.RawMessage `json:"text"`
	} `json:"thinking"`
	Calls []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// piece is one of what an answer shows.
type piece struct {
	Kind    string          `json:"kind"`
	Value   json.RawMessage `json:"value"`
	Content struct {
		Value string `json:"value"`
	} `json:"content"`
	Call      string          `json:"toolCallId"`
	Tool      string          `json:"toolId"`
	Asked     json.RawMessage `json:"invocationMessage"`
	Done      json.RawMessage `json:"pastTenseMessage"`
	Complete  bool            `json:"isComplete"`
	Reference struct {
		Name string `json:"name"`
		Path string `json:"path"`
		URI  struct {
			Path string `json:"path"`
		} `json:"uri"`
	} `json:"inlineReference"`
}

// talkReader is a session while it is read.
type talkReader struct {
	*sessionlog.Talk
	live  bool
	asked string
}

func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	state := readState(f.Records)
	raw, err := json.Marshal(state.root)
	var s session
	if err != nil || exported.DecodeJSON(raw, &s) != nil {
		return nil
	}
	id := cmp.Or(sessionlog.CleanWord(s.ID), exportID(s.Requests), f.ID)
	r := &talkReader{Talk: &sessionlog.Talk{ID: id}, live: f.Live}
	for _, t := range state.taken {
		list, err := json.Marshal(t.list)
		var requests []json.RawMessage
		if err != nil || json.Unmarshal(list, &requests) != nil || t.before > len(s.Requests) {
			continue
		}
		r.addRequests(requests, idOf(s.Requests, t.before-1), t.line, false)
	}
	r.addRequests(s.Requests, "", state.last, true)
	r.About.Title = sessionlog.FirstLine(cmp.Or(s.Title, r.asked))
	r.About.CreatedAt = exported.SecondsToMillis(s.Created)
	r.About.UpdatedAt = max(r.About.UpdatedAt, exported.SecondsToMillis(s.Newest), r.About.CreatedAt)
	r.Folder = workFolder(f)
	return []*sessionlog.Talk{r.Talk}
}

// exportID returns the id of a chat that was exported, which has none: that of its first request.
func exportID(list []json.RawMessage) string {
	if len(list) == 0 {
		return ""
	}
	var q request
	_ = exported.DecodeJSON(list[0], &q) // what is of another type is not there
	return sessionlog.CleanWord(q.ID)
}

// idOf returns the id of the last node of a request of a list; empty before the first.
func idOf(list []json.RawMessage, i int) string {
	if i < 0 || i >= len(list) {
		return ""
	}
	var q request
	_ = exported.DecodeJSON(list[i], &q) // what is of another type is not there
	return requestID(&q, list[i]) + answerMark
}

// answerMark ends the id of the node that answers a request.
const answerMark = "/answer"

// requestID returns the id of a request; one without gets a hash of what was asked.
func requestID(q *request, raw json.RawMessage) string {
	return cmp.Or(q.ID, "request-"+exported.HashValues(string(q.Message), q.Timestamp))
}

// addRequests adds requests, one behind the other, the first behind a node. The last of those that a session ends
// with may still be answered.
func (r *talkReader) addRequests(list []json.RawMessage, parent string, line int, last bool) {
	for i, raw := range list {
		var q request
		if exported.DecodeJSON(raw, &q) != nil {
			r.CountLeft("request of another shape")
			continue
		}
		id := requestID(&q, raw)
		at := exported.SecondsToMillis(q.Timestamp)
		asked := transcript.Entry{Line: line, Message: scrollback.Message{ID: scrollback.MessageID(id),
			Role: scrollback.RoleUser, CreatedAt: at}}
		sessionlog.AddText(&asked, promptText(q.Message))
		for _, v := range q.Variables.List {
			if v.Kind == "file" || v.Kind == "image" {
				exported.MentionMissing(&asked, v.Kind, sessionlog.CleanWord(v.Name), "not kept by the tool")
			}
		}
		r.asked = cmp.Or(r.asked, asked.Message.Parts.Text())
		r.About.UpdatedAt = max(r.About.UpdatedAt, at)
		node := tree.Node{ID: id, Parent: parent}
		if sessionlog.Says(asked) {
			node.Entries = []transcript.Entry{asked}
		}
		answer := tree.Node{ID: id + answerMark, Parent: id}
		if last && i == len(list)-1 && r.live && q.Result == nil {
			r.Held = true
		} else {
			answer.Entries = r.answerEntries(&q, id, at, line)
		}
		r.Nodes = append(r.Nodes, node, answer)
		parent = answer.ID
	}
	if last {
		r.Leaf = parent
	}
}

// promptText returns what was asked: a text, or an object that has one.
func promptText(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) {
		return text
	}
	var m struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &m) // what is of another type is not there
	return m.Text
}

// answerEntries returns the messages of an answer: by its rounds if the file has them, else by what it shows.
func (r *talkReader) answerEntries(q *request, id string, at int64, line int) []transcript.Entry {
	p := &exported.Pieces{ID: id + answerMark, Role: scrollback.RoleAssistant, At: at}
	model := strings.TrimPrefix(q.Model, "copilot/")
	status := scrollback.Status("")
	var failed string
	if q.Result != nil {
		model = cmp.Or(q.Result.Metadata.Model, model)
		if q.Result.Error != nil {
			status = scrollback.StatusFailed
			failed = q.Result.Error.Message
		}
	}
	if q.Canceled {
		status = scrollback.StatusInterrupted
	}
	if q.Result != nil && saysSomething(q.Result.Metadata.Rounds) {
		r.addRounds(p, q.Result)
	} else {
		r.addPieces(p, q.Response)
	}
	if len(p.Entries) == 0 {
		p.AddText(failed)
	}
	if len(p.Entries) == 0 {
		return nil
	}
	r.About.Model = cmp.Or(model, r.About.Model)
	p.FinishMessage(model, status, nil)
	r.countUsage(p, q)
	for i := range p.Entries {
		p.Entries[i].Line = line
	}
	return p.Entries
}

// countUsage puts what a request used on its last answer.
func (r *talkReader) countUsage(p *exported.Pieces, q *request) {
	used := sessionlog.Tokens{Input: q.Prompt, Output: q.Answer}
	if q.Result != nil {
		used.Input = cmp.Or(used.Input, q.Result.Metadata.Prompt)
		used.Output = cmp.Or(used.Output, q.Result.Metadata.Answer)
	}
	for i := len(p.Entries) - 1; i >= 0; i-- {
		if m := &p.Entries[i].Message; m.Role == scrollback.RoleAssistant {
			m.Usage = used.Usage()
			return
		}
	}
}

func saysSomething(rounds []round) bool {
	for _, one := range rounds {
		if strings.TrimSpace(one.Response) != "" || len(one.Calls) > 0 {
			return true
		}
	}
	return false
}

// addRounds adds what a model said and called in each round, with what its tools returned.
func (r *talkReader) addRounds(p *exported.Pieces, of *result) {
	for i, one := range of.Metadata.Rounds {
		p.AddReasoning(wordsOf(one.Thinking.Text))
		p.AddText(one.Response)
		var ids []string
		for k, c := range one.Calls {
			id := cmp.Or(c.ID, fmt.Sprintf("%s#%d.%d", p.ID, i, k))
			p.AddCall(id, c.Name, exported.CallArguments(c.Arguments, "input"))
			ids = append(ids, id)
		}
		for _, id := range ids {
			if text, ok := resultText(of.Metadata.Results[id]); ok {
				p.AddResult(id, "", text, false)
			}
		}
	}
}

// wordsOf returns a text, or several of a list.
func wordsOf(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) {
		return text
	}
	var list []string
	_ = json.Unmarshal(raw, &list) // none if it is no list
	return strings.Join(list, "\n")
}

// resultText returns what a tool returned, and whether the file has it.
func resultText(raw json.RawMessage) (string, bool) {
	var said struct {
		Content []struct {
			Value json.RawMessage `json:"value"`
		} `json:"content"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &said) != nil {
		return "", false
	}
	var out []string
	for _, c := range said.Content {
		var text string
		if exported.DecodeField(c.Value, &text) {
			out = append(out, text)
			continue
		}
		var b strings.Builder
		collectTexts(&b, c.Value, maxNested)
		out = append(out, b.String())
	}
	return strings.Join(out, "\n"), true
}

// maxNested bounds the nodes in one another of what a tool returned.
const maxNested = 200

// collectTexts adds the texts of a node that a prompt was made of, in order.
func collectTexts(b *strings.Builder, raw json.RawMessage, depth int) {
	var n struct {
		Node     json.RawMessage   `json:"node"`
		Text     string            `json:"text"`
		Children []json.RawMessage `json:"children"`
	}
	if depth == 0 || json.Unmarshal(raw, &n) != nil {
		return
	}
	b.WriteString(n.Text)
	if n.Node != nil {
		collectTexts(b, n.Node, depth-1)
	}
	for _, c := range n.Children {
		collectTexts(b, c, depth-1)
	}
}

// addPieces adds what an answer shows.
func (r *talkReader) addPieces(p *exported.Pieces, list []json.RawMessage) {
	var text strings.Builder
	flush := func() {
		p.AddText(text.String())
		text.Reset()
	}
	for i, raw := range list {
		var s piece
		_ = exported.DecodeJSON(raw, &s) // what is of another type is not there
		switch s.Kind {
		case "", "markdownContent", "markdownVuln":
			text.WriteString(cmp.Or(wordsOf(s.Value), s.Content.Value))
		case "inlineReference":
			text.WriteString(cmp.Or(s.Reference.Name, s.Reference.Path, s.Reference.URI.Path))
		case "thinking":
			flush()
			p.AddReasoning(wordsOf(s.Value))
		case "toolInvocationSerialized", "toolInvocation":
			flush()
			id := cmp.Or(s.Call, fmt.Sprintf("%s#%d", p.ID, i))
			p.AddCall(id, s.Tool, exported.CallArguments([]byte(transcript.MarshalObject(shownText(s.Asked))), "shown"))
			if done := shownText(s.Done); s.Complete || done != "" {
				p.AnswerNewest(done, false)
			}
		default:
			r.CountLeft(s.Kind)
		}
	}
	flush()
}

// shownText returns a text that is shown: bare, or an object's value.
func shownText(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) {
		return text
	}
	var s struct {
		Value string `json:"value"`
	}
	_ = json.Unmarshal(raw, &s) // what is of another type is not there
	return s.Value
}
