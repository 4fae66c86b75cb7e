// Package redact removes secrets and addresses from text that somebody else wrote, before
// it reaches a log or a person.
//
// Invariant: what [RedactLine] returns holds neither the given secrets, whole or in part, nor
// anything that looks like a provider's key, and it is a single line.
package redact

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// most is how many characters of a text are kept.
const most = 500

// shown is how many characters of a text a person is shown.
const shown = 300

// hidden stands for what was removed.
const hidden = "[redacted]"

// keys are the forms of secrets: keys of the providers that scrollback knows, with those
// first that may contain what looks like another's, and whatever is in the place of a
// credential.
var keys = []func() *regexp.Regexp{
	lazyregexp.New(`\b[A-Za-z0-9_-]{40,}`), // long and random: of Cloudflare and others
	lazyregexp.New(`\bAIza[A-Za-z0-9_*-]{6,}`),
	lazyregexp.New(`\b(AKIA|ASIA|LTAI|AKLT)[A-Za-z0-9*]{6,}`),
	lazyregexp.New(`\beyJ[A-Za-z0-9_-]{6,}(\.[A-Za-z0-9_-]*)*`),                        // a JSON web token
	lazyregexp.New(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), // keys of Ark are UUIDs
	lazyregexp.New(`(?i)\b(sk|pk|rk|org|proj|xai|gsk|hf|r8|nvapi|fw|pplx|csk|tgp|ghp|gho|github_pat|glpat|sess|key|poe)[-_][A-Za-z0-9*._-]{6,}`),
	lazyregexp.New(`(?i)\b(bearer|basic)\s+[^\s"',;]{4,}`),
	lazyregexp.New(`(?i)\b(x-goog-api-key|x-api-key|api[-_ ]?key|access[-_ ]?token|authorization|token|secret|password)(\s+provided)?["']?\s*[:=]\s*["']?[^\s"',;&)]{4,}`),
	lazyregexp.New(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]+`), // addresses
	lazyregexp.New(`(?i)\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/[^\s"'<>]+`),
	lazyregexp.New(`(?i)\bwww\.[^\s"'<>]+`),
	lazyregexp.New(`(?i)\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d+\b`),
}

// fragment is how many consecutive characters of a secret give too much of it away.
const fragment = 8

// RedactLine returns text on one line, without secrets, and cut if it is long.
func RedactLine(text string, secrets ...string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if r := []rune(text); len(r) > 20*most { // enough to find secrets that the cut would split
		text = string(r[:20*most])
	}
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		text = removeSecret(removeSecret(text, url.QueryEscape(s)), s) // servers repeat addresses too
	}
	for _, k := range keys {
		text = k().ReplaceAllString(text, hidden)
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// RedactCause returns text as [RedactLine] returns it, short enough to be shown to a person.
func RedactCause(text string, secrets ...string) string {
	text = RedactLine(text, secrets...)
	if r := []rune(text); len(r) > shown {
		text = string(r[:shown]) + "…"
	}
	return text
}

// removeSecret removes a secret and longer pieces of it, in any case: servers show the
// beginning or the end of a key that they refuse.
func removeSecret(text, secret string) string {
	if len(secret) < 4 {
		return text
	}
	low := lowerASCII(text)
	find := lowerASCII(secret)
	for n := len(find); n >= min(fragment, len(find)); n-- {
		for _, piece := range []string{find[:n], find[len(find)-n:]} {
			for from := 0; ; {
				at := strings.Index(low[from:], piece)
				if at < 0 {
					break
				}
				at += from
				text = text[:at] + hidden + text[at+n:]
				low = low[:at] + hidden + low[at+n:]
				from = at + len(hidden)
			}
		}
	}
	return text
}

// lowerASCII returns text with ASCII letters in lower case, as long as it was.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
