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

// readElement reads one element of a list of messages. It returns false where reading waits.
func (t *talkReader) readElement(raw json.RawMessage) bool {
	t.index++
	m := objectFields(raw)
	role := readText(m["role"])
	if role == "" && readText(m["type"]) == "reasoning" {
		role = "assistant"
		m["content"] = json.RawMessage("[" + string(raw) + "]")
	}
	if m == nil || role != "user" && role != "assistant" && role != "tool" {
		t.r.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: t.line,
			Reason: fmt.Sprintf("message %d has no role that is known", t.index)}})
		return true
	}
	at, usage, ok := t.messageTime(m, role)
	if !ok {
		t.held = true
		return false
	}
	about := objectFields(m["metadata"])
	failed := readBool(about["displayOnly"]) && readText(about["displayRole"]) == "error"
	switch {
	case readBool(about["displayOnly"]) && !failed:
		t.left["display"]++
		return true
	case readBool(m["isTruncationMarker"]):
		t.left["marker"]++
		return true
	}
	id := readText(m["id"])
	if id == "" {
		sum := sha256.Sum256(append([]byte(role), m["content"]...))
		id = fmt.Sprintf("%d-%s", t.index, hex.EncodeToString(sum[:6]))
	}
	msg := scrollback.Message{ID: scrollback.MessageID(id), CreatedAt: at}
	if readBool(m["isSummary"]) {
		msg.Meta = toolMeta(map[string]any{"compaction": true})
	}
	if role != "assistant" {
		t.readUser(msg, m["content"])
		return true
	}
	msg.Role = scrollback.RoleAssistant
	msg.Model = messageModel(m)
	msg.Usage = messageUsage(m, usage)
	if failed {
		msg.Status = scrollback.StatusFailed
		msg.Meta = toolMeta(map[string]any{"error": true})
	}
	t.readAssistant(msg, m["content"])
	return true
}

// messageTime returns when a message was, and what its call used as the page has it. It is not ok if
// the page has not come so far.
func (t *talkReader) messageTime(m map[string]json.RawMessage,
	role string) (at int64, usage *scrollback.Usage, ok bool) {
	at = readTime(m["ts"])
	if role == "user" {
		r, known := t.clock.requestOf(t.index-1, t.asked)
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

// messageModel returns what made a message.
func messageModel(m map[string]json.RawMessage) string {
	f := objectFields(m["modelInfo"])
	if id := readText(f["modelId"]); id != "" {
		return id
	}
	return readText(f["id"])
}

// messageUsage returns what the page says that a call used, else what its message says.
func messageUsage(m map[string]json.RawMessage, page *scrollback.Usage) *scrollback.Usage {
	f := objectFields(m["metrics"])
	if f == nil || page != nil {
		return page // it has more
	}
	price := f["cost"]
	if price == nil {
		price = f["totalCost"]
	}
	if n := objectFields(f["tokens"]); n != nil {
		return makeUsage(uncachedTokens(n["prompt"], n["cached"], nil), n["completion"], n["cached"], nil, price)
	}
	read := f["cacheReadTokens"]
	written := f["cacheWriteTokens"]
	return makeUsage(uncachedTokens(f["inputTokens"], read, written), f["outputTokens"], read, written, price)
}

// uncachedTokens returns what did not come from the cache: some versions count that in, others do not.
func uncachedTokens(in, read, written json.RawMessage) json.RawMessage {
	if cached := readNumber(read) + readNumber(written); readNumber(in) >= cached {
		return json.RawMessage(strconv.FormatFloat(readNumber(in)-cached, 'f', 0, 64))
	}
	return in
}

// yieldMessage yields a message, if it says something.
func (t *talkReader) yieldMessage(m scrollback.Message, c content) {
	if len(c.parts) == 0 {
		return
	}
	t.describeTalk()
	m.Parts = c.parts
	t.r.emitEntry(transcript.Entry{Line: t.line, Source: t.source, Message: m, Bytes: c.bytes})
}
