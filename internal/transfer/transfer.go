// Package transfer brings conversations in and takes them out: files of other tools,
// and bundles, which hold a conversation whole.
//
// Words it adds: mark (what a message of a file is known by when the file comes again),
// likeness (what any message is known by when it comes back from another tool), bringing
// (reading a session of a tool from where that keeps it), follower (a conversation that begins
// as a source does).
//
// Invariants: the same file again changes nothing, and one that grew extends the
// conversation; an import that was cut off continues when it is repeated; what a tool calls
// a conversation leads to one of the caller's at most; what is written belongs to the
// caller's projects.
//
// It works for a caller, through the view that [engine.Engine.As] returns. It may not
// know models, windows or wire formats.
package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/place"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer/bundles"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/fullcopy"
)

// Options configure a transfer; the zero value handles only bundles.
type Options struct {
	Importers []transcript.Importer
	Exporters []transcript.Exporter
	Tools     []transcript.Tool // whose files are read like those of Importers, after them
	Limits    bundle.Limits     // of bundles; zero fields are the defaults

	// Repository returns what the repository of a folder is known by on other machines, the zero value for none; nil
	// knows none.
	Repository func(ctx context.Context, folder string) place.Repository
}

// Transfer imports and exports conversations. It is safe for concurrent use.
type Transfer struct {
	store   *store.Store
	archive *archive.Archive
	o       Options
}

// New makes a transfer over the store and the archive of an engine, neither of which
// may be nil.
func New(s *store.Store, a *archive.Archive, o Options) *Transfer {
	return &Transfer{store: s, archive: a, o: o}
}

// The results of the import of a bundle.
const (
	ResultCreated   = bundles.ResultCreated
	ResultExtended  = bundles.ResultExtended
	ResultUnchanged = bundles.ResultUnchanged
)

// BundleFormat is the name of the format that holds a whole conversation.
const BundleFormat = "bundle"

// Formats are the names of what a transfer reads and writes.
type Formats struct {
	Imports []string // of files, also those of tools
	Exports []string
	Tools   []string // whose conversations are read where they keep them
}

// Formats lists the names of what is read and written here, the bundle first.
func (t *Transfer) Formats() Formats {
	out := Formats{Imports: []string{BundleFormat}, Exports: []string{BundleFormat}, Tools: []string{}}
	for _, f := range t.o.Importers {
		out.Imports = append(out.Imports, f.Name())
	}
	for _, tool := range t.o.Tools {
		out.Tools = append(out.Tools, tool.Name())
		if !slices.Contains(out.Imports, tool.Name()) {
			out.Imports = append(out.Imports, tool.Name())
		}
	}
	for _, f := range t.o.Exporters {
		out.Exports = append(out.Exports, f.Name())
	}
	return out
}

// Bounds of one write of an import.
const (
	importBatch = 256
	importBytes = 1 << 20
	sniffBytes  = 64 << 10
	maxSkipped  = 1000 // bad lines that are listed; more are counted
)

// ImportRequest describes how to read a file. An empty Format is recognised by the content, and
// by Name, the file's base name, which may be empty; Into adds everything to one existing
// conversation. AsCopy gives new ids to what a bundle holds. Summarize asks models for
// summaries of what is folded on the way; a bundle brings its own. Mask replaces what looks
// like a key or a token before anything of it is stored. ByFolder gives each working folder
// a project of its own, named after it, unless Project is set. Again brings back what was
// purged, under an id that follows from the one that it had, but not what is in the trash and no bundle.
type ImportRequest struct {
	Format    string
	Name      string
	Project   string
	Into      scrollback.ConversationID
	AsCopy    bool
	Summarize bool
	Quota     *scrollback.Quota // counts each compaction that asks a model; nil counts none
	Mask      bool
	ByFolder  bool
	Again     bool
	// when the file was last changed, in Unix ms: the time of what has none in it; 0 if unknown
	Changed  int64
	Progress func(messages int64) // may be nil
}

// ImportResult reports what an import added. MoreSkipped counts bad lines that are not
// listed in Skipped. Left counts what is not talk and was left out, by kind; Masked counts
// the secrets that were replaced. Held says that something was held back because it was
// still being written. Deleted counts conversations that were put in the trash or purged
// here, and were not brought again.
type ImportResult struct {
	Conversations []Imported       `json:"conversations"`
	Skipped       []transcript.Bad `json:"skipped"`
	MoreSkipped   int              `json:"more_skipped,omitempty"`
	Left          map[string]int   `json:"left_out,omitempty"`
	Masked        int              `json:"masked,omitempty"`
	Held          bool             `json:"held,omitempty"`
	Deleted       int              `json:"deleted,omitempty"`
	Unsealed      bool             `json:"unsealed,omitempty"` // a full copy that nothing says is whole and unchanged
	// IDs are the new ids of a copy by those in the bundle: of conversations, branches and
	// segments.
	IDs map[string]string `json:"ids,omitempty"`
	// Asked is what asking for summaries took, if that was wanted.
	Asked *engine.Asked `json:"asked,omitempty"`
}

