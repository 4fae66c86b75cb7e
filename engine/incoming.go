package engine

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif"  // sizes of attachments
	_ "image/jpeg" // sizes of attachments
	_ "image/png"  // sizes of attachments
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
)

// A tool output over outputBytes, or over a tenth of the budget if that is less,
// but never under outputFloor, becomes an artifact: its head and tail stay.
const (
	outputBytes  = 16 << 10
	outputFloor  = 4 << 10
	headBytes    = 2 << 10
	tailBytes    = 1 << 10
	bytesPerUnit = 4 // bytes that a token of budget stands for, for this bound
)

// incoming checks what a request brings and makes messages of it.
func (e *Engine) incoming(ctx context.Context, r *TurnRequest, sh shape) ([]store.Incoming, error) {
	const op = "engine.Turn"
	if len(r.Message) > 0 && len(r.ToolResults) > 0 {
		return nil, scrollback.ParamErrorf(op, "tool_results", "give a message or tool results, not both")
	}
	if len(r.MessageID) > 100 || strings.ContainsFunc(string(r.MessageID), notPrintable) {
		return nil, scrollback.ParamErrorf(op, "message_id", "the id of a message is at most 100 printable characters")
	}
	var m scrollback.Message
	switch {
	case len(r.Message) > 0:
		m = scrollback.Message{ID: r.MessageID, Role: scrollback.RoleUser, Parts: r.Message}
		if err := e.CheckMessage(m.Parts); err != nil {
			return nil, err
		}
	case len(r.ToolResults) > 0:
		m = scrollback.Message{ID: r.MessageID, Role: scrollback.RoleTool}
		for _, res := range r.ToolResults {
			m.Parts = append(m.Parts, scrollback.ToolResult{CallID: res.CallID, Text: res.Text, Artifact: res.Artifact, IsError: res.IsError})
		}
	default:
		return nil, nil
	}
	if len(m.Parts) > e.o.MaxParts {
		return nil, scrollback.ParamErrorf(op, "tool_results", "at most %d results are taken at once", e.o.MaxParts).Because(scrollback.ErrTooLarge)
	}
	in, err := e.admitParts(ctx, r.Conversation, m, sh, nil)
	return []store.Incoming{in}, err
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

func textParts(ps scrollback.Parts) (out []scrollback.Text) {
	for _, p := range ps {
		if t, ok := p.(scrollback.Text); ok {
			out = append(out, t)
		}
	}
	return out
}

// CheckMessage says what is wrong with a user's message, before anything is
// written: it is not empty, holds only text, images and files, and is within the
// bounds.
func (e *Engine) CheckMessage(ps scrollback.Parts) error {
	const op = "engine.Turn"
	for i, p := range ps {
		switch p.(type) {
		case scrollback.Text, scrollback.Image, scrollback.File:
		default:
			return scrollback.ParamErrorf(op, "message", "part %d: a user's message holds text, images and files", i)
		}
	}
	if strings.TrimSpace(ps.Text()) == "" && len(ps) == len(textParts(ps)) {
		return scrollback.ParamErrorf(op, "message", "the message is empty")
	}
	if len(ps) > e.o.MaxParts {
		return scrollback.ParamErrorf(op, "message", "a message has at most %d parts", e.o.MaxParts).Because(scrollback.ErrTooLarge)
	}
	chars := 0
	for _, t := range textParts(ps) {
		if !utf8.ValidString(t.Text) {
			return scrollback.ParamErrorf(op, "message", "the message is not UTF-8")
		}
		chars += utf8.RuneCountInString(t.Text)
	}
	if chars > e.o.MaxMessageChars {
		return scrollback.ParamErrorf(op, "message", "the message has %d characters, at most %d are taken", chars, e.o.MaxMessageChars).Because(scrollback.ErrTooLarge)
	}
	return nil
}

// admitParts makes an incoming message: big texts go behind artifacts with their
// head and tail in their place, attached bytes are kept, and artifacts that are
// named must be known to the conversation. attached is by index of the part.
func (e *Engine) admitParts(ctx context.Context, id scrollback.ConversationID, m scrollback.Message, sh shape, attached map[int][]byte) (store.Incoming, error) {
	in := store.Incoming{Message: m}
	in.Parts = make(scrollback.Parts, 0, len(m.Parts))
	long := e.longTexts(m, sh)
	for i, p := range m.Parts {
		var err error
		switch part := p.(type) {
		case scrollback.Text:
			if long[i] {
				p, err = e.shortenText(ctx, &in, part, sh)
			}
		case scrollback.ToolResult:
			p, err = e.shortenResult(ctx, &in, id, part, sh)
		case scrollback.Image:
			if b := attached[i]; b != nil {
				a, keepErr := e.keep(ctx, bytes.NewReader(b), part.Name)
				part.Artifact, err = a.ID, keepErr
				in.Mentions = append(in.Mentions, a)
			}
			if err == nil {
				p, err = e.describeImage(ctx, &in, id, part)
			}
		case scrollback.File:
			if b := attached[i]; b != nil {
				a, keepErr := e.keep(ctx, bytes.NewReader(b), part.Name)
				part.Artifact, part.MediaType, part.Size, err = a.ID, a.MediaType, a.Size, keepErr
				in.Mentions = append(in.Mentions, a)
				p = part
			} else {
				a, findErr := e.mentioned(ctx, &in, id, part.Artifact)
				part.MediaType, part.Size, err = a.MediaType, a.Size, findErr
				p = part
			}
			if err == nil {
				err = e.indexFile(ctx, &in, part)
			}
		case scrollback.ToolCall, scrollback.Reasoning:
		}
		if err != nil {
			return in, err
		}
		in.Parts = append(in.Parts, p)
	}
	return in, nil
}

// longTexts says which texts of a user's message have to go behind artifacts: the
// longest ones, while all of them together are over half the budget.
func (e *Engine) longTexts(m scrollback.Message, sh shape) map[int]bool {
	if m.Role != scrollback.RoleUser {
		return nil
	}
	weights := map[int]int64{}
	var total, bytes int64
	for i, p := range m.Parts {
		if t, ok := p.(scrollback.Text); ok {
			weights[i] = int64(len(t.Text))
			bytes += weights[i]
		}
	}
	half := sh.budget.Tokens / 2
	if bytes <= half { // a token has at least a byte
		return nil
	}
	for i := range weights {
		weights[i] = e.store.Weigh(scrollback.Parts{m.Parts[i]}).Tokens
		total += weights[i]
	}
	long := map[int]bool{}
	for total > half && len(long) < len(weights) {
		longest, most := -1, int64(-1)
		for i, w := range weights {
			if !long[i] && (w > most || w == most && i < longest) {
				longest, most = i, w
			}
		}
		long[longest] = true
		total -= most
	}
	return long
}

// shortShare is the share of the budget that the head and tail of a long text may
// take.
const shortShare = 8

// shortenText keeps a user's text as a file part, and leaves its head and tail, as
// much as there is room for, as the text.
func (e *Engine) shortenText(ctx context.Context, in *store.Incoming, t scrollback.Text, sh shape) (scrollback.Part, error) {
	whole := t.Text
	a, err := e.keepText(ctx, in, whole, "long message")
	if err != nil {
		return t, err
	}
	in.Parts = append(in.Parts, scrollback.File{Artifact: a.ID, MediaType: a.MediaType, Name: a.Name, Size: a.Size})
	for head, tail := headBytes, tailBytes; ; head, tail = head/2, tail/2 {
		t.Text = headAndTail(whole, a, head, tail)
		if head < 64 || e.store.Weigh(scrollback.Parts{t}).Tokens <= sh.budget.Tokens/shortShare {
			return t, nil
		}
	}
}

// indexFile makes a message be found by the text of a file it attaches.
func (e *Engine) indexFile(ctx context.Context, in *store.Incoming, f scrollback.File) error {
	if !strings.HasPrefix(f.MediaType, "text/") && f.MediaType != "application/json" {
		return nil
	}
	text, err := e.artifactText(ctx, f.Artifact)
	if scrollback.CodeOf(err) == scrollback.Invalid {
		return nil // it only looked like text
	}
	in.Index += "\n" + clipBytes(text, store.MaxIndexBytes)
	return err
}

// shortenResult keeps a big tool output behind an artifact.
func (e *Engine) shortenResult(ctx context.Context, in *store.Incoming, id scrollback.ConversationID, r scrollback.ToolResult, sh shape) (scrollback.Part, error) {
	// What is no look-up of ours is never passed over by search and grep.
	r.Recall = r.Recall && strings.HasPrefix(r.Name, scrollback.RecallPrefix)
	if r.Artifact != "" {
		a, err := e.mentioned(ctx, in, id, r.Artifact)
		if err != nil || r.Text != "" {
			return r, err
		}
		text, err := e.artifactText(ctx, a.ID)
		if err == nil {
			in.Index += "\n" + clipBytes(text, store.MaxIndexBytes)
			r.Text = headAndTail(text, a, headBytes, tailBytes)
		}
		return r, err
	}
	limit := min(outputBytes, max(outputFloor, int(sh.budget.Tokens/10*bytesPerUnit)))
	if r.Recall || len(r.Text) <= limit {
		return r, nil
	}
	a, err := e.keepText(ctx, in, r.Text, "output of "+nonEmpty(r.Name, "a tool"))
	r.Text, r.Artifact = headAndTail(r.Text, a, headBytes, tailBytes), a.ID
	return r, err
}

func nonEmpty(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// keepText stores a text as an artifact that the message mentions and is found by.
func (e *Engine) keepText(ctx context.Context, in *store.Incoming, text, name string) (scrollback.Artifact, error) {
	id, size, err := e.archive.PutArtifact(ctx, strings.NewReader(text), int64(len(text)))
	if err != nil {
		return scrollback.Artifact{}, err
	}
	a := scrollback.Artifact{ID: id, MediaType: "text/plain", Size: size, CreatedAt: e.store.Now(),
		Name: fmt.Sprintf("%s, %s", name, sizeOf(size))}
	in.Mentions = append(in.Mentions, a)
	in.Index += "\n" + clipBytes(text, store.MaxIndexBytes)
	return a, nil
}

// headAndTail is the beginning and the end of a text, of so many bytes, and where
// the whole is.
func headAndTail(text string, a scrollback.Artifact, first, last int) string {
	if len(text) <= first+last {
		return text
	}
	head, tail := clipBytes(text, first), text[len(text)-last:]
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… %s left out here. The whole is %s: read it with context_read, context_tail or context_grep.]\n%s",
		head, sizeOf(int64(len(text)-len(head)-len(tail))), scrollback.ArtifactRef(a.ID), tail)
}

