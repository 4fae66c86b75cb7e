package archive

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// grepLeaf greps the file of a leaf and the artifacts it mentions, each after the
// message that mentions it first. The log is read only if the cached file
// matches somewhere or mentions an artifact, and then only the messages that may
// match, unless the lines of the file must be numbered.
func (g *grep) grepLeaf(ctx context.Context, seg scrollback.Segment) error {
	quiet, cached, err := g.isQuiet(ctx, seg)
	if err != nil || quiet {
		return err
	}
	if !g.whole {
		return g.grepFile(ctx, seg, cached)
	}
	if g.re.sieve != nil && seg.Renderer <= sieved {
		var some []scrollback.Message
		for m, err := range g.a.src.SiftMessages(ctx, seg.Branch, seg.FirstSeq, seg.LastSeq, g.re.sieve.passFolded) {
			if err != nil {
				return scrollback.Wrap(scrollback.Internal, "archive.Grep", err)
			}
			some = append(some, m)
		}
		switch {
		case len(some) == 0:
			return ctx.Err()
		case len(g.Matches) == g.max: // the rest is only counted
			sh, err := g.a.renderers.renderLeaf(seg.Renderer, seg, some)
			if err != nil {
				return err
			}
			return g.grepSheet(ctx, seg, sh)
		}
	}
	return g.grepFile(ctx, seg, cached)
}

// grepFile greps all of a leaf's file.
func (g *grep) grepFile(ctx context.Context, seg scrollback.Segment, cached bool) error {
	sh, err := g.a.renderSheet(ctx, seg)
	if err != nil {
		return err
	}
	if !cached {
		g.a.cache.putSegment(seg, sh.text) // so that the next grep need not ask the log
	}
	return g.grepSheet(ctx, seg, sh)
}

func (g *grep) grepSheet(ctx context.Context, seg scrollback.Segment, sh *renderedSheet) error {
	ref := scrollback.HistoryRef(seg.ID)
	s := &lineScanner{grepTally: &g.grepTally, ref: &ref, place: sh.messageAt}
	if g.whole {
		s.place = sh.spokenAt
	}
	fed := 0
	for _, k := range sh.marks {
		if len(k.artifacts) == 0 {
			continue
		}
		s.grepLines(ctx, sh.text[fed:k.end])
		fed = k.end
		for _, id := range k.artifacts {
			if err := g.grepMentioned(ctx, id, k.seq); err != nil {
				return err
			}
		}
	}
	s.grepLines(ctx, sh.text[fed:])
	return ctx.Err()
}

// isQuiet reports that a leaf's cached file has nothing for this grep, and whether there
// is one.
func (g *grep) isQuiet(ctx context.Context, seg scrollback.Segment) (quiet, cached bool, err error) {
	if err := checkName(string(seg.Conversation)); err != nil {
		return false, false, err
	}
	b := g.a.cache.openSegment(seg)
	if b == nil {
		return false, false, nil
	}
	defer func() { _ = b.close() }() // read-only
	text, err := b.at(ctx, 0, int(b.size))
	if err != nil || bytes.Contains(text, []byte(scrollback.RefArtifact+":")) {
		return false, true, nil
	}
	return !g.hasMatch(ctx, text), true, ctx.Err()
}

// messageAt returns the message that a line of the sheet belongs to, and whether the line
// stands for a recall call or its result.
func (s *renderedSheet) messageAt(offset int) (int64, bool) {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].end > offset })
	if i == len(s.marks) || offset < s.marks[0].start {
		return 0, false
	}
	return s.marks[i].seq, slices.Contains(s.marks[i].recalls, offset)
}

// spokenAt is place for a grep of the whole conversation, which ignores the headings of the
// file, because nobody said them: folding must not change what is found.
func (s *renderedSheet) spokenAt(offset int) (int64, bool) {
	seq, skip := s.messageAt(offset)
	heading := slices.ContainsFunc(s.marks, func(m messageMark) bool { return m.start <= offset && offset <= m.start+1 })
	return seq, skip || heading || seq == 0
}

