package archive

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// leaf greps the file of a leaf and the artifacts it mentions, each after the
// message that mentions it first. The log is read only if the cached file
// matches somewhere or mentions an artifact, and then only the messages that may
// match, unless the lines of the file must be numbered.
func (g *grep) leaf(ctx context.Context, seg scrollback.Segment) error {
	quiet, cached, err := g.quiet(ctx, seg)
	if err != nil || quiet {
		return err
	}
	if !g.whole {
		return g.file(ctx, seg, cached)
	}
	if g.re.sieve != nil && seg.Renderer == sieved {
		var some []scrollback.Message
		for m, err := range g.a.src.Sift(ctx, seg.Branch, seg.FirstSeq, seg.LastSeq, g.re.sieve.folded) {
			if err != nil {
				return scrollback.Wrap(scrollback.Internal, "archive.Grep", err)
			}
			some = append(some, m)
		}
		switch {
		case len(some) == 0:
			return ctx.Err()
		case len(g.Matches) == g.max: // the rest is only counted
			sh, err := g.a.renderers.leaf(seg.Renderer, seg, some)
			if err != nil {
				return err
			}
			return g.sheet(ctx, seg, sh)
		}
	}
	return g.file(ctx, seg, cached)
}

// file greps all of a leaf's file.
func (g *grep) file(ctx context.Context, seg scrollback.Segment, cached bool) error {
	sh, err := g.a.sheet(ctx, seg)
	if err != nil {
		return err
	}
	if !cached {
		g.a.cache.put(seg, sh.text) // so that the next grep need not ask the log
	}
	return g.sheet(ctx, seg, sh)
}

func (g *grep) sheet(ctx context.Context, seg scrollback.Segment, sh *sheet) error {
	ref := scrollback.HistoryRef(seg.ID)
	s := &scan{tally: &g.tally, ref: &ref, place: sh.place}
	if g.whole {
		s.place = sh.said
	}
	fed := 0
	for _, k := range sh.marks {
		if len(k.artifacts) == 0 {
			continue
		}
		s.feed(ctx, sh.text[fed:k.end])
		fed = k.end
		for _, id := range k.artifacts {
			if err := g.mentioned(ctx, id, k.seq); err != nil {
				return err
			}
		}
	}
	s.feed(ctx, sh.text[fed:])
	return ctx.Err()
}

// quiet reports that a leaf's cached file has nothing for this grep, and whether there
// is one.
func (g *grep) quiet(ctx context.Context, seg scrollback.Segment) (quiet, cached bool, err error) {
	if err := checkName(string(seg.Conversation)); err != nil {
		return false, false, err
	}
	b := g.a.cache.open(seg)
	if b == nil {
		return false, false, nil
	}
	defer func() { _ = b.close() }() // read-only
	text, err := b.at(ctx, 0, int(b.size))
	if err != nil || bytes.Contains(text, []byte(scrollback.RefArtifact+":")) {
		return false, true, nil
	}
	return !g.any(ctx, text), true, ctx.Err()
}

// place is the message that a line of the sheet belongs to, and whether the line
// stands for a recall call or its result.
func (s *sheet) place(offset int) (int64, bool) {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].end > offset })
	if i == len(s.marks) || offset < s.marks[0].start {
		return 0, false
	}
	return s.marks[i].seq, slices.Contains(s.marks[i].recalls, offset)
}

// said is place for a grep of the whole conversation, which ignores the headings of the
// file, because nobody said them: folding must not change what is found.
func (s *sheet) said(offset int) (int64, bool) {
	seq, skip := s.place(offset)
	heading := slices.ContainsFunc(s.marks, func(m mark) bool { return m.start <= offset && offset <= m.start+1 })
	return seq, skip || heading || seq == 0
}

// path greps live messages.
func (g *grep) path(ctx context.Context, st Stretch) error {
	var wanted func([]byte) bool
	if g.re.sieve != nil {
		wanted = g.re.sieve.live
	}
	for m, err := range g.a.src.Sift(ctx, st.Branch, st.From, st.To, wanted) {
		if err == nil {
			err = g.live(ctx, &m)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// live greps a message that is not folded.
func (g *grep) live(ctx context.Context, m *scrollback.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := g.liveText(ctx, m.Parts)
	if err != nil {
		return err
	}
	s := &scan{tally: &g.tally, place: func(int) (int64, bool) { return m.Seq, false }}
	s.feed(ctx, []byte(text))
	for _, id := range mentions(m.Parts) {
		if err := g.mentioned(ctx, id, m.Seq); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// liveText is the text of a live message to search, each part on lines of its
// own. The inline copy of an artifact counts only if that cannot be read.
func (g *grep) liveText(ctx context.Context, ps scrollback.Parts) (string, error) {
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
			if !p.Recall() {
				add(0, p.Text)
			}
		case scrollback.ToolResult:
			if p.Recall {
				continue
			}
			ok, err := g.readable(ctx, p.Artifact)
			if err != nil {
				return "", err
			}
			if !ok || neverText(g.known[p.Artifact].mediaType) {
				add(1, p.Text)
			}
		case scrollback.ToolCall:
			if !p.Recall() {
				add(2, oneLine(p.Name)+" "+string(p.Arguments))
			}
		case scrollback.Reasoning:
			add(3, p.Text)
		case scrollback.Image:
			add(4, oneLine(p.Where())+" "+oneLine(p.Name))
		case scrollback.File:
			add(4, string(scrollback.ArtifactRef(p.Artifact))+" "+oneLine(p.Name))
		}
	}
	out := ""
	for i := range parts {
		out += parts[i].String()
	}
	return out, nil
}

// readable reports whether an artifact may be read and may be text.
func (g *grep) readable(ctx context.Context, id scrollback.ArtifactID) (bool, error) {
	if g.scope.Artifact == nil || checkArtifact(id) != nil {
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

// mentioned greps an artifact on behalf of the message that mentions it.
func (g *grep) mentioned(ctx context.Context, id scrollback.ArtifactID, seq int64) error {
	ok, err := g.readable(ctx, id)
	if k := g.known[id]; err != nil || !ok || k.done || neverText(k.mediaType) {
		return err
	}
	_, err = g.read(ctx, id, seq)
	if errors.Is(err, errNotText) {
		return nil
	}
	if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Internal {
		g.missed(id)
		return nil
	}
	return err
}

func (g *grep) read(ctx context.Context, id scrollback.ArtifactID, seq int64) (int64, error) {
	k := g.known[id]
	k.done = true
	g.known[id] = k
	r, size, err := g.a.OpenArtifact(ctx, id)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	ref := scrollback.ArtifactRef(id)
	s := &scan{tally: &g.tally, ref: &ref, place: func(int) (int64, bool) { return seq, false }}
	err = s.stream(ctx, r)
	if err == nil || errors.Is(err, errNotText) || ctx.Err() != nil {
		return size, err
	}
	g.missed(id) // what was found until the connection was cut stays
	return size, nil
}

// missed notes an artifact that was not read to its end.
func (g *grep) missed(id scrollback.ArtifactID) {
	if g.Partial = true; len(g.Unread) < unreadMax {
		g.Unread = append(g.Unread, scrollback.ArtifactRef(id))
	}
}

// neverText avoids opening what is not text by its media type.
func neverText(mediaType string) bool {
	kind, rest, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "audio", "video", "font":
		return true
	case "image":
		return !strings.HasPrefix(rest, "svg")
	}
	return false
}