// clipBytes is at most n bytes of s, cut between characters.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// sizeOf is a size as people read it.
func sizeOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
}

// mentioned checks that the conversation may name an artifact.
func (e *Engine) mentioned(ctx context.Context, in *store.Incoming, id scrollback.ConversationID, art scrollback.ArtifactID) (scrollback.Artifact, error) {
	for _, a := range in.Mentions {
		if a.ID == art {
			return a, nil
		}
	}
	ref, err := e.store.Ref(ctx, id, scrollback.ArtifactRef(art))
	if err != nil {
		return scrollback.Artifact{}, err
	}
	return scrollback.Artifact{ID: art, MediaType: ref.MediaType, Name: ref.Hint, Size: ref.Bytes, CreatedAt: ref.CreatedAt}, nil
}

// Upload keeps an attachment for a conversation, which may then name it.
func (e *Engine) Upload(ctx context.Context, id scrollback.ConversationID, r io.Reader, name string) (scrollback.Artifact, error) {
	if _, err := e.store.Head(ctx, id); err != nil {
		return scrollback.Artifact{}, err
	}
	a, err := e.keep(ctx, r, name)
	if err != nil {
		return a, err
	}
	return a, e.store.PutArtifact(ctx, a, id)
}

// keep stores bytes as an artifact, its media type judged by what it holds.
func (e *Engine) keep(ctx context.Context, r io.Reader, name string) (scrollback.Artifact, error) {
	var head bytes.Buffer
	kind, err := mimetype.DetectReader(io.TeeReader(io.LimitReader(r, 3072), &head))
	if err != nil {
		return scrollback.Artifact{}, scrollback.Wrap(scrollback.Invalid, "engine.Upload", err)
	}
	id, size, err := e.archive.PutArtifact(ctx, io.MultiReader(&head, r), e.o.MaxArtifactBytes)
	media, _, _ := strings.Cut(kind.String(), ";")
	return scrollback.Artifact{ID: id, MediaType: media, Name: name, Size: size, CreatedAt: e.store.Now()}, err
}

