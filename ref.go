package scrollback

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Ref points at an original, for ever: "history:<segment id>" or
// "artifact:<sha-256>".
type Ref string

// The kinds of ref.
const (
	RefHistory  = "history"
	RefArtifact = "artifact"
)

// HistoryRef points at a folded segment.
func HistoryRef(id SegmentID) Ref { return Ref(RefHistory + ":" + string(id)) }

// ArtifactRef points at bytes kept beside the messages.
func ArtifactRef(id ArtifactID) Ref { return Ref(RefArtifact + ":" + string(id)) }

// Split gives a ref's kind and id; the id is safe as a file name.
func (r Ref) Split() (kind, id string, err error) {
	kind, id, ok := strings.Cut(string(r), ":")
	if !ok || (kind != RefHistory && kind != RefArtifact) {
		return "", "", ParamErrorf("scrollback.Ref", "ref", i18n.NotARef,
			clipText(string(r), 80))
	}
	if id == "" || len(id) > 64 || strings.Trim(id, "0123456789abcdef-") != "" {
		return "", "", ParamErrorf("scrollback.Ref", "ref", i18n.RefIDMalformed,
			clipText(string(r), 80), kind+":")
	}
	return kind, id, nil
}

// Numbers are messages of a conversation's path by their seqs, from First to Last.
type Numbers struct{ First, Last int64 }

// MaxNumbers bounds how many messages are named by their numbers at once.
const MaxNumbers = 10_000

// IsNumbers reports whether r is meant to be numbers of messages. A ref names its kind, numbers do not.
func (r Ref) IsNumbers() bool { return r != "" && !strings.Contains(string(r), ":") }

// Numbers reads numbers of messages as people and models write them: 392, #392, 392-410 and #392–#410.
// What is none of these, begins with 0 or goes backwards is not ok.
func (r Ref) Numbers() (n Numbers, ok bool) {
	text := strings.TrimSpace(string(r))
	for _, word := range []string{"messages", "message"} {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) {
			text = text[len(word):]
			break
		}
	}
	var from, to string
	var span bool
	for _, between := range []string{"–", "—", "..", "-"} {
		if from, to, span = strings.Cut(text, between); span {
			break
		}
	}
	if n.First, ok = parseSeq(from); !ok {
		return Numbers{}, false
	}
	n.Last = n.First
	if span {
		n.Last, ok = parseSeq(to)
	}
	if !ok || n.Last < n.First {
		return Numbers{}, false
	}
	return n, true
}

// parseSeq reads the number of a message, with or without its mark.
func parseSeq(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "#"), "＃")
	seq, err := strconv.ParseInt(text, 10, 64)
	return seq, err == nil && seq > 0 && strings.Trim(text, "0123456789") == ""
}

// Ref returns the numbers as they are written: #392, or #392-#410.
func (n Numbers) Ref() Ref {
	if n.First == n.Last {
		return Ref(fmt.Sprintf("#%d", n.First))
	}
	return Ref(fmt.Sprintf("#%d-#%d", n.First, n.Last))
}

// MessageRef points at a message of a conversation from another one: its id and the message's number.
func MessageRef(id ConversationID, seq int64) Ref { return Ref(id) + Numbers{seq, seq}.Ref() }

// Elsewhere splits what [MessageRef] made, or a range of numbers behind an id: the conversation, and the
// numbers in it. Other refs are not ok.
func (r Ref) Elsewhere() (id ConversationID, numbers Ref, ok bool) {
	before, after, ok := strings.Cut(strings.TrimSpace(string(r)), "#")
	numbers = Ref("#" + after)
	_, ok2 := numbers.Numbers()
	return ConversationID(before), numbers, ok && ok2 && before != "" && strings.Trim(before, "0123456789abcdef-") == ""
}

// RefEntry describes what a ref points at. From, To and CreatedAt are Unix ms;
// Bytes and SHA256 are those of the readable content.
type RefEntry struct {
	Ref          Ref            `json:"ref"`
	Kind         string         `json:"kind"`
	Conversation ConversationID `json:"conversation_id"`
	Branch       BranchID       `json:"branch,omitempty"`
	FirstSeq     int64          `json:"first_seq,omitempty"`
	LastSeq      int64          `json:"last_seq,omitempty"`
	From         int64          `json:"from,omitempty"`
	To           int64          `json:"to,omitempty"`
	Bytes        int64          `json:"bytes"`
	Messages     int            `json:"messages,omitempty"`
	MediaType    string         `json:"media_type"`
	Hint         string         `json:"hint"`
	SHA256       string         `json:"sha256"`
	CreatedAt    int64          `json:"created_at"`
}

// Artifact is bytes kept beside messages, stored once however often mentioned.
// ID is the SHA-256 of the bytes; Size is in bytes.
type Artifact struct {
	ID        ArtifactID `json:"id"`
	MediaType string     `json:"media_type"`
	Name      string     `json:"name,omitempty"`
	Size      int64      `json:"size"`
	CreatedAt int64      `json:"created_at"`
}

func clipText(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
