package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/search"
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
func (e *Engine) incoming(ctx context.Context, r *TurnRequest, sh resolved) ([]store.Incoming, error) {
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
func (e *Engine) admitParts(ctx context.Context, id scrollback.ConversationID, m scrollback.Message, sh resolved, attached map[int][]byte) (store.Incoming, error) {
	in := store.Incoming{Message: m}
	in.Parts = make(scrollback.Parts, 0, len(m.Parts))
	if err := e.admitImages(ctx, id, &m, &in, attached); err != nil {
		return in, err
	}
	long, room := e.longResults(m, sh)
	if m.Role == scrollback.RoleUser {
		long, room = e.longTexts(m, sh)
	}
	for i, p := range m.Parts {
		var err error
		switch part := p.(type) {
		case scrollback.Text:
			if long[i] && long[i-1] {
				continue // it is kept with the one before
			}
			if long[i] {
				part.Text = m.Parts[i:runEnd(long, i)].Text()
				p, err = e.shortenText(ctx, &in, part, room)
			}
		case scrollback.ToolResult:
			// What is no look-up of ours is never passed over by search and grep.
			part.Recall = part.Recall && strings.HasPrefix(part.Name, scrollback.RecallPrefix)
			p = part
			switch {
			case part.Artifact != "" && part.Text == "":
				p, err = e.showResult(ctx, &in, id, part)
			case part.Artifact != "":
				_, err = e.mentioned(ctx, &in, id, part.Artifact)
			case long[i]:
				p, err = e.shortenResult(ctx, &in, part, room)
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
		case scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
		if err != nil {
			return in, err
		}
		in.Parts = append(in.Parts, p)
	}
	return in, nil
}

// admitImages fills in the images of a message, with the bytes that are attached.
func (e *Engine) admitImages(ctx context.Context, id scrollback.ConversationID, m *scrollback.Message, in *store.Incoming, attached map[int][]byte) error {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		part, ok := p.(scrollback.Image)
		if !ok {
			continue
		}
		if b := attached[i]; b != nil {
			a, err := e.keep(ctx, bytes.NewReader(b), part.Name)
			if err != nil {
				return err
			}
			part.Artifact = a.ID
			in.Mentions = append(in.Mentions, a)
		}
		var err error
		if m.Parts[i], err = e.describeImage(ctx, in, id, part); err != nil {
			return err
		}
	}
	return nil
}

// textRoom is how many tokens the texts of a user's message may take: half of the
// budget, and in a small window what the fixed layers, the folded past at its biggest
// and the message's images leave of it.
func (e *Engine) textRoom(ps scrollback.Parts, sh resolved) int64 {
	rest := sh.leaves(0)
	for _, p := range ps {
		if _, ok := p.(scrollback.Image); ok {
			rest -= e.store.Weigh(scrollback.Parts{p}).Tokens
		}
	}
	return max(sh.budget.Tokens/shortShare, min(sh.budget.Tokens/2, rest))
}

// longTexts says which texts of a user's message have to go behind artifacts: the
// longest ones, while all of them together are more than there is room for. room is
// what is left of each, in tokens.
func (e *Engine) longTexts(m scrollback.Message, sh resolved) (long map[int]bool, room int64) {
	weights := map[int]int64{}
	var total, bytes int64
	for i, p := range m.Parts {
		if t, ok := p.(scrollback.Text); ok {
			weights[i] = int64(len(t.Text))
			bytes += weights[i]
		}
	}
	most := e.textRoom(m.Parts, sh)
	if bytes <= most { // a token has at least a byte
		return nil, 0
	}
	for i := range weights {
		weights[i] = e.store.Weigh(scrollback.Parts{m.Parts[i]}).Tokens
		total += weights[i]
	}
	long = map[int]bool{}
	for total > most && len(weights) > 0 {
		i := longest(weights)
		long[i] = true
		total -= weights[i]
		delete(weights, i)
	}
	return long, sh.budget.Tokens / shortShare / max(1, runs(long))
}

// longest is the part that weighs most, the first of equals.
func longest(weights map[int]int64) int {
	best := -1
	for i, w := range weights {
		if best < 0 || w > weights[best] || w == weights[best] && i < best {
			best = i
		}
	}
	return best
}

// resultsShare is the share of the budget that the outputs of one message may take
// together: those that were asked for at once stay together in the window.
const resultsShare = 3

// outputsLeast is the share of the budget that outputs may always take together.
const outputsLeast = 16

// outputsRoom is how many tokens outputs may take beside the question they are for.
func (s resolved) outputsRoom() int64 {
	return max(s.budget.Tokens/outputsLeast, s.leaves(s.asked))
}

// question is the weight in tokens of what outputs are to stand beside at the end of a
// path: the newest user message, and the newest message that made calls. What stands
// further back than a page of messages counts as half of the budget.
func (e *Engine) question(ctx context.Context, b scrollback.Branch, sh resolved) (int64, error) {
	ms, err := e.store.Messages(ctx, b.ID, max(1, b.HeadSeq-scrollback.ListDefault), b.HeadSeq)
	var tokens int64
	calls := false
	for _, m := range slices.Backward(ms) {
		switch {
		case m.Role == scrollback.RoleUser:
			return tokens + m.Weight.Tokens, err
		case m.Role == scrollback.RoleAssistant && !calls:
			tokens, calls = m.Weight.Tokens, true
		}
	}
	return tokens + sh.budget.Tokens/2, err
}

// leastShortened is the weight in tokens from which an output can become shorter by
// going behind an artifact.
const leastShortened = 200

// longResults says which tool outputs have to go behind artifacts: each one that is
// too long by itself, and the longest ones while all of them together are too long.
// room is what is left of each, in tokens.
func (e *Engine) longResults(m scrollback.Message, sh resolved) (long map[int]bool, room int64) {
	limit := min(outputBytes, max(outputFloor, int(sh.budget.Tokens/10*bytesPerUnit)))
	share := min(sh.budget.Tokens/resultsShare, sh.outputsRoom())
	var total int64
	long, weights := map[int]bool{}, map[int]int64{}
	for i, p := range m.Parts {
		r, ok := p.(scrollback.ToolResult)
		switch {
		case !ok || r.Artifact != "" || r.Recall && strings.HasPrefix(r.Name, scrollback.RecallPrefix):
		case len(r.Text) > limit:
			long[i] = true
		default:
			weights[i] = int64(len(r.Text)) // a token has at least a byte
			total += weights[i]
		}
	}
	if len(long) == 0 && total <= share {
		return nil, 0
	}
	total = 0
	for i := range weights {
		weights[i] = e.store.Weigh(scrollback.Parts{m.Parts[i]}).Tokens
		total += weights[i]
	}
	for len(weights) > 0 && (total > share || len(long) > 0 && total > share/2) {
		i := longest(weights)
		if weights[i] < leastShortened {
			break
		}
		long[i] = true
		total -= weights[i]
		delete(weights, i)
	}
	return long, max(0, share-total) / max(1, int64(len(long)))
}

// shortShare is the share of the budget that the heads and tails of a message's long
// texts may take.
const shortShare = 8

// runEnd is where a run of long texts that begins at i ends: neighbours are kept as
// one artifact, so that many parts leave no more behind than one.
func runEnd(long map[int]bool, i int) int {
	for long[i] {
		i++
	}
	return i
}

// runs counts the runs of long texts.
func runs(long map[int]bool) (n int64) {
	for i := range long {
		if !long[i-1] {
			n++
		}
	}
	return n
}

// shortenText keeps a user's text as a file part, and leaves its head and tail, as
// much as there is room for, as the text.
func (e *Engine) shortenText(ctx context.Context, in *store.Incoming, t scrollback.Text, room int64) (scrollback.Part, error) {
	whole := t.Text
	a, err := e.keepText(ctx, in, whole, "long message")
	if err != nil {
		return t, err
	}
	in.Parts = append(in.Parts, scrollback.File{Artifact: a.ID, MediaType: a.MediaType, Name: a.Name, Size: a.Size})
	t.Text = e.endsWithin(whole, a, room)
	return t, nil
}

// endsWithin is the head and tail of a text, as much as there is room for in tokens.
func (e *Engine) endsWithin(text string, a scrollback.Artifact, room int64) string {
	for head, tail := headBytes, tailBytes; ; head, tail = head/2, tail/2 {
		short := headAndTail(text, a, head, tail)
		if head < 64 || e.store.Weigh(scrollback.Parts{scrollback.Text{Text: short}}).Tokens <= room {
			return short
		}
	}
}

// indexFile makes a message be found by the text of a file it attaches.
func (e *Engine) indexFile(ctx context.Context, in *store.Incoming, f scrollback.File) error {
	if !strings.HasPrefix(f.MediaType, "text/") && f.MediaType != "application/json" {
		return nil
	}
	head, _, err := e.artifactEnds(ctx, f.Artifact, search.MaxArtifactBytes, 0)
	if scrollback.CodeOf(err) == scrollback.Invalid {
		return nil // it only looked like text
	}
	in.Index += "\n" + head
	return err
}

// showResult fills in the ends of an output that is behind an artifact already.
func (e *Engine) showResult(ctx context.Context, in *store.Incoming, id scrollback.ConversationID, r scrollback.ToolResult) (scrollback.Part, error) {
	a, err := e.mentioned(ctx, in, id, r.Artifact)
	if err != nil {
		return r, err
	}
	head, tail, err := e.artifactEnds(ctx, a.ID, search.MaxArtifactBytes, tailBytes)
	if err != nil {
		return r, err
	}
	in.Index += "\n" + head
	r.Text = head
	if a.Size > headBytes+tailBytes {
		r.Text = leftOut(clipBytes(head, headBytes), tail, a)
	}
	return r, nil
}

// shortenResult keeps a big tool output behind an artifact.
func (e *Engine) shortenResult(ctx context.Context, in *store.Incoming, r scrollback.ToolResult, room int64) (scrollback.Part, error) {
	a, err := e.keepText(ctx, in, r.Text, "output of "+nonEmpty(r.Name, "a tool"))
	r.Text, r.Artifact = e.endsWithin(r.Text, a, room), a.ID
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
	in.Index += "\n" + clipBytes(text, search.MaxArtifactBytes)
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
	return leftOut(head, tail, a)
}

// leftOut is the two ends of a text, and where the whole is.
func leftOut(head, tail string, a scrollback.Artifact) string {
	return fmt.Sprintf("%s\n[… %s left out here. The whole is %s: read it with context_read, context_tail or context_grep.]\n%s",
		head, sizeOf(a.Size-int64(len(head)+len(tail))), scrollback.ArtifactRef(a.ID), tail)
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
	ref, err := e.store.Refs.Get(ctx, id, scrollback.ArtifactRef(art))
	if err != nil {
		return scrollback.Artifact{}, err
	}
	return scrollback.Artifact{ID: art, MediaType: ref.MediaType, Name: ref.Hint, Size: ref.Bytes, CreatedAt: ref.CreatedAt}, nil
}

// textOf is what search reads of a message's artifacts.
func (e *Engine) textOf(ctx context.Context, ps scrollback.Parts) (string, error) {
	var out strings.Builder
	for _, id := range search.Artifacts(ps) {
		f, _, err := e.archive.OpenArtifact(ctx, id)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(io.LimitReader(f, search.MaxArtifactBytes+utf8.UTFMax))
		f.Close()
		if err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, "engine.Import", err)
		}
		if begins := clipBytes(string(text), search.MaxArtifactBytes); utf8.ValidString(begins) {
			out.WriteString("\n" + begins)
		}
	}
	return out.String(), nil
}
