package cline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// element reads one element of a list of messages. It returns false where reading waits.
func (t *talk) element(raw json.RawMessage) bool {
	t.index++
	m := fieldsOf(raw)
	role := text(m["role"])
	if role == "" && text(m["type"]) == "reasoning" {
		role = "assistant"
		m["content"] = json.RawMessage("[" + string(raw) + "]")
	}
	if m == nil || role != "user" && role != "assistant" && role != "tool" {
		t.r.emit(transcript.Entry{Bad: &transcript.Bad{Line: t.line,
			Reason: fmt.Sprintf("message %d has no role that is known", t.index)}})
		return true
	}
	at, usage, ok := t.time(m, role)
	if !ok {
		t.held = true
		return false
	}
	about := fieldsOf(m["metadata"])
	failed := yes(about["displayOnly"]) && text(about["displayRole"]) == "error"
	switch {
	case yes(about["displayOnly"]) && !failed:
		t.left["display"]++
		return true
	case yes(m["isTruncationMarker"]):
		t.left["marker"]++
		return true
	}
	id := text(m["id"])
	if id == "" {
		sum := sha256.Sum256(append([]byte(role), m["content"]...))
		id = fmt.Sprintf("%d-%s", t.index, hex.EncodeToString(sum[:6]))
	}
	msg := scrollback.Message{ID: scrollback.MessageID(id), CreatedAt: at}
	if yes(m["isSummary"]) {
		msg.Meta = meta(map[string]any{"compaction": true})
	}
	if role != "assistant" {
		t.user(msg, m["content"])
		return true
	}
	msg.Role = scrollback.RoleAssistant
	msg.Model = model(m)
	msg.Usage = metrics(m, usage)
	if failed {
		msg.Status = scrollback.StatusFailed
		msg.Meta = meta(map[string]any{"error": true})
	}
	t.assistant(msg, m["content"])
	return true
}

// time is when a message was, and what its call used as the page has it. It is not ok if
// the page has not come so far.
func (t *talk) time(m map[string]json.RawMessage, role string) (at int64, usage *scrollback.Usage, ok bool) {
	at = moment(m["ts"])
	if role == "user" {
		r, known := t.clock.of(t.index-1, t.asked)
		t.request = r
		if t.asked++; at == 0 && !known && t.clock.there && t.r.live {
			return 0, nil, false
		}
	}
	if at == 0 {
		at = t.request.at
	}
	t.last = max(t.last, at)
	if role != "assistant" {
		return t.last, nil, true
	}
	// it is of one answer
	usage = t.request.usage
	t.request.usage = nil
	return t.last, usage, true
}

// model is what made a message.
func model(m map[string]json.RawMessage) string {
	f := fieldsOf(m["modelInfo"])
	if id := text(f["modelId"]); id != "" {
		return id
	}
	return text(f["id"])
}

// metrics is what the page says that a call used, else what its message says.
func metrics(m map[string]json.RawMessage, page *scrollback.Usage) *scrollback.Usage {
	f := fieldsOf(m["metrics"])
	if f == nil || page != nil {
		return page // it has more
	}
	price := f["cost"]
	if price == nil {
		price = f["totalCost"]
	}
	if n := fieldsOf(f["tokens"]); n != nil {
		return usageOf(uncached(n["prompt"], n["cached"], nil), n["completion"], n["cached"], nil, price)
	}
	read := f["cacheReadTokens"]
	written := f["cacheWriteTokens"]
	return usageOf(uncached(f["inputTokens"], read, written), f["outputTokens"], read, written, price)
}

// uncached is what did not come from the cache: some versions count that in, others do not.
func uncached(in, read, written json.RawMessage) json.RawMessage {
	if cached := number(read) + number(written); number(in) >= cached {
		return json.RawMessage(strconv.FormatFloat(number(in)-cached, 'f', 0, 64))
	}
	return in
}

// say yields a message, if it says something.
func (t *talk) say(m scrollback.Message, c content) {
	if len(c.parts) == 0 {
		return
	}
	t.begin()
	m.Parts = c.parts
	t.r.emit(transcript.Entry{Line: t.line, Source: t.source, Message: m, Bytes: c.bytes})
}
