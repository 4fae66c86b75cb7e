package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/workspace/reference"
)

// Prompt is what a person says in a conversation, before its marks are followed.
type Prompt struct {
	Head  store.Head
	Parts scrollback.Parts
	Plain bool            // @path without brackets is a mark too
	Roots func() []string // that may be read now
	Call  func(ctx context.Context, tool string, args json.RawMessage) (string, error)
}

// FollowMarks returns a prompt's parts with a block behind them for each of its marks, and the
// bytes of the images among the blocks, for [Intake.Admit]. What a message that the window
// shows already has is not repeated. A mark that cannot be followed becomes a block that
// says why.
func (in *Intake) FollowMarks(ctx context.Context, p Prompt) (scrollback.Parts, map[int][]byte, error) {
	said := p.Parts.Text()
	marks := reference.Parse(said, p.Plain)
	if len(marks) == 0 {
		return p.Parts, nil, nil
	}
	found, err := reference.Resolve(ctx, said,
		reference.Options{Roots: p.Roots(), Plain: p.Plain, Call: p.Call, Remote: in.Limits.RemoteImages,
			Limits: reference.MarkLimits{ImageBytes: in.Limits.ArtifactBytes, Images: in.imagesLeft(p.Parts)}})
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for i := range found {
		if err := in.fitFoundImage(ctx, &found[i]); err != nil {
			return nil, nil, err
		}
		if isVersioned(&found[i]) {
			names = append(names, found[i].Source)
		}
	}
	known, err := in.store.Refs.FindSources(ctx, p.Head, names)
	if err != nil {
		return nil, nil, err
	}
	w := followedPrompt{Intake: in, head: p.Head, known: known, seen: map[int64]*scrollback.Message{},
		parts: withoutData(p.Parts, marks), attached: map[int][]byte{}}
	for i := range found {
		if err := w.addBlock(ctx, &found[i]); err != nil {
			return nil, nil, err
		}
	}
	return w.parts, w.attached, nil
}

// withoutData returns a prompt's parts with the alternative text of each image that stands
// in the prompt itself in place of its mark: the image, or the reason why there is none, comes
// behind the prompt, and its encoded bytes are of no use to a model. The marks are those of
// the prompt's text.
func withoutData(ps scrollback.Parts, marks []reference.Mark) scrollback.Parts {
	out := make(scrollback.Parts, 0, len(ps))
	// the place of the next text in the text of all, as [scrollback.Parts.Text] joins them
	at := 0
	begun := false
	for _, p := range ps {
		t, ok := p.(scrollback.Text)
		if !ok || t.Reference != nil {
			out = append(out, p)
			continue
		}
		if begun {
			at++
		}
		from := at
		to := at + len(t.Text)
		rest := 0
		at = to
		begun = begun || t.Text != ""
		var kept strings.Builder
		for _, m := range marks {
			if m.IsData() && m.From >= from && m.To <= to {
				kept.WriteString(t.Text[rest:m.From-from] + m.Alt)
				rest = m.To - from
			}
		}
		if rest == 0 {
			out = append(out, p)
			continue
		}
		if t.Text = kept.String() + t.Text[rest:]; strings.TrimSpace(t.Text) != "" {
			out = append(out, t)
		}
	}
	return out
}

// fitFoundImage makes an image small enough for models, and replaces what they cannot be shown by
// the reason.
func (in *Intake) fitFoundImage(ctx context.Context, f *reference.Found) error {
	if f.Error != "" || f.Kind != scrollback.ReferenceImage {
		return nil
	}
	if f.URL != "" {
		if err := in.Limits.checkImage(scrollback.Image{URL: f.URL}); err != nil {
			f.URL = ""
			f.Error = "refused: " + scrollback.PublicMessage(err)
		}
		return nil
	}
	fit, err := in.fitter.Fit(ctx, f.Image)
	switch {
	case scrollback.CodeOf(err) == scrollback.Invalid:
		f.Image = nil
		f.Error = scrollback.PublicMessage(err)
		return nil
	case err != nil:
		return err
	case fit.Note != "" && f.Note != "":
		f.Note += "; " + fit.Note
	case fit.Note != "":
		f.Note = fit.Note
	}
	f.Image = fit.Bytes
	return nil
}

// imagesLeft returns how many images the marks of a prompt may bring beside those among its
// parts, as the resolver counts: negative for none.
func (in *Intake) imagesLeft(ps scrollback.Parts) int {
	n := in.Limits.Images
	for _, p := range ps {
		if _, ok := p.(scrollback.Image); ok {
			n--
		}
	}
	if n <= 0 {
		return -1
	}
	return n
}

// isVersioned reports whether the same content need not be sent twice. A look-up is made
// each time.
func isVersioned(f *reference.Found) bool {
	return f.Error == "" && f.Kind != scrollback.ReferenceTool && f.SHA256 != ""
}

// followedPrompt is a prompt whose marks are being followed.
type followedPrompt struct {
	*Intake
	head     store.Head
	known    map[string]store.Source
	seen     map[int64]*scrollback.Message // of the path, nil for one of another branch
	parts    scrollback.Parts
	attached map[int][]byte
}

