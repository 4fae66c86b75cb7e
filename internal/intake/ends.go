package intake

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
)

// headAndTail returns the beginning and the end of a text, of first and last bytes, and where the
// whole text is.
func headAndTail(text string, a scrollback.Artifact, first, last int) string {
	if len(text) <= first+last {
		return text
	}
	return joinEnds(clip.HeadBytes(text, first), clip.TailBytes(text, last), a)
}

// joinEnds returns the two ends of a text, where the whole text is, and what it is.
func joinEnds(head, tail string, a scrollback.Artifact) string {
	what := ""
	if a.Name != "" {
		what = " (" + clip.ClipLine(a.Name, inlineRunes) + ")"
	}
	return fmt.Sprintf("%s\n[… %s left out here. The whole is %s%s: read it with context_read, context_tail or context_grep.]\n%s",
		head, formatSize(a.Size-int64(len(head)+len(tail))), scrollback.ArtifactRef(a.ID), what, tail)
}

// formatSize returns a size as people read it.
func formatSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
}
