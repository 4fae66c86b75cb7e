package claudecode

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// interruption begins the mark that the tool leaves where a person stopped it.
const interruption = "[Request interrupted by user"

// What a message is beside one, in its meta.
const (
	eventCommand = "command"     // the person gave the tool a command
	eventBash    = "bash"        // the person ran a command of the shell
	eventOutput  = "bash_output" // what that printed
	eventMemory  = "memory"      // the person had something noted
)

// left are blocks that the tool writes in a user's name, by how they begin.
var left = []struct{ tag, kind string }{
	{"<local-command-", "local_command"},
	{"<task-notification>", "notification"},
}

// envelopes begin the names of the tags that the tool puts before a prompt, or behind it.
var envelopes = []string{"ide_", "user-prompt-submit-hook", "system-reminder"}

// spokenWords returns what a person said in a text, and what that is beside a message; empty if the
// tool wrote it in their name.
func (t *conversationReading) spokenWords(text string) (string, string) {
	for _, l := range left {
		if strings.HasPrefix(text, l.tag) {
			t.countLeft(l.kind)
			tag, _, _ := strings.Cut(text[1:], ">")
			if _, rest := openedElement(text, tag); rest != "" { // what the person said behind it
				return t.spokenWords(rest)
			}
			return "", ""
		}
	}
	said, kind, rest := t.readEvent(text)
	if kind == "" {
		return t.withoutReminders(text)
	}
	if rest == "" {
		return said, kind
	}
	behind, also := t.spokenWords(rest)
	switch {
	case behind == "":
		return said, kind
	case also == "":
		kind = "" // there is talk in it
	}
	return strings.TrimSpace(said + "\n\n" + behind), kind
}

// readEvent returns what a person did beside talking, if a text begins with that, what it is, and what
// stands behind it.
func (t *conversationReading) readEvent(text string) (said, kind, rest string) {
	tags := []string{"command-name", "command-message", "command-args", "command-contents"}
	switch {
	case strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<command-message>"):
		if name := textBetween(text, "command-name"); name != "" {
			return strings.TrimSpace(name + " " + textBetween(text, "command-args")), eventCommand, skipElements(text, tags...)
		}
	case strings.HasPrefix(text, "<bash-input>"):
		return "!" + textBetween(text, "bash-input"), eventBash, skipElements(text, "bash-input")
	case strings.HasPrefix(text, "<bash-stdout>"), strings.HasPrefix(text, "<bash-stderr>"):
		out := strings.TrimSpace(textBetween(text, "bash-stdout") + "\n" + textBetween(text, "bash-stderr"))
		if out == "" {
			t.countLeft("empty")
		}
		return out, eventOutput, skipElements(text, "bash-stdout", "bash-stderr")
	case strings.HasPrefix(text, "<user-memory-input>"):
		return "#" + textBetween(text, "user-memory-input"), eventMemory, skipElements(text, "user-memory-input")
	}
	return "", "", ""
}

// skipElements returns what follows the elements with these names that a text begins with.
func skipElements(text string, tags ...string) string {
	for {
		at := slices.IndexFunc(tags, func(tag string) bool { return strings.HasPrefix(text, "<"+tag+">") })
		if at < 0 {
			return text
		}
		closed, rest := openedElement(text, tags[at])
		if !closed {
			return "" // cut off: all of it belongs to the element
		}
		text = rest
	}
}

// openedElement reports whether the element that a text begins with is closed, and what follows it.
func openedElement(text, tag string) (closed bool, rest string) {
	_, rest, closed = strings.Cut(text, "</"+tag+">")
	return closed, strings.TrimSpace(rest)
}

// withoutReminders returns what a person said in a text, without the reminders of the tool.
func (t *conversationReading) withoutReminders(text string) (string, string) {
	bare := t.trimReminders(text, true)
	if strings.TrimSpace(bare) == "" {
		if bare == text {
			t.countLeft("empty")
		}
		return "", ""
	}
	return bare, ""
}

