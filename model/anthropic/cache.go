package anthropic

import "github.com/scrollback-ai/scrollback"

// maxMarks is how many marks one request may hold.
const maxMarks = 4

// layerEnds are the last blocks of what later requests begin with too.
type layerEnds struct {
	instructions, environment, folded *block
	before                            *block // of what was said before this turn
	last                              *block // of all but what belongs to this request only
}

// noteBlocks adds the blocks of the next item. What cannot be marked ends nothing.
func (e *layerEnds) noteBlocks(layer scrollback.Layer, blocks []*block) {
	var end *block
	for _, b := range blocks {
		if !b.isThinking() {
			end = b
		}
	}
	if end == nil || layer == scrollback.LayerRequestOnly {
		return
	}
	switch layer {
	case scrollback.LayerInstructions:
		e.instructions = end
	case scrollback.LayerEnvironment:
		e.environment = end
	case scrollback.LayerSummary, scrollback.LayerPlaceholders:
		e.folded = end
	case scrollback.LayerMessages:
		e.before = end
	}
	e.last = end
}

// markEnds marks the ends of layers. The last block is where the next request looks
// first; the end of what was said before this turn is still in its reach when a
// turn has grown by more than the twenty blocks that are looked back.
func (d *requestDraft) markEnds() {
	e := d.ends
	left := maxMarks
	put := func(at **mark) {
		if left > 0 && *at == nil {
			*at = &mark{Type: "ephemeral"}
			left--
		}
	}
	if e.instructions == nil && len(d.body.Tools) > 0 {
		put(&d.body.Tools[len(d.body.Tools)-1].CacheControl)
	}
	for _, b := range []*block{e.last, e.before, e.instructions, e.folded, e.environment} {
		if b != nil {
			put(&b.CacheControl)
		}
	}
}
