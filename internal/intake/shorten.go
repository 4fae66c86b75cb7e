package intake

import (
	"context"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
)

// A tool output over outputBytes, or over a tenth of the budget if that is less,
// but never under outputFloor, becomes an artifact: its head and tail stay.
const (
	outputBytes  = 16 << 10
	outputFloor  = 4 << 10
	headBytes    = 2 << 10
	tailBytes    = 1 << 10
	bytesPerUnit = 4 // bytes per token of the budget, for this bound

	inlineRunes = 140 // of the hint, where a text is cut
	hintRoom    = 200 // tokens for a text from which on there is room for its hint in the window
)

// shortShare is the share of the budget that the heads and tails of a message's long
// texts may take.
const shortShare = 8

// joinsPrevious reports whether part i is a long text that continues the one before: neighbours
// are stored as one artifact, so that many parts leave no more behind than one. What a mark
// named is stored by itself.
func joinsPrevious(ps scrollback.Parts, long map[int]bool, i int) bool {
	return long[i] && long[i-1] && len(ps[i-1:i+1].References()) == 0
}

// runEnd returns where a run of long texts that begins at i ends.
func runEnd(ps scrollback.Parts, long map[int]bool, i int) int {
	for i++; joinsPrevious(ps, long, i); i++ {
	}
	return i
}

// countRuns counts the runs of long texts.
func countRuns(ps scrollback.Parts, long map[int]bool) (n int64) {
	for i := range long {
		if !joinsPrevious(ps, long, i) {
			n++
		}
	}
	return n
}

// shortenText stores a user's text as a file part, and leaves as much of its head and
// tail as there is room for as the text.
func (a *admission) shortenText(ctx context.Context, t scrollback.Text, room int64) (scrollback.Part, error) {
	whole := t.Text
	name := "long message"
	switch {
	case t.Reference != nil:
		name = t.Reference.Source
	case room >= hintRoom:
		name = makeHint(name, whole)
	}
	art, err := a.keepText(ctx, whole, name)
	if err != nil {
		return t, err
	}
	a.out.Parts = append(a.out.Parts, scrollback.File{Artifact: art.ID, MediaType: art.MediaType, Name: art.Name,
		Size: art.Size})
	art.Name = "" // the file says it
	t.Text = a.endsWithin(whole, art, room)
	return t, nil
}

// endsWithin is as much of a text's head and tail as there is room for, in tokens.
func (a *admission) endsWithin(text string, art scrollback.Artifact, room int64) string {
	if room < hintRoom {
		art.Name = ""
	}
	for head, tail := headBytes, tailBytes; ; head, tail = head/2, tail/2 {
		short := headAndTail(text, art, head, tail)
		if head < 64 || a.store.WeighParts(scrollback.Parts{scrollback.Text{Text: short}}, a.out.Counted).Tokens <= room {
			return short
		}
	}
}

// showResult fills in the ends of an output that is already behind an artifact.
func (a *admission) showResult(ctx context.Context, r scrollback.ToolResult) (scrollback.Part, error) {
	art, err := a.checkMentioned(ctx, r.Artifact)
	if err != nil {
		return r, err
	}
	head, tail, err := a.artifactEnds(ctx, art.ID, headBytes+tailBytes, tailBytes)
	if err != nil {
		return r, err
	}
	r.Text = head
	if art.Size > headBytes+tailBytes {
		r.Text = joinEnds(clip.HeadBytes(head, headBytes), tail, art)
	}
	return r, nil
}

// shortenResult puts a big tool output behind an artifact.
func (a *admission) shortenResult(ctx context.Context, r scrollback.ToolResult, room int64) (scrollback.Part, error) {
	art, err := a.keepText(ctx, r.Text, makeHint(a.describeCall(r), r.Text))
	r.Text = a.endsWithin(r.Text, art, room)
	r.Artifact = art.ID
	return r, err
}

// keepText stores a text as an artifact that the message mentions.
func (a *admission) keepText(ctx context.Context, text, name string) (scrollback.Artifact, error) {
	id, size, err := a.put(ctx, strings.NewReader(text), int64(len(text)))
	if err != nil {
		return scrollback.Artifact{}, err
	}
	art := scrollback.Artifact{ID: id, MediaType: "text/plain", Size: size, CreatedAt: a.store.Now(), Name: name}
	a.out.Mentions = append(a.out.Mentions, art)
	return art, nil
}
