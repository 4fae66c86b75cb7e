package collect_test

import (
	"fmt"
)

// newerKeepers returns those of tools that keep a file a session.
func newerKeepers() []talkFormat {
	last := func(of []turn) turn { return of[len(of)-1] }
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	piLine := func(t turn) any {
		return object{"type": "message", "id": t.ID, "parentId": orNull(t.Parent), "timestamp": t.iso(),
			"message": object{"role": t.role(), "content": []any{object{"type": "text", "text": t.Text}}, "model": "m",
				"stopReason": "stop"}}
	}
	piHead := object{"type": "session", "version": 3, "id": talkID, "timestamp": "2026-01-02T10:00:00.000Z", "cwd": "/work"}
	return []talkFormat{
		{format: "pi", file: "sessions/--work--/1_" + talkID + ".jsonl", beside: "sessions/--work--/2_%s.jsonl",
			write: func(of []turn) []byte { return lines(of, []any{piHead}, piLine) }},
		{format: "openclaw", file: "main/sessions/" + talkID + ".jsonl", write: func(of []turn) []byte {
			return lines(of, []any{piHead}, piLine)
		}},
		{format: "openclaw", file: "main/agent/openclaw-agent.sqlite", database: func(of []turn) []string {
			out := []string{"CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER)"}
			add := func(at int64, v any) {
				out = append(out, fmt.Sprintf("INSERT INTO transcript_events VALUES ('%s', %d, %s, %d)", talkID, len(out)-1,
					quote(string(dumped(v))), at))
			}
			add(of[0].ms(), piHead)
			for _, t := range of {
				add(t.ms(), piLine(t))
			}
			return out
		}},
		{format: "cowork", file: "a/b/local_1/.claude/projects/-work/" + talkID + ".jsonl", write: func(of []turn) []byte {
			return lines(of, nil, func(t turn) any {
				m := object{"role": t.role(), "content": []any{object{"type": "text", "text": t.Text}}}
				if !t.user() {
					m["id"] = "msg_" + t.ID
					m["model"] = "m"
					m["stop_reason"] = "end_turn"
				}
				return object{"type": t.role(), "uuid": t.ID, "parentUuid": orNull(t.Parent), "sessionId": talkID,
					"timestamp": t.iso(), "cwd": "/work", "version": "2.1.0", "isSidechain": false, "message": m}
			})
		}},
		{format: "antigravity", file: talkID + "/.system_generated/logs/transcript.jsonl", write: func(of []turn) []byte {
			return lines(of, nil, func(t turn) any {
				kind := map[bool]string{true: "USER_INPUT", false: "PLANNER_RESPONSE"}[t.user()]
				return object{"step_index": t.ms() / 1000 % 100_000, "source": "MODEL", "type": kind, "status": "DONE",
					"created_at": t.iso(), "content": t.Text}
			})
		}},
		{format: "sillytavern", file: "Bosun/" + talkID + ".jsonl", write: func(of []turn) []byte {
			head := object{"user_name": "u", "character_name": "c", "create_date": of[0].iso(), "chat_metadata": object{}}
			return lines(of, []any{head}, func(t turn) any {
				return object{"name": t.role(), "is_user": t.user(), "is_system": false, "send_date": t.iso(), "mes": t.Text}
			})
		}},
		{format: "cherry-studio", file: "data.json", beside: "%s/data.json", write: func(of []turn) []byte {
			var messages []any
			for _, t := range of {
				messages = append(messages, object{"id": t.ID, "role": t.role(), "createdAt": t.iso(), "modelId": "m",
					"content": t.Text})
			}
			return fmt.Appendf(nil, `{"time":%d,"version":5,"localStorage":{},"indexedDB":%s}`, of[0].ms(), dumped(object{
				"topics": []any{object{"id": talkID, "messages": messages}}}))
		}},
		{format: "qwen-code", file: "-work/chats/" + talkID + ".jsonl", write: func(of []turn) []byte {
			return lines(of, nil, func(t turn) any {
				return object{"uuid": t.ID, "parentUuid": orNull(t.Parent), "sessionId": talkID, "timestamp": t.iso(),
					"type": t.role(), "cwd": "/work", "model": "m", "message": object{
						"role": map[bool]string{true: "user", false: "model"}[t.user()], "parts": []any{object{"text": t.Text}}}}
			})
		}},
		{format: "copilot-cli", file: talkID + "/events.jsonl", write: func(of []turn) []byte {
			head := object{"type": "session.start", "id": "start", "timestamp": of[0].iso(), "parentId": nil,
				"data": object{"sessionId": talkID, "copilotVersion": "1.0.102", "context": object{"cwd": "/work"}}}
			return lines(of, []any{head}, func(t turn) any {
				return object{"type": t.role() + ".message", "id": t.ID, "timestamp": t.iso(), "parentId": orNull(t.Parent),
					"data": object{"content": t.Text}}
			})
		}},
		{format: "vscode", file: "ab/chatSessions/" + talkID + ".json", write: func(of []turn) []byte {
			var requests []object
			for _, t := range of {
				if t.user() {
					requests = append(requests, object{"requestId": t.ID, "message": object{"text": t.Text}, "timestamp": t.ms(),
						"modelId": "m", "response": []any{}, "result": object{}})
				} else {
					requests[len(requests)-1]["response"] = []any{object{"value": t.Text}}
				}
			}
			return dumped(object{"version": 3, "sessionId": talkID, "creationDate": of[0].ms(),
				"lastMessageDate": last(of).ms(), "requesterUsername": "u", "responderUsername": "r", "requests": requests})
		}},
		{format: "cursor", file: "state.vscdb", database: func(of []turn) []string {
			out := []string{"CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)"}
			put := func(key string, v any) {
				out = append(out, fmt.Sprintf("INSERT INTO cursorDiskKV VALUES (%s, %s)", quote(key), quote(string(dumped(v)))))
			}
			var headers []any
			for _, t := range of {
				headers = append(headers, object{"bubbleId": t.ID})
				put("bubbleId:"+talkID+":"+t.ID, object{"bubbleId": t.ID, "type": map[bool]int{true: 1, false: 2}[t.user()],
					"text": t.Text, "createdAt": t.iso()})
			}
			put("composerData:"+talkID, object{"composerId": talkID, "name": "t", "createdAt": of[0].ms(),
				"lastUpdatedAt": last(of).ms(), "status": "completed", "fullConversationHeadersOnly": headers})
			return out
		}},
		{format: "kimi-cli", file: "sessions/0/" + talkID + "/wire.jsonl", write: func(of []turn) []byte {
			return lines(of, nil, func(t turn) any {
				m := object{"type": "TurnBegin", "payload": object{"user_input": t.Text}}
				if !t.user() {
					m = object{"type": "ContentPart", "payload": object{"type": "text", "text": t.Text}}
				}
				return object{"timestamp": t.seconds(), "message": m}
			})
		}},
		{format: "jan", file: talkID + "/messages.jsonl", write: func(of []turn) []byte {
			return lines(of, nil, func(t turn) any {
				return object{"id": t.ID, "thread_id": talkID, "role": t.role(), "object": "thread.message",
					"created_at": t.seconds(), "content": []any{object{"type": "text", "text": object{"value": t.Text}}}}
			})
		}},
		{format: "lm-studio", file: "1767348000000.conversation.json", untimed: true, write: func(of []turn) []byte {
			var messages []any
			for _, t := range of {
				messages = append(messages, object{"currentlySelected": 0, "versions": []any{object{"role": t.role(),
					"type": "singleStep", "content": []any{object{"type": "text", "text": t.Text}}}}})
			}
			return dumped(object{"name": "t", "createdAt": of[0].ms(), "messages": messages})
		}},
		{format: "deepseek", file: "conversations.json", beside: "%s/conversations.json", write: func(of []turn) []byte {
			mapping := object{}
			for _, t := range of {
				kind := map[bool]string{true: "REQUEST", false: "RESPONSE"}[t.user()]
				mapping[t.ID] = object{"id": t.ID, "parent": orNull(t.Parent), "message": object{"model": "m",
					"inserted_at": t.iso(), "fragments": []any{object{"type": kind, "content": t.Text}}}}
			}
			return dumped([]any{object{"id": talkID, "title": "t", "inserted_at": of[0].iso(), "updated_at": last(of).iso(),
				"mapping": mapping}})
		}},
		{format: "grok", file: "prod-grok-backend.json", write: func(of []turn) []byte {
			var responses []any
			for _, t := range of {
				responses = append(responses, object{"response": object{"_id": t.ID, "message": t.Text,
					"sender":      map[bool]string{true: "human", false: "assistant"}[t.user()],
					"create_time": t.iso(), "parent_response_id": orNull(t.Parent)}})
			}
			return dumped(object{"conversations": []any{object{
				"conversation": object{"id": talkID, "title": "t", "create_time": of[0].iso(), "modify_time": last(of).iso()},
				"responses":    responses}}})
		}},
	}
}
