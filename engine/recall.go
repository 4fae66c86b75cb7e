package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/gif"  // sizes of attachments
	_ "image/jpeg" // sizes of attachments
	_ "image/png"  // sizes of attachments
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/store"
)

// Refs lists what a conversation mentions, newest first, and the next cursor.
func (e *Engine) Refs(ctx context.Context, id scrollback.ConversationID, q RefQuery) ([]scrollback.RefEntry, string, error) {
	items, next, err := e.store.Refs.List(ctx, id, q)
	if items == nil {
		items = []scrollback.RefEntry{}
	}
	return items, next, err
}

// Owner is a conversation that mentions a ref: for the operator at the command
// line, who may read them all.
func (e *Engine) Owner(ctx context.Context, ref scrollback.Ref) (scrollback.ConversationID, error) {
	return e.store.Refs.Owner(ctx, ref)
}

// Read answers a page of what a ref points at.
func (e *Engine) Read(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref, offset int64, limit int) (scrollback.Page, error) {
	entry, err := e.store.Refs.Get(ctx, id, ref)
	if err != nil {
		return scrollback.Page{}, err
	}
	return e.archive.Read(ctx, entry, offset, limit)
}

// Tail answers the last lines of what a ref points at.
func (e *Engine) Tail(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref, lines int) (scrollback.Tail, error) {
	entry, err := e.store.Refs.Get(ctx, id, ref)
	if err != nil {
		return scrollback.Tail{}, err
	}
	return e.archive.Tail(ctx, entry, lines)
}

// Grep finds matching lines behind a ref, or in the whole conversation.
func (e *Engine) Grep(ctx context.Context, id scrollback.ConversationID, q scrollback.GrepQuery) (scrollback.GrepResult, error) {
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return scrollback.GrepResult{}, err
	}
	lineage, err := e.store.Lineage(ctx, id)
	if err != nil {
		return scrollback.GrepResult{}, err
	}
	scope := archive.Scope{Artifact: func(ctx context.Context, art scrollback.ArtifactID) (scrollback.Artifact, bool, error) {
		entry, err := e.store.Refs.In(ctx, lineage, scrollback.ArtifactRef(art))
		if scrollback.CodeOf(err) == scrollback.NotFound {
			return scrollback.Artifact{}, false, nil
		}
		return scrollback.Artifact{ID: art, MediaType: entry.MediaType, Name: entry.Hint, Size: entry.Bytes}, err == nil, err
	}}
	if q.Ref != "" {
		if _, err := e.store.Refs.In(ctx, lineage, q.Ref); err != nil {
			return scrollback.GrepResult{}, err
		}
		return e.archive.Grep(ctx, scope, q)
	}
	for _, s := range head.Branch.View.Segments {
		scope.Stretches = append(scope.Stretches, archive.Stretch{Segment: s.ID})
	}
	live := e.store.Walk(ctx, head.Branch.ID, head.Branch.View.Boundary+1, head.Branch.HeadSeq)
	scope.Stretches = append(scope.Stretches, archive.Stretch{Messages: live})
	return e.archive.Grep(ctx, scope, q)
}

// Search finds messages by words: in one conversation and its ancestors, in a
// project, or everywhere.
func (e *Engine) Search(ctx context.Context, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	const op = "engine.Search"
	switch {
	case q.Limit < 0 || q.Limit > scrollback.SearchMaxHTTP:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "limit", "limit must be 1 to %d", scrollback.SearchMaxHTTP)
	case q.Around < 0 || q.Around > scrollback.AroundMax:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "around", "around must be 0 to %d", scrollback.AroundMax)
	case q.Order != "" && q.Order != scrollback.OrderRelevance && q.Order != scrollback.OrderTime:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "order", "order must be %s or %s", scrollback.OrderRelevance, scrollback.OrderTime)
	case len(q.Query) > 4*scrollback.PatternMax:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "query", "a query is at most %d bytes", 4*scrollback.PatternMax)
	}
	if q.Role != "" {
		if _, err := scrollback.ParseRole(string(q.Role)); err != nil {
			return scrollback.SearchResult{}, &scrollback.Error{Code: scrollback.Invalid, Op: op, Param: "role", Err: err}
		}
	}
	if q.Conversation != "" {
		if _, err := e.store.Head(ctx, q.Conversation); err != nil {
			return scrollback.SearchResult{}, err
		}
	}
	return e.store.Search(ctx, q)
}

