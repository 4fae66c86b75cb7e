package archive

import (
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// levelsMax bounds how deep roll-ups may roll up.
const levelsMax = 32

// Scope is what a grep without a ref walks, in the order of the log.
type Scope struct {
	Stretches []Stretch
	// Artifact returns what is known about an artifact, and false for one that the
	// caller may not read. Nil means that none is read.
	Artifact func(ctx context.Context, id scrollback.ArtifactID) (scrollback.Artifact, bool, error)
}

// Stretch is a segment, leaf or roll-up, or else live messages: those on the path of a
// branch from seq to seq.
type Stretch struct {
	Segment  scrollback.SegmentID
	Branch   scrollback.BranchID
	From, To int64
}

// Grep finds the lines that match. Of a folded message it reads the rendered
// file, of a live one the texts, then results, calls, reasoning and attachments,
// and after either the text artifacts it mentions, each once. With q.Ref it
// reads what that ref points at instead of the stretches.
//
// When the time is up, or an artifact is gone, damaged or cut off while it is read, the result
// is partial.
func (a *Archive) Grep(ctx context.Context, scope Scope, q scrollback.GrepQuery) (scrollback.GrepResult, error) {
	const op = "archive.Grep"
	g, err := a.startGrep(scope, q)
	if err != nil {
		return scrollback.GrepResult{}, err
	}
	timed, cancel := context.WithTimeout(ctx, a.grepTime)
	defer cancel()
	err = g.runGrep(timed, q.Ref)
	switch {
	case ctx.Err() != nil:
		return scrollback.GrepResult{}, &scrollback.Error{Code: scrollback.Canceled, Op: op, Err: context.Cause(ctx)}
	case timed.Err() != nil:
		g.Partial = true
	case err != nil:
		return scrollback.GrepResult{}, scrollback.Wrap(scrollback.Internal, op, err)
	}
	return g.GrepResult, nil
}

// grep is one walk.
type grep struct {
	grepTally
	a     *Archive
	scope Scope
	known map[scrollback.ArtifactID]artifactState
	whole bool // the conversation, and not what one ref points at
}

// artifactState is what a walk knows about an artifact that it met.
type artifactState struct {
	mediaType string
	readable  bool
	done      bool
}

func (a *Archive) startGrep(scope Scope, q scrollback.GrepQuery) (*grep, error) {
	const op = "archive.Grep"
	if q.MaxResults == 0 {
		q.MaxResults = scrollback.GrepDefault
	}
	if q.MaxResults < 0 || q.MaxResults > scrollback.GrepMax {
		return nil, scrollback.ParamErrorf(op, "max_results", i18n.MaxResultsOutOfRange, scrollback.GrepMax)
	}
	if q.ContextLines < 0 || q.ContextLines > scrollback.GrepContextMax {
		return nil, scrollback.ParamErrorf(op, "context_lines", i18n.ContextLinesOutOfRange, scrollback.GrepContextMax)
	}
	re, err := compilePattern(q)
	if err != nil {
		return nil, err
	}
	g := &grep{a: a, scope: scope, known: map[scrollback.ArtifactID]artifactState{}, whole: q.Ref == ""}
	g.grepTally = grepTally{re: re, max: q.MaxResults, around: q.ContextLines}
	g.Matches = []scrollback.GrepMatch{}
	return g, nil
}

func (g *grep) runGrep(ctx context.Context, ref scrollback.Ref) error {
	if ref != "" {
		return g.grepRef(ctx, ref)
	}
	for _, st := range g.scope.Stretches {
		if st.Segment != "" {
			if err := g.grepSegments(ctx, []scrollback.SegmentID{st.Segment}, 0); err != nil {
				return err
			}
			continue
		}
		if err := g.grepPath(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

func (g *grep) grepRef(ctx context.Context, ref scrollback.Ref) error {
	kind, id, err := ref.Split()
	if err != nil {
		return scrollback.ParamErrorf("archive.Grep", "ref", "%w", err)
	}
	if kind == scrollback.RefHistory {
		return g.grepSegments(ctx, []scrollback.SegmentID{scrollback.SegmentID(id)}, 0)
	}
	art := scrollback.ArtifactID(id)
	ok, err := g.isReadable(ctx, art)
	if err != nil {
		return err
	}
	if !ok {
		return scrollback.Errorf(scrollback.NotFound, "archive.Grep", i18n.NoSuchArtifact)
	}
	size, err := g.grepArtifact(ctx, art, 0)
	if errors.Is(err, errNotText) {
		return newNotTextError(g.known[art].mediaType, size)
	}
	return err
}

// grepSegments greps segments; of roll-ups, what they were rolled up from.
func (g *grep) grepSegments(ctx context.Context, ids []scrollback.SegmentID, level int) error {
	if level > levelsMax {
		return scrollback.Errorf(scrollback.Internal, "archive.Grep", i18n.SegmentsNestedTooDeep, levelsMax)
	}
	for chunk := range slices.Chunk(ids, segmentsAtOnce) {
		segs, err := g.a.readSegments(ctx, chunk)
		if err != nil {
			return err
		}
		for i := range segs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(segs[i].Children) > 0 {
				err = g.grepSegments(ctx, segs[i].Children, level+1)
			} else {
				err = g.grepLeafUnder(ctx, segs[i], level)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// grepLeafUnder greps a leaf, and notes it in its matches if a roll-up was asked about.
func (g *grep) grepLeafUnder(ctx context.Context, seg scrollback.Segment, level int) error {
	from := len(g.Matches)
	err := g.grepLeaf(ctx, seg)
	if !g.whole && level > 0 {
		ref := scrollback.HistoryRef(seg.ID)
		for i := range g.Matches[from:] {
			g.Matches[from+i].Leaf = &ref
		}
	}
	return err
}