// grepPath greps live messages.
func (g *grep) grepPath(ctx context.Context, st Stretch) error {
	var wanted func([]byte) bool
	if g.re.sieve != nil {
		wanted = g.re.sieve.passLive
	}
	for m, err := range g.a.src.SiftMessages(ctx, st.Branch, st.From, st.To, wanted) {
		if err == nil {
			err = g.grepLive(ctx, &m)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// grepLive greps a message that is not folded.
func (g *grep) grepLive(ctx context.Context, m *scrollback.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := g.collectLiveText(ctx, m.Parts)
	if err != nil {
		return err
	}
	s := &lineScanner{grepTally: &g.grepTally, place: func(int) (int64, bool) { return m.Seq, false }}
	s.grepLines(ctx, []byte(text))
	for _, id := range listMentions(m.Parts) {
		if err := g.grepMentioned(ctx, id, m.Seq); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// collectLiveText returns the text of a live message to search, each part on lines of its
// own. The inline copy of an artifact counts only if that cannot be read.
func (g *grep) collectLiveText(ctx context.Context, ps scrollback.Parts) (string, error) {
	var parts [5]strings.Builder
	add := func(i int, s string) {
		parts[i].WriteString(s)
		if s != "" && !strings.HasSuffix(s, "\n") {
			parts[i].WriteByte('\n')
		}
	}
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			if !p.IsRecall() {
				add(0, p.Text)
			}
		case scrollback.ToolResult:
			if p.Recall {
				continue
			}
			ok, err := g.isReadable(ctx, p.Artifact)
			if err != nil {
				return "", err
			}
			if !ok || isNeverText(g.known[p.Artifact].mediaType) {
				add(1, p.Text)
			}
		case scrollback.ToolCall:
			if !p.IsRecall() {
				add(2, quoteLine(p.Name)+" "+string(plainjson.Unescape(p.Arguments)))
			}
		case scrollback.Reasoning:
			add(3, p.Text)
		case scrollback.Image:
			add(4, quoteLine(p.Location())+" "+quoteLine(p.Name))
		case scrollback.File:
			add(4, string(scrollback.ArtifactRef(p.Artifact))+" "+quoteLine(p.Name))
		}
	}
	out := ""
	for i := range parts {
		out += parts[i].String()
	}
	return out, nil
}

// isReadable reports whether an artifact may be read and may be text.
func (g *grep) isReadable(ctx context.Context, id scrollback.ArtifactID) (bool, error) {
	if g.scope.Artifact == nil || checkArtifactID(id) != nil {
		return false, nil
	}
	if k, ok := g.known[id]; ok {
		return k.readable, nil
	}
	art, ok, err := g.scope.Artifact(ctx, id)
	if err != nil {
		return false, err
	}
	g.known[id] = artifactState{mediaType: art.MediaType, readable: ok}
	return ok, nil
}

// unreadMax is how many artifacts that cannot be read are named.
const unreadMax = 10

// grepMentioned greps an artifact on behalf of the message that mentions it.
func (g *grep) grepMentioned(ctx context.Context, id scrollback.ArtifactID, seq int64) error {
	ok, err := g.isReadable(ctx, id)
	if k := g.known[id]; err != nil || !ok || k.done || isNeverText(k.mediaType) {
		return err
	}
	_, err = g.grepArtifact(ctx, id, seq)
	if errors.Is(err, errNotText) {
		return nil
	}
	if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Internal {
		g.noteUnread(id)
		return nil
	}
	return err
}

func (g *grep) grepArtifact(ctx context.Context, id scrollback.ArtifactID, seq int64) (int64, error) {
	k := g.known[id]
	k.done = true
	g.known[id] = k
	r, size, err := g.a.OpenArtifact(ctx, id)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	ref := scrollback.ArtifactRef(id)
	s := &lineScanner{grepTally: &g.grepTally, ref: &ref, place: func(int) (int64, bool) { return seq, false }}
	err = s.grepReader(ctx, r)
	if err == nil || errors.Is(err, errNotText) || ctx.Err() != nil {
		return size, err
	}
	g.noteUnread(id) // what was found until the connection was cut stays
	return size, nil
}

// noteUnread notes an artifact that was not read to its end.
func (g *grep) noteUnread(id scrollback.ArtifactID) {
	if g.Partial = true; len(g.Unread) < unreadMax {
		g.Unread = append(g.Unread, scrollback.ArtifactRef(id))
	}
}

// isNeverText avoids opening what is not text by its media type.
func isNeverText(mediaType string) bool {
	kind, rest, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "audio", "video", "font":
		return true
	case "image":
		return !strings.HasPrefix(rest, "svg")
	}
	return false
}
