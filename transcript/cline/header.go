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

// taskItem is what Roo keeps beside a task.
type taskItem struct {
	ID, Task, Workspace, Mode, Status, Parent string
	Children                                  []string
}

func readItem(files fs.FS, dir string) taskItem {
	f := readObject(files, path.Join(dir, itemFile))
	i := taskItem{
		ID: readText(f["id"]), Task: readText(f["task"]), Workspace: readText(f["workspace"]), Mode: readText(f["mode"]),
		Status: readText(f["status"]),
		Parent: readText(f["parentTaskId"]),
	}
	var children []json.RawMessage
	_ = json.Unmarshal(f["childIds"], &children) // anything but a list has no children
	for _, raw := range children {
		if id := readText(raw); id != "" && id != "." && id != ".." && !strings.ContainsAny(id, `/\`) && fs.ValidPath(id) {
			i.Children = append(i.Children, id)
		}
	}
	return i
}

// familyMember is a task of a family: the first, or one that another has handed work to.
type familyMember struct {
	dir, parent string // parent is a folder too
	item        taskItem
}

// taskFamily returns a task with those it handed work to, and these with theirs, parents first.
func taskFamily(files fs.FS, dir string) []familyMember {
	out := []familyMember{{dir: dir, item: readItem(files, dir)}}
	seen := map[string]bool{dir: true}
	for i := 0; i < len(out) && dir != "."; i++ {
		for _, id := range out[i].item.Children {
			child := path.Join(path.Dir(dir), id)
			if len(out) <= maxAgents && !seen[child] && isFile(files, path.Join(child, apiFile)) {
				seen[child] = true
				out = append(out, familyMember{child, out[i].dir, readItem(files, child)})
			}
		}
	}
	return out
}

// readObject returns a small file that is an object; what is none has no fields.
func readObject(files fs.FS, name string) map[string]json.RawMessage {
	raw, err := readSmall(files, name)
	if err != nil {
		return nil
	}
	return objectFields(raw)
}

// objectFields returns an object's; what is none has no fields.
func objectFields(raw json.RawMessage) map[string]json.RawMessage {
	var f map[string]json.RawMessage
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// readText returns a text; what is none is empty.
func readText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func readBool(raw json.RawMessage) bool { return string(raw) == "true" }

// readNumber returns a number, from 0 up to what any counter or clock may say; what is none is 0.
func readNumber(raw json.RawMessage) float64 {
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

// readTime returns a time in Unix ms, or 0.
func readTime(raw json.RawMessage) int64 {
	if n := readNumber(raw); n <= transcript.Latest {
		return int64(n)
	}
	return 0
}

// toolMeta is JSON under the tool's name; nil without fields.
func toolMeta(fields map[string]any) json.RawMessage {
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

// maxTitle is how long a title may be, in characters.
const maxTitle = 80

// firstLine returns the first line of a text.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(strings.TrimSpace(s)); len(r) > maxTitle {
		return string(r[:maxTitle-1]) + "…"
	}
	return strings.TrimSpace(s)
}

// request is one of the requests that a task's page shows.
type request struct {
	at    int64
	usage *scrollback.Usage
}

// requestClock are the requests of a task's page, in their order and by the index of the message
// that asked; older pages have no indexes.
type requestClock struct {
	there bool
	list  []request
	by    map[int]request
	last  int // the largest index
}

// requestOf returns the request of a message of the user, by its index among all messages and among
// those of the user, and whether the page has come so far.
func (c requestClock) requestOf(index, asked int) (request, bool) {
	if len(c.by) > 0 {
		return c.by[index], index <= c.last
	}
	if asked < len(c.list) {
		return c.list[asked], true
	}
	return request{}, false
}

func readClock(files fs.FS, dir string) requestClock {
	f, err := files.Open(path.Join(dir, uiFile))
	if err != nil {
		return requestClock{}
	}
	defer func() { _ = f.Close() }() // it was only read
	c := requestClock{there: true, by: map[int]request{}, last: -1}
	for raw, err := range transcript.NewList(f, transcript.MaxLine).Items() {
		if err != nil {
			break // it is being written
		}
		m := objectFields(raw)
		if readText(m["say"]) != "api_req_started" {
			continue
		}
		told := objectFields(json.RawMessage(readText(m["text"])))
		r := request{readTime(m["ts"]), makeUsage(told["tokensIn"], told["tokensOut"], told["cacheReads"],
			told["cacheWrites"],
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

// makeUsage returns what a call used: in, out, read from the cache, written to it, and its price.
// What came from the cache is not in the first of them. Nil if nothing was.
func makeUsage(counts ...json.RawMessage) *scrollback.Usage {
	var n [5]float64
	sum := 0.0
	for i, raw := range counts {
		n[i] = readNumber(raw)
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

// lastModel returns the model that a task used last.
func lastModel(files fs.FS, dir string) string {
	var used []json.RawMessage
	_ = json.Unmarshal(readObject(files, path.Join(dir, modelsFile))["model_usage"], &used) // none if it is not a list
	for i := len(used) - 1; i >= 0; i-- {
		if id := readText(objectFields(used[i])["model_id"]); id != "" {
			return id
		}
	}
	return ""
}
