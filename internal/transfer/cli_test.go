package transfer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// object is JSON as a program in JavaScript has it: numbers are doubles. Here keys lose
// their order too.
type object = map[string]any

// cli is a stand-in of Gemini CLI: it loads a session by the rules of release 0.61.0, sends
// it to its model, writes it again when it is resumed, and goes on with it.
type cli struct {
	file     strings.Builder
	header   object
	messages []object
	damaged  int // lines that the tool skips without a word
	said     int // records of its own so far
}

// loadCLI loads a session file; nil if the tool would find none in it.
func loadCLI(file string) *cli {
	s := &cli{header: object{}}
	s.file.WriteString(file)
	for line := range strings.Lines(file) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var rec object
		if json.Unmarshal([]byte(line), &rec) != nil {
			s.damaged++
			continue
		}
		s.line(rec)
	}
	if text(s.header["sessionId"]) == "" || text(s.header["projectHash"]) == "" {
		// What has no such header may be one document of the older form.
		var whole object
		if json.Unmarshal([]byte(file), &whole) != nil || whole["sessionId"] == nil {
			return nil
		}
		s.header = whole
		s.messages = nil
		s.all(whole["messages"])
	}
	delete(s.header, "messages")
	return s
}

func (s *cli) line(rec object) {
	set, isSet := rec["$set"].(object)
	switch {
	case text(rec["$rewindTo"]) != "":
		i := s.index(text(rec["$rewindTo"]))
		s.messages = s.messages[:max(i, 0)] // one that is unknown clears everything
	case text(rec["id"]) != "":
		s.put(rec)
	case isSet:
		if set["messages"] != nil {
			s.messages = nil
			s.all(set["messages"])
		}
		maps.Copy(s.header, set)
	case text(rec["sessionId"]) != "" && rec["projectHash"] != nil:
		maps.Copy(s.header, rec)
		s.all(rec["messages"])
	}
}

func (s *cli) all(list any) {
	for _, m := range items(list) {
		if m, ok := m.(object); ok && text(m["id"]) != "" {
			s.put(m)
		}
	}
}

func (s *cli) put(m object) {
	if i := s.index(text(m["id"])); i >= 0 {
		s.messages[i] = m
		return
	}
	s.messages = append(s.messages, m)
}

func (s *cli) index(id string) int {
	return slices.IndexFunc(s.messages, func(m object) bool { return text(m["id"]) == id })
}

func text(v any) string { s, _ := v.(string); return s }

func items(v any) []any { l, _ := v.([]any); return l }

// parts returns content as a list.
func parts(content any) []any {
	switch c := content.(type) {
	case string:
		return []any{object{"text": c}}
	case []any:
		return c
	}
	return []any{content}
}

