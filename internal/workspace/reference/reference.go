// Package reference finds the marks in a prompt that name files, folders, images and recall
// tools, and reads what they name.
//
// Words it adds: mark (the place in a prompt that names something), found (what was read
// for a mark, or why it was not).
//
// Invariants: nothing outside the folders is read; reading is bounded, whatever a mark
// names; a mark that cannot be followed is reported and never fails the prompt.
//
// It may not know the store, models or turns.
package reference

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Mark is one place in a prompt that names something: text[From:To].
type Mark struct {
	From, To int
	Text     string // without @[ and ], or the whole image mark

	Kind  scrollback.ReferenceKind // as far as the mark itself tells: image, tool, or file
	Path  string                   // of a file, folder or image; may be a data URL, file: or http(s) address
	Alt   string                   // of an image: its alternative text
	First int                      // line, from 1; 0 for the whole file
	Last  int                      // inclusive; 0 for First alone
	Tool  string                   // of a recall tool
	Args  json.RawMessage

	bare bool // without brackets: it may name nothing
}

// IsData reports whether the mark of an image holds the image itself, as a data URL.
func (m Mark) IsData() bool {
	return m.Kind == scrollback.ReferenceImage && len(m.Path) >= 5 && strings.EqualFold(m.Path[:5], "data:")
}

// Found is what was read for a mark. Its Version and SameAs are not set. Of a text it has
// the Content, of an image the Bytes or, where remote ones are allowed, the URL.
type Found struct {
	scrollback.Reference
	Content string
	Image   []byte
	URL     string
}

// MarkLimits bound what one prompt may bring; zero fields are the defaults.
type MarkLimits struct {
	FileBytes  int64 // of one file; 0 means 256 KiB
	TotalBytes int64 // of all texts; 0 means 1 MiB
	Files      int   // marks, and files that Markdown names in turn; 0 means 200
	Depth      int   // of Markdown in Markdown; 0 means 5
	Entries    int   // of a folder; 0 means 1,000
	Images     int   // 0 means 20
	ImageBytes int64 // of one image; 0 means 20 MiB
	ImagesSum  int64 // of all images, in bytes; 0 means 64 MiB
}

// Options say what a prompt's marks may reach.
type Options struct {
	Roots  []string // folders, absolute, granted and without links; none: every path is refused
	Limits MarkLimits
	Plain  bool // @path without brackets is a mark too
	Remote bool // images at http(s) addresses are passed on

	// Call runs a recall tool; nil refuses them. The caller sees the text of its error.
	Call func(ctx context.Context, tool string, args json.RawMessage) (string, error)
}
