package window

import "github.com/scrollback-ai/scrollback"

// ListContent lists what a window sends, in order, with what the model reads: the summary and
// the placeholders inside the block of what was folded as items of their own, and so each
// message of a turn that is made of several, where their parts follow each other.
func ListContent(w scrollback.Window) []scrollback.ContextItem {
	var out []scrollback.ContextItem
	for _, it := range w.Items {
		c := scrollback.ContextItem{Layer: it.Layer, Kind: shownKind(w, it.Kind, it.Seq), Role: it.Role, Seq: it.Seq,
			Name:   it.Name,
			Tokens: it.Weight.Tokens, Parts: it.Parts}
		switch {
		case it.Kind == scrollback.KindTools:
			c.Parts = scrollback.Parts{}
			c.Tools = w.Tools
			out = append(out, c)
		case len(it.Holds) > 0:
			out = append(out, splitFolded(c, it)...)
		case len(it.Joins) > 0 && it.Role == scrollback.RoleTool: // their results may be mixed
			c.LastSeq = it.Joins[len(it.Joins)-1].Seq
			out = append(out, c)
		case len(it.Joins) > 0:
			out = append(out, splitTurn(c, it, w)...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// splitFolded takes the block of what was folded apart: what opens it, the summary, the
// placeholders, and what closes it.
func splitFolded(c scrollback.ContextItem, it scrollback.Item) []scrollback.ContextItem {
	text := it.Parts.Text()
	var own int
	for _, h := range it.Holds {
		own += h.Bytes
		c.Tokens -= h.Tokens
	}
	at := len(text) - own - len(foldClose)
	c.Parts = scrollback.Say(text[:at])
	c.Joined = true
	out := []scrollback.ContextItem{c}
	for _, h := range it.Holds {
		p := scrollback.ContextItem{Layer: scrollback.LayerPlaceholders, Kind: h.Kind, Role: it.Role, Seq: h.FirstSeq,
			LastSeq: h.LastSeq,
			Ref:     h.Ref, Tokens: h.Tokens, Joined: true, Parts: scrollback.Say(text[at : at+h.Bytes])}
		if h.Kind == scrollback.KindSummary {
			p.Layer = scrollback.LayerSummary
		}
		at += h.Bytes
		out = append(out, p)
	}
	c.Parts = scrollback.Say(text[at:])
	c.Joined = false
	c.Tokens = 0
	return append(out, c)
}

// splitTurn takes a turn apart into its messages.
func splitTurn(c scrollback.ContextItem, it scrollback.Item, w scrollback.Window) []scrollback.ContextItem {
	var out []scrollback.ContextItem
	at := 0
	for i, j := range it.Joins {
		p := c
		p.Layer = j.Layer
		p.Kind = shownKind(w, j.Kind, j.Seq)
		p.Seq = j.Seq
		p.Tokens = j.Weight.Tokens
		p.Parts = it.Parts[at : at+j.Parts]
		p.Joined = i < len(it.Joins)-1
		at += j.Parts
		out = append(out, p)
	}
	return out
}
