package cline

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// item is what Roo keeps beside a task.
type item struct {
	ID, Task, Workspace, Mode, Status, Parent string
	Children                                  []string
}

func itemOf(files fs.FS, dir string) item {
	f := object(files, path.Join(dir, itemFile))
	i := item{
		ID: text(f["id"]), Task: text(f["task"]), Workspace: text(f["workspace"]), Mode: text(f["mode"]),
		Status: text(f["status"]),
		Parent: text(f["parentTaskId"]),
	}
	var children []json.RawMessage
	_ = json.Unmarshal(f["childIds"], &children) // anything but a list has no children
	for _, raw := range children {
		if id := text(raw); id != "" && id != "." && id != ".." && !strings.ContainsAny(id, `/\`) && fs.ValidPath(id) {
			i.Children = append(i.Children, id)
		}
	}
	return i
}

// member is a task of a family: the first, or one that another has handed work to.
type member struct {
	dir, parent string // parent is a folder too
	item        item
}

// family is a task with those it handed work to, and these with theirs, parents first.
func family(files fs.FS, dir string) []member {
	out := []member{{dir: dir, item: itemOf(files, dir)}}
	seen := map[string]bool{dir: true}
	for i := 0; i < len(out) && dir != "."; i++ {
		for _, id := range out[i].item.Children {
			child := path.Join(path.Dir(dir), id)
			if len(out) <= mostAgents && !seen[child] && isFile(files, path.Join(child, apiFile)) {
				seen[child] = true
				out = append(out, member{child, out[i].dir, itemOf(files, child)})
			}
		}
	}
	return out
}

// object is a small file that is an object; what is none has no fields.
func object(files fs.FS, name string) map[string]json.RawMessage {
	raw, err := small(files, name)
	if err != nil {
		return nil
	}
	return fieldsOf(raw)
}

// fieldsOf is an object's; what is none has no fields.
func fieldsOf(raw json.RawMessage) map[string]json.RawMessage {
	var f map[string]json.RawMessage
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// text is a text; what is none is empty.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func yes(raw json.RawMessage) bool { return string(raw) == "true" }

// number is a number, from 0 up to what any counter or clock may say; what is none is 0.
func number(raw json.RawMessage) float64 {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f < 0 || f > 1<<53 {
		return 0
	}
	return f
}

// moment is a time in Unix ms, or 0.
func moment(raw json.RawMessage) int64 {
	if n := number(raw); n <= transcript.Latest {
		return int64(n)
	}
	return 0
}

// meta is JSON under the tool's name; nil without fields.
func meta(fields map[string]any) json.RawMessage {
	for k, v := range fields {
		if v == "" || v == false {
			delete(fields, k)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	raw, err := json.Marshal(map[string]any{metaKey: fields})
	if err != nil {
		return nil // texts and flags always can
	}
	return raw
}

// mostTitle is how long a title may be, in characters.
const mostTitle = 80

// title is the first line of a text.
func title(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(strings.TrimSpace(s)); len(r) > mostTitle {
		return string(r[:mostTitle-1]) + "…"
	}
	return strings.TrimSpace(s)
}

// request is one of the requests that a task's page shows.
type request struct {
	at    int64
	usage *scrollback.Usage
}

// clock are the requests of a task's page, in their order and by the index of the message
// that asked; older pages have no indexes.
type clock struct {
	there bool
	list  []request
	by    map[int]request
	last  int // the largest index
}

// of is the request of a message of the user, by its index among all messages and among
// those of the user, and whether the page has come so far.
func (c clock) of(index, asked int) (request, bool) {
	if len(c.by) > 0 {
		return c.by[index], index <= c.last
	}
	if asked < len(c.list) {
		return c.list[asked], true
	}
	return request{}, false
}

func clockOf(files fs.FS, dir string) clock {
	f, err := files.Open(path.Join(dir, uiFile))
	if err != nil {
		return clock{}
	}
	defer func() { _ = f.Close() }() // it was only read
	c := clock{there: true, by: map[int]request{}, last: -1}
	for raw, err := range transcript.NewList(f, transcript.MaxLine).Items() {
		if err != nil {
			break // it is being written
		}
		m := fieldsOf(raw)
		if text(m["say"]) != "api_req_started" {
			continue
		}
		told := fieldsOf(json.RawMessage(text(m["text"])))
		r := request{moment(m["ts"]), usageOf(told["tokensIn"], told["tokensOut"], told["cacheReads"], told["cacheWrites"],
			told["cost"])}
		c.list = append(c.list, r)
		var before int // the index of the message before the one that asks
		if m["conversationHistoryIndex"] == nil || json.Unmarshal(m["conversationHistoryIndex"], &before) != nil {
			continue
		}
		if was, again := c.by[before+1]; again {
			r.at = was.at // it was tried again
		}
		c.by[before+1] = r
		c.last = max(c.last, before+1)
	}
	return c
}

// usageOf is what a call used: in, out, read from the cache, written to it, and its price.
// What came from the cache is not in the first of them. Nil if nothing was.
func usageOf(counts ...json.RawMessage) *scrollback.Usage {
	var n [5]float64
	sum := 0.0
	for i, raw := range counts {
		n[i] = number(raw)
		sum += n[i]
	}
	if sum == 0 {
		return nil
	}
	count := func(f float64) int64 { return int64(min(f, scrollback.MaxCallTokens)) }
	u := scrollback.Usage{
		InputTokens: count(n[0] + n[2] + n[3]), OutputTokens: count(n[1]), CachedTokens: count(n[2]),
		CacheWriteTokens: count(n[3]), Cost: n[4],
	}
	if u.Cost > 0 {
		u.Currency = "USD"
	}
	u, _ = u.Checked() // what is impossible is marked as estimated
	return &u
}

// modelOf is the model that a task used last.
func modelOf(files fs.FS, dir string) string {
	var used []json.RawMessage
	_ = json.Unmarshal(object(files, path.Join(dir, modelsFile))["model_usage"], &used) // none if it is not a list
	for i := len(used) - 1; i >= 0; i-- {
		if id := text(fieldsOf(used[i])["model_id"]); id != "" {
			return id
		}
	}
	return ""
}
