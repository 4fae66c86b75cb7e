package codex

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// messagePiece is a part with its bytes.
type messagePiece struct {
	scrollback.Part
	data []byte
}

// marker is what the tool writes before an image, with its name or path.
var marker = lazyregexp.New(`^<image(?: name=\[?([^\]>]*?)\]?)?(?: path="([^"]*)")?>$`)

// readContent reads what a message holds. only says of each element whether it counts; nil
// counts all. Marks around images are not text.
func (t *threadBuilder) readContent(raw json.RawMessage, only []bool) (out []messagePiece) {
	var list []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
		Refus string          `json:"refusal"`
	}
	if json.Unmarshal(raw, &list) != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return []messagePiece{{Part: scrollback.Text{Text: text}}}
		}
		return nil
	}
	name := ""
	for i, c := range list {
		if only != nil && !only[i] {
			continue
		}
		switch c.Type {
		case "input_text", "output_text", "text":
			m := marker().FindStringSubmatch(c.Text)
			switch {
			case m != nil && i+1 < len(list) && list[i+1].Type == "input_image":
				name = m[1]
				if m[2] != "" {
					name = path.Base(strings.ReplaceAll(m[2], `\`, "/"))
				}
			case c.Text == "</image>" && i > 0 && list[i-1].Type == "input_image":
			case c.Text != "":
				out = append(out, messagePiece{Part: scrollback.Text{Text: c.Text}})
			}
		case "refusal":
			out = append(out, messagePiece{Part: scrollback.Text{Text: c.Refus}})
		case "input_image":
			var url string
			_ = json.Unmarshal(c.Image, &url) // another form has no address
			if p, ok := readImage(url, name); ok {
				out = append(out, p)
			} else {
				t.countLeft("image")
			}
			name = ""
		default:
			t.countLeft("unknown")
		}
	}
	return out
}

// readImage returns the image at an address, which may hold it.
func readImage(url, name string) (messagePiece, bool) {
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return messagePiece{Part: scrollback.Image{URL: url, Name: name}}, true
	}
	rest, ok := strings.CutPrefix(url, "data:")
	kind, text, ok2 := strings.Cut(rest, ",")
	kind, ok3 := strings.CutSuffix(kind, ";base64")
	if !ok || !ok2 || !ok3 {
		return messagePiece{}, false
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(data) == 0 {
		return messagePiece{}, false
	}
	kind, _, _ = strings.Cut(kind, ";")
	return messagePiece{scrollback.Image{MediaType: kind, Name: name, Size: int64(len(data))}, data}, true
}

// takeUser takes a message in the role of a person. Newer versions say of each element who
// wrote it; in older ones an event repeats what a person said, and what looks as if the
// harness had put it in is not talk without one.
func (t *threadBuilder) takeUser(l *line, it item) {
	kinds := it.Said.Kinds
	told := len(it.Said.Items) > 0 || len(kinds) > 0
	var only []bool
	any := false
	for i := range max(len(it.Said.Items), len(kinds)) {
		typed := i < len(kinds) && strings.HasPrefix(kinds[i], "user.")
		if i < len(it.Said.Items) && it.Said.Items[i].Provenance.Type != "" {
			typed = it.Said.Items[i].Provenance.Type == "user"
		}
		only = append(only, typed)
		any = any || typed
	}
	if told && !any {
		t.takeSurroundings(it)
		t.countLeft("reminder")
		return
	}
	pieces := t.readContent(it.Content, countedElements(only, it))
	n := l.newMessage(it.ID, scrollback.RoleUser, nil)
	n.typed = true
	for _, p := range pieces {
		n.addPiece(p)
	}
	text := n.entry.Message.Parts.Text()
	if !told && t.isInjected(text) {
		t.takeSurroundings(it)
		if beside, ok := n.withoutHarness(); ok {
			t.countLeft("reminder")
			t.takeSpeech(beside)
			return
		}
		t.doubt = &n
		return
	}
	t.takeSpeech(n)
}

// takeSpeech takes what a person said, without what an editor put around it.
func (t *threadBuilder) takeSpeech(n node) {
	if n.unwrapRequest(); len(n.entry.Message.Parts) == 0 {
		t.countLeft("reminder")
		return
	}
	t.pending = nil
	t.spare = nil
	t.addNode(n)
	t.last = -1
}

// countedElements returns the elements that count, if there is one word on each.
func countedElements(only []bool, it item) []bool {
	if n := strings.Count(string(it.Content), `"type"`); only == nil || n > len(only) {
		return nil
	}
	return only
}

// harness are how the harness begins what it says in the role of a person.
var harness = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>",
	"<user_shell_command>", "<skill>", "# AGENTS.md instructions for ", "<model_switch>", "<hook_prompt"}

// element is an element of markup from its beginning to its end.
var element = lazyregexp.New(`\A\s*<([a-z][a-z0-9_]*)[ >]`)

// isInjected reports whether a text looks as if the harness had put it in.
func (t *threadBuilder) isInjected(text string) bool {
	text = strings.TrimSpace(text)
	for _, begin := range harness {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	m := element().FindStringSubmatch(text)
	return t.events && m != nil && strings.Contains(m[1], "_") && strings.HasSuffix(text, "</"+m[1]+">")
}

// withoutHarness returns a message without what the harness put into it, and whether there is talk beside that.
func (n *node) withoutHarness() (node, bool) {
	out := *n
	out.entry.Message.Parts = slices.Clone(n.entry.Message.Parts)
	out.entry.Bytes = maps.Clone(n.entry.Bytes)
	for i := len(out.entry.Message.Parts) - 1; i >= 0; i-- {
		p, ok := out.entry.Message.Parts[i].(scrollback.Text)
		if !ok {
			continue
		}
		if p.Text = peelElements(p.Text); p.Text == "" {
			out.dropPart(i)
		} else {
			out.entry.Message.Parts[i] = p
		}
	}
	return out, strings.TrimSpace(out.entry.Message.Parts.Text()) != ""
}

// peelElements returns a text without the elements of the harness that it begins with. One that is not
// closed goes on to the end.
func peelElements(text string) string {
	for {
		trimmed := strings.TrimSpace(text)
		if !slices.ContainsFunc(harness, func(begin string) bool { return strings.HasPrefix(trimmed, begin) }) {
			return trimmed
		}
		end := "</INSTRUCTIONS>"
		if m := element().FindStringSubmatch(trimmed); m != nil {
			end = "</" + m[1] + ">"
		}
		at := strings.LastIndex(trimmed, end)
		if at < 0 {
			return ""
		}
		text = trimmed[at+len(end):]
	}
}

// takeRepeat takes the event that repeats what a person said.
func (t *threadBuilder) takeRepeat(text string) {
	t.events = true
	if t.doubt == nil {
		return
	}
	n := *t.doubt
	if strings.TrimSpace(n.entry.Message.Parts.Text()) != strings.TrimSpace(text) {
		return
	}
	t.doubt = nil
	t.takeSpeech(n)
}

// folder is how the harness says where it works.
var folder = lazyregexp.New(`<cwd>([^<]+)</cwd>`)

// takeSurroundings takes where it is worked from what the harness says, if nothing else has told.
func (t *threadBuilder) takeSurroundings(it item) {
	if t.folder != "" {
		return
	}
	if m := folder().FindStringSubmatch(joinTexts(it.Content)); m != nil {
		t.folder = strings.TrimSpace(m[1])
	}
}
