package bundle

import (
	"bytes"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Limits bound what a bundle may hold; a zero field is that of [DefaultLimits].
type Limits struct {
	Entries   int   // in the tar
	Records   int   // branches, segments, mentions and receipts, which a reader remembers
	Bytes     int64 // unpacked
	Entry     int64 // bytes of an artifact
	Text      int64 // bytes of any other entry
	Ratio     int64 // unpacked bytes for each of the file, beyond RatioFrom
	RatioFrom int64
}

// DefaultLimits returns those that apply by default.
func DefaultLimits() Limits {
	return Limits{Entries: 250_000, Records: 500_000, Bytes: 64 << 30, Entry: 1 << 30, Text: 64 << 20, Ratio: 200,
		RatioFrom: 256 << 20}
}

func (l Limits) withDefaults(d Limits) Limits {
	pick := func(n *int64, d int64) {
		if *n == 0 {
			*n = d
		}
	}
	if l.Entries == 0 {
		l.Entries = d.Entries
	}
	if l.Records == 0 {
		l.Records = d.Records
	}
	pick(&l.Bytes, d.Bytes)
	pick(&l.Entry, d.Entry)
	pick(&l.Text, d.Text)
	pick(&l.Ratio, d.Ratio)
	pick(&l.RatioFrom, d.RatioFrom)
	return l
}

// Bounds of what a conversation itself keeps in memory.
const (
	maxConversation = 4 << 20 // bytes of conversation.json: what its fields may hold, in JSON's longest spelling
	maxAncestors    = 1000    // that one conversation inherits from
)

// maxConversationBytes returns how many bytes a conversation.json may have.
func (l Limits) maxConversationBytes() int64 { return min(l.Text, maxConversation) }

// maxUnpacked returns how many bytes may come out of a file of a size.
func (l Limits) maxUnpacked(file int64) int64 { return l.RatioFrom + l.Ratio*file }

func newRefusal(text i18n.ID, args ...any) *scrollback.Error {
	return scrollback.ParamErrorf("bundle", "file", text, args...)
}

func newDamageError(format string, args ...any) error {
	return newRefusal(i18n.BundleDamaged, scrollback.NewSentence(i18n.ID(format), args...))
}

// newLimitError refuses what is over a limit.
func newLimitError(format string, args ...any) error {
	return newRefusal(i18n.BundleTooLarge, scrollback.NewSentence(i18n.ID(format), args...)).
		WithReason(scrollback.ErrTooLarge)
}

// unpackMeter ends a stream that unpacks to more than it should.
type unpackMeter struct {
	r    io.Reader
	left int64
	over bool
}

// Read implements io.Reader.
func (m *unpackMeter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		m.over = true
		return 0, io.ErrUnexpectedEOF
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}

// checkBare checks that an inherited conversation says nothing about itself: nobody would
// see it, and all of it would be kept.
func checkBare(v Conversation) error {
	only := Conversation{Inherited: true}
	// those were checked
	only.ID = v.ID
	v.Ancestors = nil
	want, err := marshalLine(only)
	if err != nil {
		return err
	}
	if got, err := marshalLine(v); err != nil || !bytes.Equal(got, want) {
		return newDamageError("conversation %s is only inherited from, but says more about itself than its id", v.ID)
	}
	return nil
}
