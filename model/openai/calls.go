package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
)

// callGatherer puts calls together from their pieces. Servers leave out what tells
// pieces apart, or use it twice: a piece belongs to the call of its index, else of
// its id, else to the one before, unless it begins another call beside that.
type callGatherer struct {
	list  []gatheredCall
	taken map[string]bool // ids that calls of the request have
	tools []scrollback.Tool
}

type gatheredCall struct {
	index     int64 // -1 where there is none
	id, name  string
	arguments []byte
	payload   callPayload
}

// addPiece adds a piece.
func (g *callGatherer) addPiece(p wire.ToolCall, most int) error {
	i := g.findCall(p)
	if i < 0 {
		if len(g.list) == most {
			return model.NewBoundError(fmt.Sprintf("%d calls", most))
		}
		index := int64(-1)
		if p.Index != nil {
			index = int64(*p.Index)
		}
		g.list = append(g.list, gatheredCall{index: index})
		i = len(g.list) - 1
	}
	c := &g.list[i]
	c.payload.addPiece(p)
	if c.isRepeat(p) && c.isComplete() { // whether it is complete is costly to tell
		return nil
	}
	if c.id == "" {
		c.id = string(p.ID)
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	c.arguments = append(c.arguments, p.Function.Arguments...)
	return nil
}

// callPayload is what came beside a call and goes back with it.
type callPayload struct {
	Extra    json.RawMessage `json:"extra_content,omitempty"`
	Specific json.RawMessage `json:"provider_specific_fields,omitempty"`
	Beside   wire.Beside     `json:"beside,omitempty"`   // other fields of the call
	Function wire.Beside     `json:"function,omitempty"` // and of its function
}

// addPiece takes what a piece has beside the call; the first of each stands.
func (c *callPayload) addPiece(p wire.ToolCall) {
	if len(c.Extra) == 0 && isPresent(p.ExtraContent) {
		c.Extra = p.ExtraContent
	}
	if len(c.Specific) == 0 && isPresent(p.ProviderSpecificFields) {
		c.Specific = p.ProviderSpecificFields
	}
	c.Beside = mergeFirst(c.Beside, p.Beside)
	c.Function = mergeFirst(c.Function, p.Function.Beside)
}

// mergeFirst returns what is there, and what a piece has beside that.
func mergeFirst(there, piece wire.Beside) wire.Beside {
	for name, v := range piece {
		if there == nil {
			there = wire.Beside{}
		}
		if there[name] == nil {
			there[name] = v
		}
	}
	return there
}

func (c callPayload) toOpaque() scrollback.Opaque {
	if len(c.Extra)+len(c.Specific)+len(c.Beside)+len(c.Function) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(c) != nil {
		return nil // all of it was JSON when it came: not reached
	}
	return bytes.TrimSpace(b.Bytes())
}

// isComplete reports whether the arguments are an object to which nothing can be added.
func (c *gatheredCall) isComplete() bool {
	return bytes.HasSuffix(c.arguments, []byte("}")) && json.Valid(c.arguments)
}

// isRepeat reports whether a piece is the same call once more.
func (c *gatheredCall) isRepeat(p wire.ToolCall) bool {
	return p.ID != "" && string(p.ID) == c.id && p.Function.Name == c.name &&
		string(p.Function.Arguments) == string(c.arguments)
}

// isAnother reports whether a piece that was taken for one of c begins another call.
func (c *gatheredCall) isAnother(p wire.ToolCall) bool {
	if p.Function.Name == "" || c.name == "" || c.isRepeat(p) {
		return false
	}
	another := p.ID != "" && c.id != "" && string(p.ID) != c.id
	switch {
	case p.Function.Name != c.name:
		return true
	case another && len(c.arguments) == 0:
		return true
	case !another && (p.Function.Arguments == "" || p.Function.Arguments[0] != '{'):
		return false
	}
	return c.isComplete() // an object that has ended does not go on
}

// findCall returns the call that a piece continues, or -1 for a new one.
func (g *callGatherer) findCall(p wire.ToolCall) int {
	i := g.namedCall(p)
	if i < 0 || !g.list[i].isAnother(p) {
		return i
	}
	if j := g.findByID(p); j >= 0 && j != i && !g.list[j].isAnother(p) {
		return j
	}
	return -1
}

// namedCall returns the call that a piece names by its index, its id or its place.
func (g *callGatherer) namedCall(p wire.ToolCall) int {
	last := len(g.list) - 1
	if p.Index != nil {
		for i := last; i >= 0; i-- {
			if g.list[i].index == int64(*p.Index) {
				return i
			}
		}
		if p.Function.Name != "" {
			return -1
		}
		if i := g.findByID(p); i >= 0 {
			return i
		}
		if last >= 0 && g.list[last].index < 0 && p.ID == "" { // the index came late
			return last
		}
		return -1
	}
	if i := g.findByID(p); i >= 0 || last < 0 {
		return i
	}
	before := &g.list[last]
	switch {
	case p.Function.Name == "" || before.name == "":
		return last
	case p.ID == "" && p.Function.Name == before.name && len(before.arguments) > 0 && !before.isComplete():
		return last // the name comes with every piece
	}
	return -1
}

func (g *callGatherer) findByID(p wire.ToolCall) int {
	for i := len(g.list) - 1; i >= 0 && p.ID != ""; i-- {
		if g.list[i].id == string(p.ID) {
			return i
		}
	}
	return -1
}

// finishCalls returns the calls, each with its own id. One without a name is that of the tool it can
// only mean, and else noise unless it is all of the answer, alone. If the answer was cut, the
// last may be half a call and is dropped.
func (g *callGatherer) finishCalls(requestID string, cut, alone bool) []scrollback.ToolCall {
	var out []scrollback.ToolCall
	own := map[string]bool{}
	for i, c := range g.list {
		if cut && i == len(g.list)-1 && !json.Valid(c.arguments) {
			continue
		}
		if c.name == "" {
			c.name = model.MatchUnnamedTool(g.tools, c.id, c.arguments)
		}
		if c.name == "" && alone && len(g.list) == 1 {
			c.name = model.Unnamed
		}
		if c.name == "" {
			continue
		}
		if c.id == "" || own[c.id] {
			c.id = g.uniqueID(requestID, own)
		}
		own[c.id] = true
		out = append(out, scrollback.ToolCall{ID: c.id, Name: c.name, Arguments: model.ParseArguments(string(c.arguments)),
			Opaque: c.payload.toOpaque()})
	}
	return out
}

// uniqueID returns an id that no call has.
func (g *callGatherer) uniqueID(requestID string, own map[string]bool) string {
	h := fnv.New32a()
	h.Write([]byte(requestID))
	taken := maps.Clone(own)
	maps.Copy(taken, g.taken)
	for _, c := range g.list {
		taken[c.id] = true
	}
	for n := 0; ; n++ {
		if id := fmt.Sprintf("call_%08x_%d", h.Sum32(), n); !taken[id] {
			return id
		}
	}
}
