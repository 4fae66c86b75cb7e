package codex

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// piece is a part with its bytes.
type piece struct {
	scrollback.Part
	data []byte
}

// marker is what the tool writes before an image, with its name or path.
var marker = regexp.MustCompile(`^<image(?: name=\[?([^\]>]*?)\]?)?(?: path="([^"]*)")?>$`)

// content reads what a message holds. only says of each element whether it counts; nil
// counts all. Marks around images are not text.
func (t *teller) content(raw json.RawMessage, only []bool) (out []piece) {
	var list []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
		Refus string          `json:"refusal"`
	}
	if json.Unmarshal(raw, &list) != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return []piece{{Part: scrollback.Text{Text: text}}}
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
			m := marker.FindStringSubmatch(c.Text)
			switch {
			case m != nil && i+1 < len(list) && list[i+1].Type == "input_image":
				name = m[1]
				if m[2] != "" {
					name = path.Base(strings.ReplaceAll(m[2], `\`, "/"))
				}
			case c.Text == "</image>" && i > 0 && list[i-1].Type == "input_image":
			case c.Text != "":
				out = append(out, piece{Part: scrollback.Text{Text: c.Text}})
			}
		case "refusal":
			out = append(out, piece{Part: scrollback.Text{Text: c.Refus}})
		case "input_image":
			var url string
			_ = json.Unmarshal(c.Image, &url) // another form has no address
			if p, ok := imageOf(url, name); ok {
				out = append(out, p)
			} else {
				t.leave("image")
			}
			name = ""
		default:
			t.leave("unknown")
		}
	}
	return out
}

// imageOf is the image at an address, which may hold it.
func imageOf(url, name string) (piece, bool) {
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return piece{Part: scrollback.Image{URL: url, Name: name}}, true
	}
	rest, ok := strings.CutPrefix(url, "data:")
	kind, text, ok2 := strings.Cut(rest, ",")
	kind, ok3 := strings.CutSuffix(kind, ";base64")
	if !ok || !ok2 || !ok3 {
		return piece{}, false
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(data) == 0 {
		return piece{}, false
	}
	kind, _, _ = strings.Cut(kind, ";")
	return piece{scrollback.Image{MediaType: kind, Name: name, Size: int64(len(data))}, data}, true
}

// user takes a message in the role of a person. Newer versions say of each element who
// wrote it; in older ones an event repeats what a person said, and what looks as if the
// harness had put it in is not talk without one.
func (t *teller) user(l *line, it item) {
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
		t.surroundings(it)
		t.leave("reminder")
		return
	}
	pieces := t.content(it.Content, fitting(only, it))
	n := l.message(it.ID, scrollback.RoleUser, nil)
	n.typed = true
	for _, p := range pieces {
		n.add(p)
	}
	text := n.entry.Message.Parts.Text()
	if !told && t.injected(text) {
		t.surroundings(it)
		if beside, ok := n.peeled(); ok {
			t.leave("reminder")
			t.saidBy(beside)
			return
		}
		t.doubt = &n
		return
	}
	t.saidBy(n)
}

// saidBy takes what a person said, without what an editor put around it.
func (t *teller) saidBy(n node) {
	if n.unwrap(); len(n.entry.Message.Parts) == 0 {
		t.leave("reminder")
		return
	}
	t.pending = nil
	t.spare = nil
	t.add(n)
	t.last = -1
}

// fitting are the elements that count, if there is one word on each.
func fitting(only []bool, it item) []bool {
	if n := strings.Count(string(it.Content), `"type"`); only == nil || n > len(only) {
		return nil
	}
	return only
}

// harness are how the harness begins what it says in the role of a person.
var harness = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>",
	"<user_shell_command>", "<skill>", "# AGENTS.md instructions for ", "<model_switch>", "<hook_prompt"}

// element is an element of markup from its beginning to its end.
var element = regexp.MustCompile(`\A\s*<([a-z][a-z0-9_]*)[ >]`)

// injected reports whether a text looks as if the harness had put it in.
func (t *teller) injected(text string) bool {
	text = strings.TrimSpace(text)
	for _, begin := range harness {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	m := element.FindStringSubmatch(text)
	return t.events && m != nil && strings.Contains(m[1], "_") && strings.HasSuffix(text, "</"+m[1]+">")
}

// peeled is a message without what the harness put into it, and whether there is talk beside that.
func (n *node) peeled() (node, bool) {
	out := *n
	out.entry.Message.Parts = slices.Clone(n.entry.Message.Parts)
	out.entry.Bytes = maps.Clone(n.entry.Bytes)
	for i := len(out.entry.Message.Parts) - 1; i >= 0; i-- {
		p, ok := out.entry.Message.Parts[i].(scrollback.Text)
		if !ok {
			continue
		}
		if p.Text = peel(p.Text); p.Text == "" {
			out.drop(i)
		} else {
			out.entry.Message.Parts[i] = p
		}
	}
	return out, strings.TrimSpace(out.entry.Message.Parts.Text()) != ""
}

// peel is a text without the elements of the harness that it begins with. One that is not
// closed goes on to the end.
func peel(text string) string {
	for {
		trimmed := strings.TrimSpace(text)
		if !slices.ContainsFunc(harness, func(begin string) bool { return strings.HasPrefix(trimmed, begin) }) {
			return trimmed
		}
		end := "</INSTRUCTIONS>"
		if m := element.FindStringSubmatch(trimmed); m != nil {
			end = "</" + m[1] + ">"
		}
		at := strings.LastIndex(trimmed, end)
		if at < 0 {
			return ""
		}
		text = trimmed[at+len(end):]
	}
}

// confirm takes the event that repeats what a person said.
func (t *teller) confirm(text string) {
	t.events = true
	if t.doubt == nil {
		return
	}
	n := *t.doubt
	if strings.TrimSpace(n.entry.Message.Parts.Text()) != strings.TrimSpace(text) {
		return
	}
	t.doubt = nil
	t.saidBy(n)
}

// folder is how the harness says where it works.
var folder = regexp.MustCompile(`<cwd>([^<]+)</cwd>`)

// surroundings takes where it is worked from what the harness says, if nothing else has told.
func (t *teller) surroundings(it item) {
	if t.folder != "" {
		return
	}
	if m := folder.FindStringSubmatch(joined(it.Content)); m != nil {
		t.folder = strings.TrimSpace(m[1])
	}
}