// shown returns content as the tool judges it.
func shown(content any) string {
	var b strings.Builder
	for _, p := range parts(content) {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case object:
			if p["thought"] != nil || p["functionCall"] != nil || p["functionResponse"] != nil || p["inlineData"] != nil ||
				p["fileData"] != nil {
				b.WriteString("[part]")
			} else {
				b.WriteString(text(p["text"]))
			}
		}
	}
	return strings.TrimFunc(b.String(), func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// turn is what the tool sends its model of a record.
type turn struct {
	id, role string
	parts    []any
}

// history returns what the tool makes of the records.
func (s *cli) history() []turn {
	var out []turn
	for _, m := range s.messages {
		id := text(m["id"])
		switch m["type"] {
		case "user":
			words := shown(m["content"])
			if words != "" && !strings.HasPrefix(words, "/") && !strings.HasPrefix(words, "?") &&
				!strings.HasPrefix(words, "<session_context>") && !strings.HasPrefix(words, "<hook_context>") {
				out = append(out, turn{id, "user", parts(m["content"])})
			}
		case "gemini":
			said, results := s.reply(m)
			if len(said) == 0 {
				continue
			}
			out = append(out, turn{id, "model", said})
			if len(results) > 0 {
				out = append(out, turn{id + "_response", "user", results})
			}
		}
	}
	return out
}

func (s *cli) reply(m object) (said, results []any) {
	content := []any{}
	if m["content"] != nil && m["content"] != "" {
		content = parts(m["content"])
	}
	whole := slices.ContainsFunc(content, func(p any) bool {
		o, _ := p.(object)
		return o["functionCall"] != nil || o["thought"] == true
	})
	calls := items(m["toolCalls"])
	if whole {
		said = content
	} else {
		for _, t := range items(m["thoughts"]) {
			thought := t.(object)
			words := text(thought["description"])
			if subject := text(thought["subject"]); subject != "" {
				words = "**" + subject + "** " + words
			}
			said = append(said, object{"text": words, "thought": true})
		}
		said = append(said, content...)
		for _, c := range calls {
			call := c.(object)
			said = append(said, object{"functionCall": object{"id": call["id"], "name": call["name"], "args": call["args"]}})
		}
	}
	for _, c := range calls {
		call := c.(object)
		switch r := call["result"].(type) {
		case string:
			if r != "" {
				results = append(results, object{"functionResponse": object{"id": call["id"], "name": call["name"],
					"response": object{"output": r}}})
			}
		case []any:
			results = append(results, r...)
		case object:
			results = append(results, r)
		}
	}
	return said, results
}

// fault returns why a session of ours is no good to the tool: it loses records when it loads
// them, or its model's server refuses what it sends. It is empty if there is none.
func (s *cli) fault() string {
	if s.damaged > 0 {
		return fmt.Sprintf("%d lines cannot be read", s.damaged)
	}
	lines := strings.Count(s.file.String(), "\n")
	if lines != len(s.messages)+1 {
		return fmt.Sprintf("of %d lines %d are records", lines, len(s.messages))
	}
	kept := s.history()
	for _, m := range s.messages {
		if _, err := time.Parse(time.RFC3339, text(m["timestamp"])); err != nil || m["content"] == nil {
			return fmt.Sprintf("a record without time or content: %v", m)
		}
		own := strings.HasPrefix(shown(m["content"]), "<session_context>") && m["scrollback"] == nil
		if !own && !slices.ContainsFunc(kept, func(t turn) bool { return t.id == text(m["id"]) }) {
			return fmt.Sprintf("the tool drops %v", m)
		}
	}
	open := map[string]string{}
	role := ""
	for _, t := range kept {
		for _, p := range t.parts {
			part, ok := p.(object)
			if !ok || len(part) == 0 {
				return fmt.Sprintf("%s has the part %v", t.id, p)
			}
			if r, ok := part["functionResponse"].(object); ok {
				if name, waits := open[text(r["id"])]; t.role != "user" || !waits || name != text(r["name"]) {
					return fmt.Sprintf("%s answers %v, open are %v", t.id, r, open)
				}
				delete(open, text(r["id"]))
				continue
			}
			if part["thought"] == true {
				continue // it is not sent
			}
			if len(open) > 0 && role != t.role {
				return fmt.Sprintf("%s comes before the results of %v", t.id, open)
			}
			if c, ok := part["functionCall"].(object); ok {
				_, isObject := c["args"].(object)
				_, twice := open[text(c["id"])]
				if twice || !isObject || t.role != "model" || text(c["id"]) == "" || !callName.MatchString(text(c["name"])) {
					return fmt.Sprintf("%s calls %v, open are %v", t.id, c, open)
				}
				open[text(c["id"])] = text(c["name"])
			}
			role = t.role
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%v have no result", open)
	}
	return ""
}

// callName is what the server takes for the name of a function.
var callName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

func (s *cli) write(rec object) {
	b, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	s.file.Write(append(b, '\n'))
}

// at returns the time of the next record.
func (s *cli) at() string {
	s.said++
	return time.Date(2026, 12, 1, 0, 0, s.said, len(s.messages)*1e6, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// resume writes the session again as the tool does before it goes on: what was sent stands
// in each record, results in records of their own, and all results of a turn with each of
// its calls; what is not sent is gone.
func (s *cli) resume() {
	if !strings.HasSuffix(s.file.String(), "\n") { // a document of the older form becomes lines
		s.file.Reset()
		s.write(s.header)
		for _, m := range s.messages {
			s.write(m)
		}
	}
	s.write(object{"$set": object{"sessionId": s.header["sessionId"]}})
	context := object{"text": "<session_context>\nThis is the Gemini CLI."}
	history := append([]turn{{"d04923d38bb0f6017037e74183378ef4", "user", []any{context}}}, s.history()...)
	var now []object
	for _, t := range history {
		m := object{"id": t.id, "timestamp": s.at(), "type": map[string]string{"user": "user", "model": "gemini"}[t.role]}
		if i := s.index(t.id); i >= 0 {
			m = maps.Clone(s.messages[i])
		}
		m["content"] = t.parts
		now = append(now, m)
	}
	for _, t := range history {
		for _, p := range t.parts {
			r, ok := p.(object)["functionResponse"].(object)
			if !ok || t.role != "user" {
				continue
			}
			for i, m := range now { // the first record with a call of that id
				k := slices.IndexFunc(items(m["toolCalls"]), func(c any) bool { return c.(object)["id"] == r["id"] })
				if k < 0 {
					continue
				}
				calls := slices.Clone(items(m["toolCalls"]))
				call := maps.Clone(calls[k].(object))
				call["result"] = t.parts
				calls[k] = call
				now[i]["toolCalls"] = calls
				break
			}
		}
	}
	s.messages = now
	s.write(object{"$set": object{"messages": now, "lastUpdated": s.at()}})
}

func (s *cli) record(m object) {
	s.put(m)
	s.write(m)
	s.write(object{"$set": object{"lastUpdated": s.at()}})
}

// say returns a turn of the tool's own; with tools it calls two of them first. It returns the
// messages that this is.
func (s *cli) say(question string, tools bool) int {
	id := func() string { // as unique as the tool's own, also where a session was taken up at an earlier place
		return fmt.Sprintf("cli-%d-%d-%s", len(s.messages), s.said, question)
	}
	s.record(object{"id": id(), "timestamp": s.at(), "type": "user", "content": []any{object{"text": question}}})
	reply := func(words string) object {
		return object{"id": id(), "timestamp": s.at(), "type": "gemini", "content": words, "thoughts": []any{}, "tokens": nil,
			"model": "gemini-2.5-pro"}
	}
	if !tools {
		s.record(reply("answer to " + question))
		return 2
	}
	m := reply("")
	m["thoughts"] = []any{object{"subject": "Plan", "description": "look", "timestamp": s.at()}}
	s.record(m)
	m = maps.Clone(m)
	var calls, results []any
	for _, name := range []string{"glob", "read_file"} {
		call := fmt.Sprintf("%s__%d", name, s.said)
		result := object{"functionResponse": object{"id": call, "name": name, "response": object{"output": "out of " + call}}}
		results = append(results, result)
		calls = append(calls, object{"id": call, "name": name, "args": object{"n": 1.5}, "result": []any{result},
			"status":    "success",
			"timestamp": s.at(), "displayName": name, "description": ""})
	}
	m["toolCalls"] = calls
	s.put(m)
	s.write(m)
	s.record(object{"id": id(), "timestamp": s.at(), "type": "user", "content": results})
	s.record(reply("answer to " + question))
	return 4
}