// Artifact opens the bytes of an artifact for a conversation that mentions it.
func (e *Engine) Artifact(ctx context.Context, id scrollback.ConversationID, art scrollback.ArtifactID) (scrollback.Artifact, io.ReadSeekCloser, error) {
	entry, err := e.store.Refs.Get(ctx, id, scrollback.ArtifactRef(art))
	if err != nil {
		return scrollback.Artifact{}, nil, err
	}
	f, size, err := e.archive.OpenArtifact(ctx, art)
	return scrollback.Artifact{ID: art, MediaType: entry.MediaType, Name: entry.Hint, Size: size, CreatedAt: entry.CreatedAt}, f, err
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
	return a, e.store.Refs.PutArtifact(ctx, a, id)
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

// artifactEnds is the first and the last bytes of a text artifact, at most so many,
// cut between characters; one that is no text there is invalid.
func (e *Engine) artifactEnds(ctx context.Context, id scrollback.ArtifactID, first, last int64) (head, tail string, err error) {
	const op = "engine"
	f, size, err := e.archive.OpenArtifact(ctx, id)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	read := func(from, n int64) (string, error) {
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, op, err)
		}
		b, err := io.ReadAll(io.LimitReader(f, n))
		return string(b), scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	if head, err = read(0, min(size, first+utf8.UTFMax)); err != nil {
		return "", "", err
	}
	head = clipBytes(head, int(first))
	if tail, err = read(max(0, size-last), last); err != nil {
		return "", "", err
	}
	for range utf8.UTFMax - 1 {
		if tail != "" && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	if !utf8.ValidString(head) || !utf8.ValidString(tail) {
		return "", "", scrollback.ParamErrorf(op, "artifact", "artifact %s is not text", id)
	}
	return head, tail, nil
}

// answerCalls answers the calls of a step that are ours to answer: those of
// recall tools, and those of tools nobody has defined. The rest stay open for
// the client.
func (lt *liveTurn) answerCalls(ctx context.Context, step int, calls []scrollback.ToolCall) (answers scrollback.Parts, open []scrollback.ToolCall) {
	known := map[string]bool{}
	lt.mu.Lock()
	for _, t := range lt.head.Settings.Tools {
		known[t.Name] = true
	}
	lt.mu.Unlock()
	for _, c := range calls {
		if known[c.Name] {
			open = append(open, c)
			continue
		}
		r := scrollback.ToolResult{CallID: c.ID, Name: c.Name, Recall: recallTools[c.Name] != nil}
		switch tool := recallTools[c.Name]; {
		case tool == nil:
			r.Text, r.IsError = "There is no tool named "+c.Name+".", true
		case step > maxSteps:
			r.Text, r.IsError = "No more look-ups in this turn: answer now with what you have.", true
		default:
			text, err := tool(ctx, lt.e, recallCall{lt.turn.Conversation, c.Arguments, lt.room(len(calls))})
			r.Text = text
			if err != nil {
				r.Text, r.IsError = scrollback.Shown(err), true
			}
		}
		answers = append(answers, r)
	}
	return answers, open
}

// Bounds of a recall result: recallBytes, and a share of the budget; of those that are
// asked for at once, a share of the budget together.
const (
	recallBytes  = 16 << 10
	recallShare  = 0.15
	recallsShare = 0.3
)

// room is how big a recall result may be, where so many calls are made at once.
func (lt *liveTurn) room(calls int) recallRoom {
	share := min(recallShare, recallsShare/float64(calls))
	return recallRoom{bytes: recallBytes, tokens: min(int64(share*float64(lt.shape.budget.Tokens)), lt.shape.outputsRoom()/int64(calls))}
}

// recallRoom bounds a result in bytes and tokens.
type recallRoom struct {
	bytes  int
	tokens int64
}

type recallCall struct {
	conversation scrollback.ConversationID
	arguments    json.RawMessage
	room         recallRoom
}

// recallTools is the table of what the model may call itself.
var recallTools = map[string]func(ctx context.Context, e *Engine, c recallCall) (string, error){
	"context_list":   recallList,
	"context_read":   recallRead,
	"context_tail":   recallTail,
	"context_grep":   recallGrep,
	"context_search": recallSearch,
}