// addBlock puts the block of one mark behind the parts.
func (w *followedPrompt) addBlock(ctx context.Context, f *reference.Found) error {
	r := f.Reference
	if isVersioned(f) {
		last := w.known[r.Source]
		if r.Version = last.Version; r.Version == 0 || last.SHA256 != r.SHA256 {
			r.Version++
		} else if shown, err := w.isShown(ctx, last, referenceBlock(r, f.Content), f.Content); err != nil {
			return err
		} else if shown {
			r.SameAs = last.Seq
		}
	}
	w.parts = append(w.parts, scrollback.Text{Text: referenceBlock(r, f.Content), Reference: &r})
	if r.Kind == scrollback.ReferenceImage && r.SameAs == 0 && r.Error == "" {
		if f.URL == "" {
			w.attached[len(w.parts)] = f.Image
		}
		w.parts = append(w.parts, scrollback.Image{Name: imageName(f), URL: f.URL})
	}
	return nil
}

// imageName returns the name of an image: the last of its path or address.
func imageName(f *reference.Found) string {
	at := f.Source
	if u, err := url.Parse(f.URL); f.URL != "" && err == nil {
		at = u.Path
	}
	if name := path.Base(at); name != "." && name != "/" && !strings.HasPrefix(at, "data:") {
		return name
	}
	return ""
}

// isShown reports whether the window shows the message that has a version, and that message
// the block that would be sent again, or the same content as another program showed it.
func (w *followedPrompt) isShown(ctx context.Context, s store.Source, text, content string) (bool, error) {
	b := w.head.Branch
	if s.Seq > b.HeadSeq || b.View.LeavesOut(s.Seq) ||
		s.Seq <= b.View.Boundary && !slices.Contains(b.View.Carried, s.Seq) && !slices.Contains(w.head.PinnedSeqs, s.Seq) {
		return false, nil
	}
	m, ok := w.seen[s.Seq]
	if !ok {
		at, err := w.store.ReadMessageAt(ctx, b, s.Seq)
		if err != nil {
			return false, err
		}
		m = &at
		w.seen[s.Seq] = m
	}
	sum := sha256.Sum256([]byte(text))
	behind := string(scrollback.ArtifactRef(scrollback.ArtifactID(hex.EncodeToString(sum[:]))))
	return m.Branch == s.Branch && slices.ContainsFunc(m.Parts, func(p scrollback.Part) bool {
		t, ok := p.(scrollback.Text)
		return ok && t.Reference != nil && t.Reference.IsWhole() && t.Reference.Source == s.Name &&
			t.Reference.SHA256 == s.SHA256 &&
			(t.Text == text || strings.Contains(t.Text, behind) || bareContent(t.Text) == content && content != "")
	}), nil
}

// bareContent returns what stands behind the head of a block that has no fence, as a notebook of another
// program brings it; empty for any other text.
func bareContent(text string) string {
	if head, content, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(head, "[") && strings.HasSuffix(head, "]") {
		return content
	}
	return ""
}

// referenceBlock returns what a model reads for a mark.
func referenceBlock(r scrollback.Reference, content string) string {
	head := "[" + string(r.Kind) + " " + marks.EscapeLine(r.Source)
	switch {
	case r.Error != "":
		return head + ": " + marks.EscapeLine(r.Error) + "]"
	case r.SameAs > 0:
		return fmt.Sprintf("%s: unchanged since version %d, see message #%d]", head, r.Version, r.SameAs)
	case r.Version > 0:
		head += fmt.Sprintf(", version %d", r.Version)
	}
	if r.Note != "" {
		head += "; " + marks.EscapeLine(r.Note)
	}
	if r.Kind == scrollback.ReferenceImage {
		return head + "]"
	}
	return head + "]\n" + fenceText(r.Language, content)
}

// fenceText returns a text between fences longer than any run of backticks in it, so that it cannot
// end its own block.
func fenceText(language, text string) string {
	longest := 2
	run := 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + language + "\n" + text + fence
}

// RepeatReferences returns what the window of a path lacks of what its prompt refers to as unchanged:
// the parts of the messages that have it, or, where those are not there, nothing.
func (in *Intake) RepeatReferences(ctx context.Context, b scrollback.Branch,
	lacks []scrollback.Reference) (out scrollback.Parts, err error) {
	for _, r := range lacks {
		m, err := in.store.ReadMessageAt(ctx, b, r.SameAs)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, p := range m.Parts {
			t, ok := p.(scrollback.Text)
			if !ok || t.Reference == nil || !t.Reference.IsWhole() || t.Reference.Source != r.Source ||
				t.Reference.SHA256 != r.SHA256 {
				continue
			}
			out = append(out, t)
			if image, ok := nextPart(m.Parts, i).(scrollback.Image); ok && r.Kind == scrollback.ReferenceImage {
				out = append(out, image)
			}
		}
	}
	return out, nil
}

func nextPart(ps scrollback.Parts, i int) scrollback.Part {
	if i+1 < len(ps) {
		return ps[i+1]
	}
	return nil
}
