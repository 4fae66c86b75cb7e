package bundle

import (
	"crypto/sha256"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// readEntry returns what an entry is by its name, which must be one that may come here, and
// hands on what it holds.
func (w *bundleWalker) readEntry(name string, size int64, body io.Reader) error {
	misplaced := func() error { return newRefusal(i18n.BundleHoldsStranger, clipText(name)) }
	switch {
	case len(w.sum.Entries) == 0:
		if name != headerName {
			return misplaced()
		}
		return readOne(w, name, body, w.visit.Header)
	case name == manifestName:
		if len(w.seen) == 0 {
			return misplaced()
		}
		w.closed = true
		return w.checkManifest(body)
	case strings.HasPrefix(name, artifactFolder):
		id := scrollback.ArtifactID(name[len(artifactFolder):])
		if len(w.seen) > 0 || !isHash(string(id)) || id <= w.artifact {
			return misplaced()
		}
		w.artifact = id
		if w.visit.Artifact != nil {
			return w.visit.Artifact(id, size, body)
		}
		return nil
	}
	rest, ok := strings.CutPrefix(name, conversationPath)
	of, rest, cut := strings.Cut(rest, "/")
	if !ok || !cut || !isConversationID(of) {
		return misplaced()
	}
	id := scrollback.ConversationID(of)
	if rest == "conversation.json" {
		if slices.Contains(w.seen, id) {
			return misplaced()
		}
		if len(w.seen) > maxAncestors {
			return newLimitError("a conversation inherits from more than %d others", maxAncestors)
		}
		if bound := w.limits.maxConversationBytes(); size > bound {
			return newLimitError("%q has %d bytes, at most %d are taken", name, size, bound)
		}
		w.seen = append(w.seen, id)
		w.kind = kindConversation
		w.number = 0
		return readOne(w, name, body, func(c Conversation) error {
			if c.ID != id {
				return newDamageError("%q belongs to conversation %q", name, clipText(string(c.ID)))
			}
			if w.visit.Conversation == nil {
				return nil
			}
			return w.visit.Conversation(c)
		})
	}
	if len(w.seen) == 0 || w.seen[len(w.seen)-1] != id || !w.mayFollow(rest) {
		return misplaced()
	}
	return w.readRecords(name, body)
}

// mayFollow reports whether an entry of the conversation may come now.
func (w *bundleWalker) mayFollow(rest string) bool {
	folder, file, _ := strings.Cut(rest, "/")
	if folder == "history" {
		fits := w.kind <= kindFile
		w.kind = kindFile
		return fits && strings.HasSuffix(file, ".md") && !strings.ContainsAny(file, "/\\")
	}
	for k, f := range folders {
		if f != folder {
			continue
		}
		if k < w.kind {
			return false
		}
		if k > w.kind {
			w.kind = k
			w.number = 0
		}
		w.number++
		return file == padNumber(w.number)+".jsonl"
	}
	return false
}

func padNumber(n int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(0, 6-len(s))) + s
}

func clipText(s string) string {
	if len(s) > 120 {
		return strings.ToValidUTF8(s[:120], "") + "…"
	}
	return s
}

func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// isConversationID reports whether s is the id of a conversation, a UUID as we write it.
func isConversationID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && strings.IndexByte("0123456789abcdef", s[i]) < 0 {
			return false
		}
	}
	return true
}

// isID reports whether s may be an id: printable, and harmless in a file name.
func isID(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