// textBetween returns what stands in a tag, without white space around it.
func textBetween(text, tag string) string {
	_, rest, found := strings.Cut(text, "<"+tag+">")
	inside, _, ended := strings.Cut(rest, "</"+tag+">")
	if !found || !ended {
		return ""
	}
	return strings.TrimSpace(inside)
}

// trimReminders returns a text without the reminders that the tool put behind it, or before it.
func (t *conversationReading) trimReminders(text string, before bool) string {
	for {
		bare := strings.TrimRight(text, " \t\r\n")
		at := envelopeSuffix(bare)
		if at < 0 {
			break
		}
		text = strings.TrimRight(bare[:at], " \t\r\n")
		t.countLeft("reminder")
	}
	for before {
		bare := strings.TrimLeft(text, " \t\r\n")
		n := envelopePrefix(bare)
		if n == 0 {
			break
		}
		text = strings.TrimLeft(bare[n:], " \t\r\n")
		t.countLeft("reminder")
	}
	return text
}

// isEnvelope reports whether the tool writes a tag of this name around what is not talk.
func isEnvelope(tag string) bool {
	return !strings.ContainsAny(tag, " <>/\"\n") && slices.ContainsFunc(envelopes, func(p string) bool {
		return tag == p || strings.HasSuffix(p, "_") && strings.HasPrefix(tag, p)
	})
}

// envelopePrefix returns how long the envelope is that a text begins with, or 0.
func envelopePrefix(text string) int {
	tag, _, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	if !ok || !strings.HasPrefix(text, "<") || !isEnvelope(tag) {
		return 0
	}
	end := "</" + tag + ">"
	at := strings.Index(text, end)
	if at < 0 {
		return 0
	}
	return at + len(end)
}

// envelopeSuffix returns where the envelope begins that a text ends with, or -1.
func envelopeSuffix(text string) int {
	from := strings.LastIndex(text, "</")
	if from < 0 || !strings.HasSuffix(text, ">") {
		return -1
	}
	tag := text[from+2 : len(text)-1]
	at := strings.LastIndex(text, "<"+tag+">")
	if !isEnvelope(tag) || at < 0 || strings.Count(text[at:], "</"+tag+">") != 1 {
		return -1
	}
	return at
}

// persisted begins a result that was too large: what stands there is its beginning.
const persisted = "<persisted-output>"

// wholeResult returns all of a result: without reminders, and from where it was put if it was too large.
// It is clipped if it is no longer there.
func (t *conversationReading) wholeResult(text string) (all string, clipped bool) {
	if !strings.HasPrefix(text, persisted) {
		return t.trimReminders(text, false), false
	}
	_, rest, found := strings.Cut(text, "saved to: ")
	where, _, _ := strings.Cut(rest, "\n")
	steps := strings.FieldsFunc(strings.TrimSpace(where), func(r rune) bool { return r == '/' || r == '\\' })
	n := len(steps)
	if !found || n < 3 || steps[n-2] != "tool-results" {
		return text, false
	}
	// a fork names the session that it comes from
	for _, folder := range []string{t.beside, path.Join(path.Dir(t.beside), steps[n-3])} {
		if all, ok := t.readOutput(path.Join(folder, "tool-results", steps[n-1]), path.Dir(t.beside)); ok {
			return all, false
		}
	}
	t.countLeft("output_gone")
	return text, true
}

// readOutput reads an output that lies within a project's folder.
func (t *conversationReading) readOutput(name, project string) (string, bool) {
	if t.files == nil || !fs.ValidPath(name) || project != "." && !strings.HasPrefix(name, project+"/") {
		return "", false
	}
	f, err := t.files.Open(name)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > transcript.MaxLine {
		return "", false
	}
	all, err := io.ReadAll(io.LimitReader(f, transcript.MaxLine))
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(string(all), "\uFFFD"), true
}
