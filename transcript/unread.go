package transcript

import (
	"bytes"
	"encoding/json"
)

// foreignFormats are the files of other programs that are known by the fields that the first record of
// a file has and by what its beginning contains.
var foreignFormats = []struct {
	name    string
	fields  []string // all of them are there
	has     string   // anywhere in the beginning, without white space
	without string
	unread  bool // nobody reads them
}{
	{"a chat session of GitHub Copilot in VS Code", []string{"requesterUsername", "requests"}, "", "", false},
	{"a chat session of GitHub Copilot in VS Code", []string{"kind", "v"}, `"requests"`, "", false},
	{"a session of GitHub Copilot CLI", []string{"type", "data"}, `"type":"session.start"`, "", false},
	{"a transcript of Cursor's agent", []string{"role", "message"}, "", `"uuid":`, false},
	{"a chat of Qwen Code", []string{"uuid", "sessionId", "message"}, `"parts":[`, `"content":`, false},
	{"an export of DeepSeek", []string{"mapping", "inserted_at"}, "", "", false},
	{"an export of DeepSeek", []string{"mapping"}, `"model":"deepseek-`, `"content_type":`, false},
	{"an export of DeepSeek", []string{"mapping"}, `"fragments":[`, "", false},
	{"an export of Grok", []string{"conversations"}, `"responses":[`, "", false},
	{"a context file of Kimi CLI", []string{"role"}, `"role":"_checkpoint"`, "", false},
	{"a context file of Kimi CLI", []string{"role"}, `"role":"_usage"`, "", false},
	{"a wire file of Kimi CLI", []string{"timestamp", "message"}, `"type":"TurnBegin"`, "", false},
	{"a thread of Jan", []string{"thread_id", "role", "object"}, `"object":"thread.message"`, "", false},
	{"a conversation of LM Studio", []string{"messages"}, `"currentlySelected"`, "", false},
	{"a session of Pi", []string{"type", "id", "cwd"}, `"type":"session"`, `"payload":`, false},
	{"a chat of SillyTavern", []string{"character_name", "user_name"}, "", "", false},
	{"a Google Takeout of Gemini Apps", []string{"header", "products"}, "", "", false},
	{"a backup of Cherry Studio", []string{"localStorage", "indexedDB"}, "", "", false},
	{"a memory of Trae, which has no talk", []string{"intent", "outcome"}, "", "", true},
	{"a conversation of Antigravity", []string{"step_index", "source", "type"}, "", "", false},
}

// RecognizeUnread returns what a file that begins with head looks like, if it is one of another program whose
// files are known but not read; else it is empty.
func RecognizeUnread(head []byte) string {
	name, unread := recognizeForeign(head)
	if !unread {
		return ""
	}
	return name
}

// IsForeign reports whether a file that begins with head is one of another program that is told by how it begins.
// Formats that are told by less leave those alone.
func IsForeign(head []byte) bool {
	name, _ := recognizeForeign(head)
	return name != ""
}

func recognizeForeign(head []byte) (name string, unread bool) {
	head = bytes.TrimLeft(bytes.TrimPrefix(DecodeUTF8Head(head), byteOrderMark), " \t\r\n\x00")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return "", false
	}
	seen := ItemHeadFields(head)
	if len(seen) == 0 {
		return "", false
	}
	var dense []byte
	var compact bytes.Buffer
	if json.Compact(&compact, head) == nil {
		dense = compact.Bytes()
	} else {
		dense = bytes.ReplaceAll(head, []byte(`": `), []byte(`":`))
	}
next:
	for _, u := range foreignFormats {
		for _, name := range u.fields {
			if !seen[name] {
				continue next
			}
		}
		if bytes.Contains(dense, []byte(u.has)) && (u.without == "" || !bytes.Contains(dense, []byte(u.without))) {
			return u.name, u.unread
		}
	}
	return "", false
}