// Imported is one conversation of an import. Messages counts those newly written, Total
// those that it has now. Tool is the tool or the format that it was read as, and Source the
// file. Result is set only for a bundle.
type Imported struct {
	ID       scrollback.ConversationID `json:"id"`
	Created  bool                      `json:"created"`
	Messages int64                     `json:"messages"`
	Total    int64                     `json:"total"`
	Tool     string                    `json:"tool,omitempty"`
	Source   string                    `json:"source,omitempty"`
	Result   string                    `json:"result,omitempty"`
}

// Import reads a bundle, or a file of another tool, into conversations, and folds nothing unless summaries are
// wanted. The same file again changes nothing, and one that grew extends the conversation; if its past has changed,
// what was there before stays as an earlier branch. r is read more than once.
// Imports of the same that go on meanwhile are waited out.
func (t *Transfer) Import(ctx context.Context, v *engine.View, r io.ReadSeeker, q ImportRequest) (ImportResult, error) {
	var im *importer
	attempt := func() (ImportResult, error) {
		im = &importer{Transfer: t, view: v, q: q, open: map[string]*importing{}}
		im.out = ImportResult{Conversations: []Imported{}, Skipped: []transcript.Bad{}}
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return im.out, scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
		}
		return im.loadFile(ctx, r)
	}
	out, err := attempt()
	if im.file != "" { // that of a format, which goes into its own conversations
		out, err = waitOut(ctx, out, err, attempt)
	}
	for i, c := range out.Conversations {
		out.Conversations[i].Tool = cmp.Or(c.Tool, im.format)
		out.Conversations[i].Source = cmp.Or(c.Source, q.Name)
	}
	return out, err
}

// loadFile reads a file into conversations.
func (im *importer) loadFile(ctx context.Context, r io.ReadSeeker) (ImportResult, error) {
	v := im.view
	q := im.q
	if !v.Caller().HasAccess(scrollback.AccessWrite) {
		return im.out, v.Caller().AccessError("transfer.Import", scrollback.AccessWrite)
	}
	format, err := chooseFormat(ctx, im, r)
	switch {
	case err != nil:
		return im.out, err
	case im.tool != nil:
		if err := im.maySummarize(ctx); err != nil {
			return im.out, err
		}
		return importTool(ctx, im, im.tool, im.place)
	case format == nil && q.Summarize:
		return im.out, scrollback.ParamErrorf("transfer.Import", "summarize", i18n.BundleBringsOwnSummaries)
	case format == nil && q.Mask:
		return im.out, scrollback.ParamErrorf("transfer.Import", "mask", i18n.BundleCannotBeMasked)
	case format == nil:
		im.format = BundleFormat
		return importBundle(ctx, im, r)
	case q.AsCopy:
		return im.out, scrollback.ParamErrorf("transfer.Import", "as_copy",
			i18n.OnlyBundleBringsIDs)
	}
	sealed, err := fullcopy.CheckSeal(r)
	if err != nil {
		return im.out, err
	}
	im.out.Unsealed = format.Name() == fullcopy.Name && !sealed
	if q.Into == "" {
		if im.file, err = hashFile(r); err != nil {
			return im.out, err
		}
	}
	if err := im.maySummarize(ctx); err != nil {
		return im.out, err
	}
	im.format = format.Name()
	// what has only a title makes no conversation by itself
	read := 0
	empty := []transcript.Entry(nil)
	for next := range readAhead(fillDates(format.Read(&ctxReader{ctx, r})), q.prepare).takeEntries() {
		entry := next.Entry
		err := next.err
		im.out.Masked += next.masked
		if err == nil && entry.Bad != nil {
			im.skipBad(*entry.Bad)
			continue
		}
		if err == nil && read == 0 && entry.Conversation != nil && q.Into == "" && len(empty) < maxSkipped {
			empty = append(empty, entry)
			continue
		}
		if err == nil {
			for _, e := range empty {
				err = cmp.Or(err, im.takeEntry(ctx, e))
			}
			read += 1
			empty = nil
			err = cmp.Or(err, im.takeEntry(ctx, entry))
		}
		if err != nil {
			// What was read before the fault is good, and the next attempt continues from it.
			err = errors.Join(scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err), im.writing.waitWritten(im),
				im.eachConversation(context.WithoutCancel(ctx), im.endConversation))
			return im.currentResult(), err
		}
	}
	for _, e := range empty { // an export of one that is here, and empty too
		if _, there := v.Bulk().Head(ctx, scrollback.ConversationID(e.Source), scrollback.AccessWrite); there == nil {
			if err := im.takeEntry(ctx, e); err != nil {
				return im.currentResult(), err
			}
			read++
		}
	}
	if read == 0 {
		switch {
		case len(im.out.Skipped) > 0:
			return im.out, scrollback.ParamErrorf("transfer.Import", "file", i18n.NothingCouldBeRead,
				im.out.Skipped[0].Line, im.out.Skipped[0].Reason)
		case len(empty) > 0:
			return im.out, scrollback.ParamErrorf("transfer.Import", "file", i18n.FileHasNoTalk, format.Name())
		}
		return im.out, scrollback.ParamErrorf("transfer.Import", "file", i18n.FileIsEmpty)
	}
	err = errors.Join(im.writing.waitWritten(im), im.eachConversation(ctx, im.endConversation))
	return im.currentResult(), err
}

