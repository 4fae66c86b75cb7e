package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Renderer is the number of the current rendering. A change of a single byte in
// any rendering needs a new number next to the old ones, which stay for ever.
const Renderer = 2

// renderedSheet is a rendered segment and the positions of its messages in it, ascending.
type renderedSheet struct {
	text  []byte
	marks []messageMark
}

// messageMark is the place of one message in a sheet, from start to before end.
// Recalls are the offsets of the lines that stand for recall calls and results.
type messageMark struct {
	seq       int64
	start     int
	end       int
	recalls   []int
	artifacts []scrollback.ArtifactID
}

// Render writes the Markdown of a leaf. Of seg it uses ID, Conversation, Branch,
// FirstSeq and LastSeq; ms are all its messages, ascending.
func Render(w io.Writer, renderer int, seg scrollback.Segment, ms []scrollback.Message) error {
	s, err := allRenderers.renderLeaf(renderer, seg, ms)
	if err != nil {
		return err
	}
	_, err = w.Write(s.text)
	return err
}

// RenderTable writes the Markdown of a roll-up: a table of its children. Of seg
// it uses what Render uses, of the children also Messages, From, To, Summary and Placeholder.
func RenderTable(w io.Writer, renderer int, seg scrollback.Segment, children []scrollback.Segment) error {
	s, err := allRenderers.renderTable(renderer, seg, children)
	if err != nil {
		return err
	}
	_, err = w.Write(s.text)
	return err
}

// MeasureLeaf gives the length and the SHA-256 in hex of a leaf's Markdown by the
// current renderer: what a fold stores on the segment with [Renderer].
func MeasureLeaf(seg scrollback.Segment, ms []scrollback.Message) (int64, string, error) {
	s, err := allRenderers.renderLeaf(Renderer, seg, ms)
	if err != nil {
		return 0, "", err
	}
	return int64(len(s.text)), hashBytes(s.text), nil
}

// MeasureTable is MeasureLeaf for a roll-up.
func MeasureTable(seg scrollback.Segment, children []scrollback.Segment) (int64, string, error) {
	s, err := allRenderers.renderTable(Renderer, seg, children)
	if err != nil {
		return 0, "", err
	}
	return int64(len(s.text)), hashBytes(s.text), nil
}

// renderer makes the sheets of segments: of a leaf and its messages, and of a
// roll-up and its children.
type renderer struct {
	leaf  func(scrollback.Segment, []scrollback.Message) *renderedSheet
	table func(seg scrollback.Segment, children []scrollback.Segment) *renderedSheet
}

// renderers are the known ones, by the number that is stored with a segment.
type renderers map[int]renderer

// allRenderers is the table of all that have ever existed.
var allRenderers = renderers{1: {leaf1, table1}, 2: {leaf2, table2}}

func (rs renderers) renderLeaf(number int, seg scrollback.Segment, ms []scrollback.Message) (*renderedSheet, error) {
	r, ok := rs[number]
	if !ok {
		return nil, unknownRenderer(seg, number)
	}
	return r.leaf(seg, ms), nil
}

func (rs renderers) renderTable(number int, seg scrollback.Segment,
	children []scrollback.Segment) (*renderedSheet, error) {
	r, ok := rs[number]
	if !ok {
		return nil, unknownRenderer(seg, number)
	}
	return r.table(seg, children), nil
}

func unknownRenderer(seg scrollback.Segment, number int) error {
	return scrollback.Errorf(scrollback.Internal, "archive.Render", i18n.NoSuchRenderer, seg.ID,
		number)
}

func hashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// WriteTranscript writes messages as Markdown under a heading: as the file of a segment shows
// them, without what names a segment. It holds one message in memory.
func WriteTranscript(w io.Writer, heading string, ms iter.Seq2[scrollback.Message, error]) error {
	if _, err := io.WriteString(w, heading); err != nil {
		return err
	}
	for msg, err := range ms {
		if err != nil {
			return err
		}
		m := markdown1{plain: true}
		m.writeMessage(&msg)
		if _, err := w.Write(m.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