// rasters are the images a model can be shown.
var rasters = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// describeImage fills in what an image part says of its bytes.
func (e *Engine) describeImage(ctx context.Context, in *store.Incoming, id scrollback.ConversationID, p scrollback.Image) (scrollback.Part, error) {
	a, err := e.mentioned(ctx, in, id, p.Artifact)
	if err != nil {
		return p, err
	}
	if !rasters[a.MediaType] {
		return p, scrollback.ParamErrorf("engine", "message", "%s is no image a model can be shown (PNG, JPEG, GIF or WebP)", a.MediaType)
	}
	p.MediaType, p.Size = a.MediaType, a.Size
	f, _, err := e.archive.OpenArtifact(ctx, a.ID)
	if err != nil {
		return p, err
	}
	defer f.Close()
	if c, _, err := image.DecodeConfig(f); err == nil {
		p.Width, p.Height = c.Width, c.Height
	}
	return p, nil
}

// artifactBytes reads an artifact whole.
func (e *Engine) artifactBytes(ctx context.Context, id scrollback.ArtifactID) ([]byte, error) {
	f, _, err := e.archive.OpenArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, e.o.MaxArtifactBytes+1))
	return b, scrollback.Wrap(scrollback.Unavailable, "engine", err)
}

// artifactText reads a text artifact whole; one that is no text is invalid.
func (e *Engine) artifactText(ctx context.Context, id scrollback.ArtifactID) (string, error) {
	b, err := e.artifactBytes(ctx, id)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", scrollback.ParamErrorf("engine", "artifact", "artifact %s is not text", id)
	}
	return string(b), nil
}

// textOf is what search reads of a message's artifacts.
func (e *Engine) textOf(ctx context.Context, ps scrollback.Parts) (string, error) {
	var out strings.Builder
	for _, p := range ps {
		var id scrollback.ArtifactID
		switch p := p.(type) {
		case scrollback.File:
			if strings.HasPrefix(p.MediaType, "text/") || p.MediaType == "application/json" {
				id = p.Artifact
			}
		case scrollback.ToolResult:
			id = p.Artifact
		case scrollback.Text, scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
		if id == "" {
			continue
		}
		f, _, err := e.archive.OpenArtifact(ctx, id)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(io.LimitReader(f, store.MaxIndexBytes+utf8.UTFMax))
		f.Close()
		if err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
		}
		if begins := clipBytes(string(text), store.MaxIndexBytes); utf8.ValidString(begins) {
			out.WriteString("\n" + begins)
		}
	}
	return out.String(), nil
}