// newInstallation is for whom bundles are written and read.
func newInstallation(t *Transfer, v *engine.View) bundles.Installation {
	return bundles.Installation{View: v, Store: t.store, Archive: t.archive, Limits: t.o.Limits}
}

// importBundle reads a bundle.
func importBundle(ctx context.Context, im *importer, r io.ReadSeeker) (ImportResult, error) {
	out := im.out
	q := im.q
	if q.Into != "" {
		return out, scrollback.ParamErrorf("transfer.Import", "into",
			i18n.BundleCannotBeAdded)
	}
	b, err := bundles.Import(ctx, newInstallation(im.Transfer, im.view), readSeeker{&ctxReader{ctx, r}, r},
		bundles.ImportRequest{Project: q.Project, AsCopy: q.AsCopy, Progress: q.Progress})
	if err == nil {
		out.IDs = b.IDs
		out.Conversations = append(out.Conversations,
			Imported{ID: b.ID, Created: b.Result == ResultCreated, Messages: b.Messages, Total: b.Total, Result: b.Result})
		_ = im.noteBundled(ctx, b.ID) // all of it is here; the same bundle again notes what could not be noted
	}
	return out, err
}

// readSeeker joins a reader and a seeker of the same file.
type readSeeker struct {
	io.Reader
	io.Seeker
}

// chooseFormat chooses the reader of a file; nil means a bundle, or the importer's tool.
func chooseFormat(ctx context.Context, im *importer, r io.ReadSeeker) (transcript.Importer, error) {
	name := im.q.Format
	head, err := bufio.NewReaderSize(r, sniffBytes).Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return nil, scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
	}
	head = transcript.DecodeUTF8Head(head)
	if name == BundleFormat || name == "" && bundle.Sniff(head) {
		return nil, nil
	}
	names := []string{BundleFormat}
	var last transcript.Importer
	for i, f := range im.o.Importers {
		names = append(names, f.Name())
		if f.Name() != name && (name != "" || !f.Sniff(head)) {
			continue
		}
		if last = f; name != "" || i < len(im.o.Importers)-1 {
			return f, nil
		}
	}
	if len(im.o.Tools) > 0 { // the last importer takes what others leave
		for _, tool := range im.o.Tools {
			names = append(names, tool.Name())
		}
		file, err := newUpload(r, im.q.Name, head)
		if err == nil {
			im.tool, im.place, err = findTool(ctx, im.Transfer, file, im.q)
		}
		if im.tool != nil || err != nil {
			return nil, err
		}
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
		}
	}
	if last != nil {
		return last, nil
	}
	if bytes.HasPrefix(head, encryptedMagic) {
		return nil, scrollback.ParamErrorf("transfer.Import", "file", i18n.EncryptedIsForCommand)
	}
	if looks := transcript.RecognizeUnread(head); looks != "" && name == "" {
		return nil, scrollback.ParamErrorf("transfer.Import", "file", i18n.FileLooksLike,
			i18n.ID(looks))
	}
	if name != "" {
		return nil, scrollback.ParamErrorf("transfer.Import", "from", i18n.UnknownFormat, name,
			strings.Join(names, ", "))
	}
	slices.Sort(names)
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, scrollback.ParamErrorf("transfer.Import", "file", i18n.NothingInFile)
	}
	known := strings.Join(slices.Compact(names), ", ") // Gemini CLI is a format and a tool
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return nil, scrollback.ParamErrorf("transfer.Import", "file",
			i18n.DatabaseOfNoKnownTool, known)
	}
	return nil, scrollback.ParamErrorf("transfer.Import", "file",
		i18n.FileOfNoKnownFormat, known, firstLine(head))
}

// encryptedMagic begins a file of age, which internal/identity opens: its library is too much for a program that only
// has to say what such a file is.
var encryptedMagic = []byte("age-encryption.org/v1\n")

// firstLine returns the beginning of a file for a message: of what is no text, question marks.
func firstLine(head []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	plain := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(line))
	return clip.HeadBytes(plain, 80)
}

func hashFile(r io.ReadSeeker) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
	}
	_, err := r.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, scrollback.Wrap(scrollback.Canceled, "transfer.Import", err)
	}
	return c.r.Read(p)
}
