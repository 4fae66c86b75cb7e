package codex

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// An editor, and the tool's own app, write what they add to a prompt before it, and mark where
// the prompt begins. The wordings are those that were seen; the older ones name Codex.
var (
	// requestMark is the line before what the person said.
	requestMark = lazyregexp.New(`(?im)^#{1,3}[ \t]*my request(?: for (codex|chatgpt|cursor))?:?[ \t]*(?:\r?\n|\z)`)

	// envelopeHead is how an envelope begins.
	envelopeHead = lazyregexp.New(`(?i)\A(?:#{1,2} (?:context from [^\n]*|[^\n:]* mentioned by the user|selected text|response annotations|` +
		`[^\n:]*browser[^\n:]*|active file|open (?:tabs|files))\b|<[a-z]+(?:-[a-z]+)*-context\b|<response-annotations>)`)

	// envelopeLine is a line of an envelope that has nothing after it: a heading, a file of a list.
	envelopeLine = lazyregexp.New(`\A\s*(?:#{1,3} .*|- [^:]+: \S.*)?\s*\z`)
)

// userRequest returns what a person said in a text, without what an editor put before it, and whether
// there was something.
func userRequest(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	known := envelopeHead().MatchString(trimmed)
	m := requestMark().FindStringSubmatchIndex(trimmed)
	// A heading is enough where the mark names the program; one of both has to be known.
	named := m != nil && m[2] >= 0
	switch {
	case m != nil && (known || named && (m[0] == 0 || strings.HasPrefix(trimmed, "# "))):
		return strings.TrimSpace(trimmed[m[1]:]), true
	case !known:
		return text, false
	}
	// What an editor wrote and nothing else: no mark follows.
	for line := range strings.Lines(trimmed) {
		if !envelopeLine().MatchString(line) {
			return text, false
		}
	}
	return "", true
}

// unwrapRequest leaves of a message in the role of a person what the person said. Elements after the
// one with the envelope are theirs. It reports whether there was an envelope.
func (n *node) unwrapRequest() bool {
	for i, p := range n.entry.Message.Parts {
		t, ok := p.(scrollback.Text)
		if !ok {
			continue
		}
		said, wrapped := userRequest(t.Text)
		if !wrapped {
			return false
		}
		if said != "" {
			t.Text = said
			n.entry.Message.Parts[i] = t
			return true
		}
		n.dropPart(i)
		return true
	}
	return false
}

// dropPart takes a part out of a message.
func (n *node) dropPart(i int) {
	parts := append(scrollback.Parts{}, n.entry.Message.Parts[:i]...)
	n.entry.Message.Parts = append(parts, n.entry.Message.Parts[i+1:]...)
	bytes := map[int][]byte{}
	for at, b := range n.entry.Bytes {
		if at > i {
			at--
		}
		bytes[at] = b
	}
	n.entry.Bytes = bytes
}
