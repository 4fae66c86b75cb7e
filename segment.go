package scrollback

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Bounds of a leaf segment.
const (
	MaxSegmentMessages = 512
	MaxSegmentBytes    = 1 << 20 // of its rendered Markdown
)

// SummaryClient is Segment.SummaryBy when a client that keeps its history itself has compacted it.
const SummaryClient = "client"

// SummaryExtractive is Segment.SummaryBy when no model was asked.
const SummaryExtractive = "extractive"

// Segment is a folded run of messages: a leaf covers the messages of one branch
// with seq in [FirstSeq, LastSeq]; a roll-up covers its Children. A segment is
// never changed.
//
// Hash is [HashMessages] of a leaf's messages, or [HashChildren] of a roll-up's
// child hashes. Bytes and SHA256 are those of the Markdown file that Renderer
// makes of it. From and To are the times, in Unix ms, of its first and last
// message. Placeholder is the text that stands for it in a window, and
// TokensAfter its o200k count; TokensBefore is what it hides.
//
// Summary is for people and lists. With a PromptVersion, that of a leaf also stands in
// windows for what is before it, from SummaryOf on; without one it consists of lines
// of the messages themselves, and one on what tools did.
type Segment struct {
	ID            SegmentID      `json:"id"`
	Conversation  ConversationID `json:"conversation_id"`
	Branch        BranchID       `json:"branch"`
	FirstSeq      int64          `json:"first_seq"`
	LastSeq       int64          `json:"last_seq"`
	Level         int            `json:"level"`
	Messages      int            `json:"messages"`
	Children      []SegmentID    `json:"children,omitempty"`
	Hash          string         `json:"hash"`
	From          int64          `json:"from"`
	To            int64          `json:"to"`
	Summary       string         `json:"summary"`
	SummaryBy     string         `json:"summary_by"`
	SummaryOf     int64          `json:"summary_of"` // the first seq the summary covers
	PromptVersion int            `json:"prompt_version"`
	Placeholder   string         `json:"placeholder"`
	TokensBefore  int64          `json:"tokens_before"`
	TokensAfter   int64          `json:"tokens_after"`
	Renderer      int            `json:"renderer"`
	Bytes         int64          `json:"bytes"`
	SHA256        string         `json:"sha256"`
	CreatedAt     int64          `json:"created_at"`
}

// hintRunes bounds a hint.
const hintRunes = 200

// Hint returns the first line of a summary that is neither empty nor a heading.
func Hint(summary string) string {
	for line := range strings.SplitSeq(summary, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if r := []rune(line); len(r) > hintRunes {
			return string(r[:hintRunes]) + "…"
		}
		return line
	}
	return ""
}

// HashChildren returns the SHA-256, in hex, of the child hashes, one per line.
func HashChildren(hashes []string) string {
	h := sha256.New()
	for _, s := range hashes {
		h.Write([]byte(s + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CompactionResult is the outcome of a compaction.
type CompactionResult string

// The results of a compaction.
const (
	ResultCompacted    CompactionResult = "compacted"
	ResultNoop         CompactionResult = "noop"          // no legal cut
	ResultInflated     CompactionResult = "inflated"      // it would not have shrunk the window
	ResultEmptySummary CompactionResult = "empty_summary" // the model gave no usable summary
	ResultModelError   CompactionResult = "model_error"
	ResultConflict     CompactionResult = "conflict" // the boundary moved meanwhile
)

// Receipt records one compaction. FirstSeq and LastSeq bound what it folded;
// TokensBefore and TokensAfter are the window's; CreatedAt is Unix ms.
type Receipt struct {
	Result       CompactionResult `json:"result"`
	Segments     []SegmentID      `json:"segments"`
	Refs         []Ref            `json:"refs"`
	FirstSeq     int64            `json:"first_seq"`
	LastSeq      int64            `json:"last_seq"`
	TokensBefore int64            `json:"tokens_before"`
	TokensAfter  int64            `json:"tokens_after"`
	SummaryBy    string           `json:"summary_by"`
	// SummaryResult says why a model that was asked gave no summary:
	// empty_summary or model_error; empty when it did, or none was asked.
	SummaryResult CompactionResult `json:"summary_result,omitempty"`
	SummaryWhy    string           `json:"summary_why,omitempty"` // the same in words
	Calls         int              `json:"calls,omitempty"`       // of models, for the summary
	Checked       bool             `json:"checked,omitempty"`     // the summary was compared with the record
	Cost          float64          `json:"cost"`
	Cleared       bool             `json:"cleared,omitempty"` // folded on request, for a fresh start
	// in a list: it was undone; when returned: the undoing, with its figures
	Undone    bool  `json:"undone,omitempty"`
	Inherited bool  `json:"inherited,omitempty"` // of a conversation that this one continues
	CreatedAt int64 `json:"created_at"`
	// Archive is the key of the full copy that is written after the compaction, if the
	// conversation's settings ask for one.
	Archive string `json:"archive,omitempty"`

	Reason     string `json:"reason,omitempty"` // one of the constants below
	DurationMS int64  `json:"duration_ms"`
	Tries      []Try  `json:"tries,omitempty"`

	// The trade, made from the segments when it is shown: how many messages were folded,
	// what they weigh, what the cards and the summary that stand for them weigh, and what
	// stayed in words. Redo says that it was undone and can be done again.
	Messages     int      `json:"messages,omitempty"`
	FoldedTokens int64    `json:"folded_tokens,omitempty"`
	CardTokens   int64    `json:"card_tokens,omitempty"`
	Lines        []string `json:"lines,omitempty"`
	Redo         bool     `json:"redo,omitempty"`
}

// Try is a summary that was asked for and could not be used.
type Try struct {
	Model  string           `json:"model"`
	Result CompactionResult `json:"result"`
	Why    string           `json:"why"`
}

// Why a compaction was made.
const (
	ReasonWindow   = "window"   // the request was too heavy in tokens
	ReasonBytes    = "bytes"    // or in bytes
	ReasonImages   = "images"   // or had too many images
	ReasonMessages = "messages" // as many messages were new as the policy counts
	ReasonAhead    = "ahead"    // after an answer, so that the next request need not wait
	ReasonImport   = "import"
	ReasonByHand   = "by_hand"
	ReasonCleared  = "cleared"
	ReasonClient   = "client" // a client compacted its history itself
)

// StoredReceipt is a receipt as it is stored: with its branch, and the view before, so
// that it can be undone. Folded says that it made segments, and Undone that it was
// undone.
type StoredReceipt struct {
	Branch  BranchID `json:"branch"`
	Receipt Receipt  `json:"receipt"`
	Before  View     `json:"before"`
	Folded  bool     `json:"folded,omitempty"`
	Undone  bool     `json:"undone,omitempty"`
}

// Gist returns the first line of a placeholder that says what was said, with its number and without its mark; empty
// if there is none. Summaries hand on what they begin with, and so their hints are alike.
func Gist(placeholder string) string {
	for line := range strings.SplitSeq(placeholder, "\n") {
		if said, ok := strings.CutPrefix(line, gistMark); ok {
			return clipText("#"+said, hintRunes)
		}
	}
	return ""
}

const gistMark = "- #"

// GistOnly returns a placeholder that has nothing but the line of its [Gist].
func GistOnly(placeholder string) string {
	if gist := Gist(placeholder); gist != "" {
		return strings.Clone("- " + gist)
	}
	return ""
}
