package transcript

import (
	"bytes"
	"encoding/json"
)

// unreadFormats are the files of other programs that are known, by the fields that the first record of
// a file has and by what its beginning contains, and that no importer reads.
var unreadFormats = []struct {
	name    string
	fields  []string // all of them are there
	has     string   // anywhere in the beginning, without white space
	without string
}{
	{"a chat session of GitHub Copilot in VS Code", []string{"requesterUsername", "requests"}, "", ""},
	{"a chat session of GitHub Copilot in VS Code", []string{"kind", "v"}, `"requests"`, ""},
	{"a session of GitHub Copilot CLI", []string{"type", "data"}, `"type":"session.start"`, ""},
	{"a transcript of Cursor's agent", []string{"role", "message"}, "", `"uuid":`},
	{"a chat of Qwen Code", []string{"uuid", "sessionId", "message"}, `"parts":[`, `"content":`},
	{"an export of DeepSeek", []string{"mapping", "inserted_at"}, "", ""},
	{"an export of DeepSeek", []string{"mapping"}, `"model":"deepseek-`, `"content_type":`},
	{"an export of DeepSeek", []string{"mapping"}, `"fragments":[`, ""},
	{"an export of Grok", []string{"conversations"}, `"responses":[`, ""},
	{"a context file of Kimi CLI", []string{"role"}, `"role":"_checkpoint"`, ""},
	{"a context file of Kimi CLI", []string{"role"}, `"role":"_usage"`, ""},
	{"a wire file of Kimi CLI", []string{"timestamp", "message"}, `"type":"TurnBegin"`, ""},
	{"a thread of Jan", []string{"thread_id", "role", "object"}, `"object":"thread.message"`, ""},
	{"a conversation of LM Studio", []string{"messages"}, `"currentlySelected"`, ""},
	{"a session of Pi", []string{"type", "id", "cwd"}, `"type":"session"`, `"payload":`},
	{"a chat of SillyTavern", []string{"character_name", "user_name"}, "", ""},
	{"a Google Takeout of Gemini Apps", []string{"header", "products"}, "", ""},
	{"a backup of Cherry Studio", []string{"localStorage", "indexedDB"}, "", ""},
}

// RecognizeUnread returns what a file that begins with head looks like, if it is one of another program whose
// files are known but not read; else it is empty.
func RecognizeUnread(head []byte) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(DecodeUTF8Head(head), byteOrderMark), " \t\r\n\x00")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return ""
	}
	seen := ItemHeadFields(head)
	if len(seen) == 0 {
		return ""
	}
	var dense []byte
	var compact bytes.Buffer
	if json.Compact(&compact, head) == nil {
		dense = compact.Bytes()
	} else {
		dense = bytes.ReplaceAll(head, []byte(`": `), []byte(`":`))
	}
next:
	for _, u := range unreadFormats {
		for _, name := range u.fields {
			if !seen[name] {
				continue next
			}
		}
		if bytes.Contains(dense, []byte(u.has)) && (u.without == "" || !bytes.Contains(dense, []byte(u.without))) {
			return u.name
		}
	}
	return ""
}
