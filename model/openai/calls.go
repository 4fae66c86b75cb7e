package openai

import (
	"encoding/json"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/wire"
)

// gathering puts calls together from their pieces. Servers leave out what tells
// pieces apart, or use it twice: a piece belongs to the call of its index, else of
// its id, else to the one before; a piece with another id and a name begins a call
// of its own.
type gathering struct {
	list []gathered
}

type gathered struct {
	index     int64 // -1 where there is none
	id, name  string
	arguments []byte
}

// add takes a piece in.
func (g *gathering) add(p wire.ToolCall, most int) error {
	i := g.find(p)
	if i < 0 {
		if len(g.list) == most {
			return model.Exceeded(fmt.Sprintf("%d calls", most))
		}
		index := int64(-1)
		if p.Index != nil {
			index = int64(*p.Index)
		}
		g.list = append(g.list, gathered{index: index})
		i = len(g.list) - 1
	}
	c := &g.list[i]
	if c.id == "" {
		c.id = string(p.ID)
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	c.arguments = append(c.arguments, p.Function.Arguments...)
	return nil
}

// find is the call that a piece goes on with, or -1 for a new one.
func (g *gathering) find(p wire.ToolCall) int {
	last := len(g.list) - 1
	another := func(c gathered) bool { // begins, beside c
		return p.Function.Name != "" && c.name != "" && p.ID != "" && c.id != "" && string(p.ID) != c.id
	}
	if p.Index != nil {
		for i := last; i >= 0; i-- {
			if g.list[i].index == int64(*p.Index) {
				if another(g.list[i]) {
					return g.byID(p)
				}
				return i
			}
		}
		return -1
	}
	if i := g.byID(p); i >= 0 {
		return i
	}
	if last < 0 || p.Function.Name != "" && g.list[last].name != "" {
		return -1
	}
	if p.ID != "" && g.list[last].id != "" && p.Function.Name != "" {
		return -1
	}
	return last
}

func (g *gathering) byID(p wire.ToolCall) int {
	for i := len(g.list) - 1; i >= 0 && p.ID != ""; i-- {
		if g.list[i].id == string(p.ID) && (p.Index == nil || g.list[i].index == int64(*p.Index)) {
			return i
		}
	}
	return -1
}

// whole is the calls, each with an id; a nameless one is noise. Of an answer that
// was cut for its length the last may be half a call, and goes.
func (g *gathering) whole(requestID string, cut bool) []scrollback.ToolCall {
	var out []scrollback.ToolCall
	for i, c := range g.list {
		if c.name == "" || cut && i == len(g.list)-1 && !json.Valid(c.arguments) {
			continue
		}
		if c.id == "" {
			c.id = fmt.Sprintf("call_%s_%d", requestID, i)
		}
		out = append(out, scrollback.ToolCall{ID: c.id, Name: c.name, Arguments: model.Arguments(string(c.arguments))})
	}
	return out
}
