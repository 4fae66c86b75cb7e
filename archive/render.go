package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/scrollback-ai/scrollback"
)

// Renderer is the number of the current rendering. A change of a single byte of
// any rendering is a new number next to the old ones, which stay for ever.
const Renderer = 1

// sheet is a rendered segment and where its messages stand in it, ascending.
type sheet struct {
	text  []byte
	marks []mark
}

// mark is the place of one message in a sheet, from start to before end.
// Recalls are the offsets of the lines that stand for recall calls and results.
type mark struct {
	seq       int64
	start     int
	end       int
	recalls   []int
	artifacts []scrollback.ArtifactID
}

// Render writes the Markdown of a leaf. Of seg it uses ID, Conversation, Branch,
// FirstSeq and LastSeq; ms are all its messages, ascending.
func Render(w io.Writer, renderer int, seg scrollback.Segment, ms []scrollback.Message) error {
	s, err := leafSheet(renderer, seg, ms)
	if err != nil {
		return err
	}
	_, err = w.Write(s.text)
	return err
}

// RenderTable writes the Markdown of a roll-up: a table of its children. Of seg
// it uses what Render uses, of the children also Messages, From, To and Summary.
func RenderTable(w io.Writer, renderer int, seg scrollback.Segment, children []scrollback.Segment) error {
	s, err := tableSheet(renderer, seg, children)
	if err != nil {
		return err
	}
	_, err = w.Write(s.text)
	return err
}

// Measure gives the length and the SHA-256 in hex of a leaf's Markdown by the
// current renderer: what a fold stores on the segment with [Renderer].
func Measure(seg scrollback.Segment, ms []scrollback.Message) (int64, string, error) {
	s, err := leafSheet(Renderer, seg, ms)
	if err != nil {
		return 0, "", err
	}
	return int64(len(s.text)), hash(s.text), nil
}

// MeasureTable is Measure for a roll-up.
func MeasureTable(seg scrollback.Segment, children []scrollback.Segment) (int64, string, error) {
	s, err := tableSheet(Renderer, seg, children)
	if err != nil {
		return 0, "", err
	}
	return int64(len(s.text)), hash(s.text), nil
}

func leafSheet(renderer int, seg scrollback.Segment, ms []scrollback.Message) (*sheet, error) {
	switch renderer {
	case 1:
		return leaf1(seg, ms), nil
	}
	return nil, unknownRenderer(seg, renderer)
}

func tableSheet(renderer int, seg scrollback.Segment, children []scrollback.Segment) (*sheet, error) {
	switch renderer {
	case 1:
		return table1(seg, children), nil
	}
	return nil, unknownRenderer(seg, renderer)
}

// title is the beginning of a segment's file that tells it from any other.
func title(seg scrollback.Segment) []byte {
	if seg.Renderer == 1 {
		return title1(seg)
	}
	return nil
}

func unknownRenderer(seg scrollback.Segment, renderer int) error {
	return scrollback.Errorf(scrollback.Internal, "archive.Render", "segment %s: no renderer %d", seg.ID, renderer)
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
