package collect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
)

// turn is a message of a talk that every format can keep: those of the user have odd numbers.
type turn struct {
	ID     string
	Parent string
	Text   string
	At     time.Time
}

func (t turn) user() bool       { return strings.HasPrefix(t.Text, "ask") }
func (t turn) role() string     { return map[bool]string{true: "user", false: "assistant"}[t.user()] }
func (t turn) ms() int64        { return t.At.UnixMilli() }
func (t turn) iso() string      { return t.At.UTC().Format("2006-01-02T15:04:05.000Z") }
func (t turn) seconds() float64 { return float64(t.ms()) / 1000 }

// talkBegan is when the talk of these tests began: long ago, so that nothing waits.
var talkBegan = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// line returns a talk in a straight line: a common beginning of n messages, then those of a tail,
// which were said minutes after it.
func line(n int, tail string, more, minutes int) (out []turn) {
	add := func(name string, at time.Time) {
		t := turn{ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", len(out)+1, []byte(name)[0]), At: at}
		t.Text = map[bool]string{true: "ask", false: "say"}[len(out)%2 == 0] + " " + name
		if len(out) > 0 {
			t.Parent = out[len(out)-1].ID
		}
		out = append(out, t)
	}
	for i := range n {
		add(fmt.Sprint("p", i), talkBegan.Add(time.Duration(i)*time.Second))
	}
	for i := range more {
		add(fmt.Sprint(tail, i), talkBegan.Add(time.Duration(minutes)*time.Minute+time.Duration(i)*time.Second))
	}
	return out
}

// dumped is JSON.
func dumped(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type object = map[string]any

// talkFormat is how a tool keeps a talk.
type talkFormat struct {
	format   string
	file     string
	write    func([]turn) []byte   // or
	database func([]turn) []string // statements
	untimed  bool                  // its messages have no times: of two that went on none is the newer one
	byFolder bool                  // the folder is a part of what tells its talks apart
	beside   string                // what a copy beside the file is called; %s is its name
}

const talkID = "11111111-2222-4333-8444-555555555555"

// lines returns records a line.
func lines(of []turn, first []any, record func(turn) any) []byte {
	var b bytes.Buffer
	for _, v := range first {
		fmt.Fprintf(&b, "%s\n", dumped(v))
	}
	for _, t := range of {
		fmt.Fprintf(&b, "%s\n", dumped(record(t)))
	}
	return b.Bytes()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// keepers returns all formats that keep a talk by itself and are imported again and again.
func keepers() []talkFormat {
	out := append(olderKeepers(), newerKeepers()...)
	for _, k := range out {
		if k.format == "opencode" {
			kilo := k
			kilo.format = "kilo"
			kilo.file = "kilo.db"
			kilo.beside = "kilo-%s.db"
			mimo := k
			mimo.format = "mimo-code"
			mimo.file = "mimocode.db"
			mimo.beside = "mimocode-%s.db"
			out = append(out, kilo, mimo)
		}
	}
	return out
}

func olderKeepers() []talkFormat {
	last := func(of []turn) turn { return of[len(of)-1] }
	list := func(of []turn, record func(turn) any) []any {
		out := []any{}
		for _, t := range of {
			out = append(out, record(t))
		}
		return out
	}
	block := func(t turn) []any { return []any{object{"type": "text", "text": t.Text}} }
	children := func(of []turn, t turn) []string {
		out := []string{}
		for _, o := range of {
			if o.Parent == t.ID {
				out = append(out, o.ID)
			}
		}
		return out
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return []talkFormat{
		{format: "claude-code", file: "projects/-work/" + talkID + ".jsonl",
			beside: "projects/-work/" + talkID + ".sync-conflict-%s.jsonl", write: func(of []turn) []byte {
				return lines(of, nil, func(t turn) any {
					m := object{"role": t.role(), "content": block(t)}
					if !t.user() {
						m["id"] = "msg_" + t.ID
						m["model"] = "m"
						m["stop_reason"] = "end_turn"
					}
					return object{"type": t.role(), "uuid": t.ID, "parentUuid": orNull(t.Parent), "sessionId": talkID,
						"timestamp": t.iso(),
						"cwd":       "/work", "version": "2.1.0", "isSidechain": false, "message": m}
				})
			}},
		{format: "codex", file: "sessions/2026/01/02/rollout-2026-01-02T10-00-00-" + talkID + ".jsonl",
			write: func(of []turn) []byte {
				meta := object{"timestamp": of[0].iso(), "type": "session_meta", "payload": object{
					"id": talkID, "timestamp": of[0].iso(), "cwd": "/work",
					"originator": "codex_cli_rs", "cli_version": "0.124.0", "source": "cli"}}
				return lines(of, []any{meta}, func(t turn) any {
					kind := map[bool]string{true: "input_text", false: "output_text"}[t.user()]
					return object{"timestamp": t.iso(), "type": "response_item", "payload": object{"type": "message", "role": t.role(),
						"content": []any{object{"type": kind, "text": t.Text}}}}
				})
			}},
		{format: "gemini-cli", file: ".gemini/tmp/p/chats/session-1.json",
			beside: ".gemini/tmp/p/chats/session-%s.json", write: func(of []turn) []byte {
				return fmt.Appendf(nil, `{"sessionId":"%s","projectHash":"p","startTime":"%s","lastUpdated":"%s","messages":%s}`,
					talkID,
					of[0].iso(), last(of).iso(), dumped(list(of, func(t turn) any {
						kind := map[bool]string{true: "user", false: "gemini"}[t.user()]
						return object{"id": t.ID, "timestamp": t.iso(), "type": kind, "content": t.Text}
					})))
			}},
		{format: "cline", file: "tasks/1760000000000/api_conversation_history.json", write: func(of []turn) []byte {
			return dumped(list(of, func(t turn) any { return object{"role": t.role(), "ts": t.ms(), "content": block(t)} }))
		}},
		{format: "cline", file: "sessions/1760000000000_x/1760000000000_x.messages.json", write: func(of []turn) []byte {
			return dumped(object{"version": 1, "sessionId": "1760000000000_x", "agent": "a",
				"messages": list(of, func(t turn) any {
					return object{"id": t.ID, "role": t.role(), "ts": t.ms(), "content": block(t)}
				})})
		}},
		{format: "aider", file: ".aider.chat.history.md", untimed: true, byFolder: true, write: func(of []turn) []byte {
			var b bytes.Buffer
			b.WriteString("\n# aider chat started at 2026-01-02 10:00:00\n\n")
			for _, t := range of {
				fmt.Fprintf(&b, map[bool]string{true: "#### %s  \n\n", false: "%s\n\n"}[t.user()], t.Text)
			}
			return b.Bytes()
		}},
		{format: "chatgpt", file: "conversations.json", beside: "%s/conversations.json", write: func(of []turn) []byte {
			mapping := object{}
			for _, t := range of {
				mapping[t.ID] = object{"id": t.ID, "parent": orNull(t.Parent), "children": children(of, t),
					"message": object{"id": t.ID,
						"author": object{"role": t.role()}, "create_time": t.seconds(),
						"content": object{"content_type": "text", "parts": []any{t.Text}},
						"status":  "finished_successfully", "recipient": "all", "weight": 1, "metadata": object{}}}
			}
			return dumped([]any{object{"id": talkID, "conversation_id": talkID, "title": "t", "create_time": of[0].seconds(),
				"update_time": last(of).seconds(), "mapping": mapping, "current_node": last(of).ID}})
		}},
		{format: "claude", file: "conversations.json", write: func(of []turn) []byte {
			return dumped([]any{object{"uuid": talkID, "name": "t", "created_at": of[0].iso(), "updated_at": last(of).iso(),
				"account": object{"uuid": "a"}, "chat_messages": list(of, func(t turn) any {
					return object{"uuid": t.ID, "sender": map[bool]string{true: "human", false: "assistant"}[t.user()], "text": t.Text,
						"content": block(t), "created_at": t.iso(), "updated_at": t.iso(), "attachments": []any{}, "files": []any{},
						"parent_message_uuid": orNull(t.Parent)}
				})}})
		}},
		{format: "librechat", file: "talk.json", write: func(of []turn) []byte {
			return dumped(object{"conversationId": talkID, "endpoint": "openAI", "title": "t", "branches": true,
				"recursive": false,
				"messages": list(of, func(t turn) any {
					up := t.Parent
					if up == "" {
						up = "00000000-0000-0000-0000-000000000000"
					}
					return object{"messageId": t.ID, "parentMessageId": up, "conversationId": talkID, "sender": "x", "text": t.Text,
						"isCreatedByUser": t.user(), "createdAt": t.iso()}
				})})
		}},
		{format: "open-webui", file: "chat-export-1.json", write: func(of []turn) []byte {
			messages := object{}
			for _, t := range of {
				messages[t.ID] = object{"id": t.ID, "parentId": orNull(t.Parent), "childrenIds": children(of, t), "role": t.role(),
					"content": t.Text, "timestamp": t.At.Unix(), "done": true}
			}
			return dumped([]any{object{"id": talkID, "title": "t", "created_at": of[0].At.Unix(),
				"updated_at": last(of).At.Unix(),
				"chat": object{"title": "t", "models": []any{"m"},
					"history": object{"messages": messages, "currentId": last(of).ID}}}})
		}},
		{format: "opencode", file: "opencode.db", beside: "opencode-%s.db", database: func(of []turn) []string {
			out := []string{
				"CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT, " +
					"time_created INTEGER, time_updated INTEGER)",
				"CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
				"CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
				fmt.Sprintf("INSERT INTO session VALUES ('ses_1', NULL, '/work', 't', '1.18.33', NULL, %d, %d)", of[0].ms(),
					last(of).ms()),
			}
			for _, t := range of {
				data := object{"role": t.role(), "time": object{"created": t.ms(), "completed": t.ms()}}
				if !t.user() {
					data["parentID"] = "msg_" + t.Parent
					data["finish"] = "stop"
					data["modelID"] = "m"
					data["providerID"] = "p"
				}
				row := fmt.Sprintf("INSERT INTO message VALUES ('msg_%s', 'ses_1', %d, %d, %s)", t.ID, t.ms(), t.ms(),
					quote(string(dumped(data))))
				out = append(out, row,
					fmt.Sprintf("INSERT INTO part VALUES ('prt_%s', 'msg_%s', 'ses_1', %d, %d, %s)", t.ID, t.ID, t.ms(), t.ms(),
						quote(string(dumped(object{"type": "text", "text": t.Text})))))
			}
			return out
		}},
		{format: "crush", file: "crush.db", database: func(of []turn) []string {
			out := []string{
				"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, prompt_tokens INTEGER DEFAULT 0, " +
					"updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT)",
				"CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL, model TEXT, " +
					"created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0)",
				fmt.Sprintf("INSERT INTO sessions VALUES ('s1', NULL, 't', 1, %d, %d, NULL)", last(of).At.Unix(), of[0].At.Unix()),
			}
			for _, t := range of {
				parts := []any{object{"type": "text", "data": object{"text": t.Text}},
					object{"type": "finish", "data": object{"reason": "end_turn"}}}
				out = append(out, fmt.Sprintf("INSERT INTO messages VALUES (%s, 's1', '%s', %s, 'm', %d, %d, %d, 'p', 0)",
					quote(t.ID), t.role(),
					quote(string(dumped(parts))), t.At.Unix(), t.At.Unix(), t.At.Unix()))
			}
			return out
		}},
		{format: "goose", file: "sessions.db", database: func(of []turn) []string {
			out := []string{
				"CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT DEFAULT 'user', working_dir TEXT, " +
					"created_at TIMESTAMP, updated_at TIMESTAMP)",
				"CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, " +
					"created_timestamp INTEGER, metadata_json TEXT)",
				fmt.Sprintf("INSERT INTO sessions VALUES ('20260102_1', 't', 'd', 'user', '/work', '2026-01-02 10:00:00', '%s')",
					last(of).At.UTC().Format(time.DateTime)),
			}
			for _, t := range of {
				out = append(out,
					fmt.Sprintf("INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) "+
						`VALUES ('%s', '20260102_1', '%s', %s, %d, '{"userVisible":true,"agentVisible":true}')`,
						t.ID, t.role(), quote(string(dumped(block(t)))), t.ms()))
			}
			return out
		}},
	}
}

// homed is a tool with these homes.
type homed struct {
	transcript.Tool
	homes []string
}

func (h homed) Homes(transcript.Machine) []string { return h.homes }

// library is a store into which copies of a talk are brought.
type library struct {
	*testing.T
	talkFormat
	tool   transcript.Tool
	sb     *local.Scrollback
	folder string
	clock  time.Time
	copies map[string]string // the roots of copies, by their names
}

func newLibrary(t *testing.T, k talkFormat) *library {
	t.Helper()
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sb.Close() })
	l := &library{T: t, talkFormat: k, sb: sb, folder: t.TempDir(), clock: talkBegan.Add(24 * time.Hour),
		copies: map[string]string{}}
	for _, tool := range all.Tools() {
		if tool.Name() == k.format {
			l.tool = tool
		}
	}
	return l
}

// copy writes a copy of the talk, in a folder of its own, as a file that changed now.
func (l *library) copy(name string, of []turn) {
	l.Helper()
	root := filepath.Join(l.folder, name)
	file := filepath.Join(root, filepath.FromSlash(l.file))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		l.Fatal(err)
	}
	if l.database != nil {
		foreigntest.RunStatements(l.T, file, l.database(of)...)
	} else if err := os.WriteFile(file, l.write(of), 0o600); err != nil {
		l.Fatal(err)
	}
	l.clock = l.clock.Add(time.Minute)
	if err := os.Chtimes(file, l.clock, l.clock); err != nil {
		l.Fatal(err)
	}
	l.copies[name] = root
}

// The ways by which a copy comes here.
var ways = map[string]func(l *library, copies ...string){
	"import": func(l *library, copies ...string) {
		for _, name := range copies {
			l.sweep(collect.Options{Tools: []transcript.Tool{l.tool}, Path: l.copies[name]})
		}
	},
	"upload": func(l *library, copies ...string) {
		for _, name := range copies {
			b, err := os.ReadFile(filepath.Join(l.copies[name], filepath.FromSlash(l.file)))
			if err != nil {
				l.Fatal(err)
			}
			q := transfer.ImportRequest{Name: filepath.Base(l.file)}
			if _, err := l.sb.Transfer.Import(l.Context(), l.sb.View, bytes.NewReader(b), q); err != nil {
				l.Fatalf("%s: %v", name, err)
			}
		}
	},
	"beside": besideEachOther,
	"watch": func(l *library, copies ...string) { // a watch sweeps the homes of tools
		tool := homed{Tool: l.tool}
		for _, name := range copies {
			tool.homes = append(tool.homes, l.copies[name])
			l.sweep(collect.Options{Tools: []transcript.Tool{tool}})
		}
		for range 3 {
			l.sweep(collect.Options{Tools: []transcript.Tool{tool}})
		}
	},
}

// besideEachOther are copies in one folder, as a program that keeps folders in step leaves them.
func besideEachOther(l *library, copies ...string) {
	root := filepath.Join(l.folder, "together")
	for _, name := range copies {
		from := filepath.Join(l.copies[name], filepath.FromSlash(l.file))
		to := filepath.Join(root, filepath.FromSlash(fmt.Sprintf(l.beside, name)))
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if info, statErr := os.Stat(from); err == nil && statErr == nil {
			err = os.Chtimes(to, info.ModTime(), info.ModTime())
		}
		if err != nil {
			l.Fatal(err)
		}
		for range 2 {
			l.sweep(collect.Options{Tools: []transcript.Tool{homed{l.tool, []string{root}}}})
		}
	}
}

func (l *library) sweep(o collect.Options) {
	l.Helper()
	o.Machine = collect.ThisMachine(l.folder)
	c, err := collect.New(l.sb.Transfer, l.sb.View, o)
	if err != nil {
		l.Fatal(err)
	}
	r, err := c.Import(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	for _, f := range r.Tools {
		if f.Failed > 0 || f.BadLines > 0 {
			l.Fatalf("%+v", f)
		}
	}
}

// stands says all that an import may change: each conversation with its version, its current
// path, and its branches.
func (l *library) stands() (paths []string, branches int, state string) {
	l.Helper()
	list, _, err := l.sb.List(l.Context(), scrollback.ListQuery{})
	if err != nil {
		l.Fatal(err)
	}
	for _, c := range list {
		all, err := l.sb.Branches().List(l.Context(), c.ID)
		if err != nil {
			l.Fatal(err)
		}
		branches += len(all)
		state += fmt.Sprintf("%s version %d on %s;", c.ID, c.Version, c.Branch)
		for _, b := range all {
			state += fmt.Sprintf(" %s %d", b.ID, b.HeadSeq)
		}
		var texts []string
		after := int64(0)
		page, err := l.sb.Turns().Page(l.Context(), c.ID,
			scrollback.PageQuery{Branch: c.Branch, After: &after, Limit: scrollback.ListMax})
		if err != nil {
			l.Fatal(err)
		}
		for _, m := range page.Messages {
			texts = append(texts, strings.TrimSpace(m.Parts.Text()))
		}
		paths = append(paths, strings.Join(texts, ", "))
	}
	return paths, branches, state
}

func said(of []turn) string {
	var texts []string
	for _, t := range of {
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, ", ")
}

// want fails unless there is one conversation, with this current path and this number of branches.
func (l *library) want(when string, of []turn, branches int) (state string) {
	l.Helper()
	paths, n, state := l.stands()
	if len(paths) != 1 || paths[0] != said(of) || n != branches {
		l.Fatalf("%s: %d branches, the current one says %q, want %d and %q", when, n, paths, branches, said(of))
	}
	return state
}

// Of copies of one talk, an older one never takes anything back, a newer one is what the talk
// grew to, two that both went on are branches of which the one with the newest message is
// current, and none changes anything again, whatever the order.
func TestCopiesOfATalk(t *testing.T) {
	t.Parallel()
	older := line(4, "", 0, 0)
	newer := line(4, "n", 4, 10)
	ours := line(4, "a", 4, 20)
	theirs := line(4, "b", 2, 30)
	for _, k := range keepers() {
		for way, bring := range ways {
			switch {
			case way != "import" && !k.byFolder && k.format != "claude-code" && testlength.Choose(true, false, false):
				continue // each way once, and each tool once
			case way == "upload" && k.database != nil, way != "upload" && k.byFolder, way == "beside" && k.beside == "":
				continue // a database is read where it is
			}
			name := k.format + " " + way
			if strings.HasSuffix(k.file, "messages.json") {
				name += " cli"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLibrary(t, k)
				l.copy("newer", newer)
				l.copy("older", older) // which was copied back later
				bring(l, "newer")
				state := l.want("first", newer, 1)
				bring(l, "older")
				bring(l, "newer", "older")
				if again := l.want("older after newer", newer, 1); again != state {
					t.Errorf("an older copy changed\n%s to\n%s", state, again)
				}
				l = newLibrary(t, k)
				l.copy("older", older)
				l.copy("newer", newer)
				bring(l, "older")
				l.want("the older one", older, 1)
				bring(l, "newer")
				l.want("newer after older", newer, 1)
				for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
					l = newLibrary(t, k)
					l.copy("b", theirs)
					l.copy("a", ours)
					l.copy("older", older)
					bring(l, order...)
					current := theirs
					if k.untimed {
						if paths, _, _ := l.stands(); len(paths) == 1 && paths[0] == said(ours) {
							current = ours
						}
					}
					state := l.want(fmt.Sprint(order), current, 2)
					for _, again := range [][]string{{"older"}, {"a", "b", "older"}, {"b", "a"}, {"a"}, {"older", "b"}, {"b"}} {
						bring(l, again...)
						if now := l.want(fmt.Sprint(order, " and then ", again), current, 2); now != state {
							t.Errorf("%v and then %v changed\n%s to\n%s", order, again, state, now)
						}
					}
				}
			})
		}
	}
}

// All tools that are known keep a talk in these tests.
func TestKeepersAreAll(t *testing.T) {
	t.Parallel()
	for _, tool := range all.Tools() {
		switch tool.Name() {
		case "gemini-apps":
			continue // its file has questions with one answer each, which belong to no talk
		case "traex":
			continue // it is Codex in a folder of its own, and read nowhere else
		}
		if !slices.ContainsFunc(keepers(), func(k talkFormat) bool { return k.format == tool.Name() }) {
			t.Errorf("%s keeps no talk here", tool.Name())
		}
	}
}
