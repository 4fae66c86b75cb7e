package claudecode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// folder returns a fixture in memory.
func folder(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	from := os.DirFS("testdata/" + name)
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644, ModTime: time.UnixMilli(1767225600000)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// under returns files in a folder.
func under(files fstest.MapFS, folder string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, f := range files {
		out[folder+name] = f
	}
	return out
}

// grow makes a file longer by a line, and returns what takes it back.
func grow(files fstest.MapFS, name string) func() {
	was := files[name]
	now := &fstest.MapFile{Mode: 0o644, ModTime: time.UnixMilli(1767225600000)}
	if was != nil {
		now.Data = was.Data
	}
	now.Data = append(bytes.Clone(now.Data), '\n')
	files[name] = now
	return func() {
		if files[name] = was; was == nil {
			delete(files, name)
		}
	}
}

// read returns what the one session of some lines says, some ms after its last change.
func read(t *testing.T, lines string, after int64) []string {
	t.Helper()
	const changed = 1767225600000
	files := fstest.MapFS{"s.jsonl": {Data: []byte(lines), ModTime: time.UnixMilli(changed)}}
	p := transcript.Place{FS: files, Name: "s.jsonl", Now: changed + after}
	var all []transcript.Entry
	for s, err := range (claudecode.Tool{}).Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range (claudecode.Tool{}).Read(t.Context(), p, s) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
	}
	return tooltest.ScriptLines(all)
}

// An answer that may still grow is held back: until something follows it, until its last
// line says why it ended and a second has gone by, or until nobody writes any more.
func TestLiveAnswers(t *testing.T) {
	node := func(kind, id, parent, message string) string {
		up := `"` + parent + `"`
		if parent == "" {
			up = "null"
		}
		return `{"parentUuid":` + up + `,"isSidechain":false,"type":"` + kind + `","uuid":"` + id + `","sessionId":"s",` +
			`"message":` + message + "}\n"
	}
	user := node("user", "u1", "", `{"role":"user","content":"q"}`)
	open := node("assistant", "a1", "u1",
		`{"id":"m","model":"claude-x","content":[{"type":"text","text":"one"}],"stop_reason":null}`)
	ended := node("assistant", "a2", "a1",
		`{"id":"m","model":"claude-x","content":[{"type":"tool_use","id":"c","name":"Look","input":{}}],"stop_reason":"tool_use"}`)
	result := node("user", "r1", "a2",
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"dark"}]}`)
	next := node("assistant", "a3", "r1",
		`{"id":"n","model":"claude-x","content":[{"type":"text","text":"It is dark."}],"stop_reason":"end_turn"}`)
	stray := node("user", "u2", "u9", `{"role":"user","content":"x"}`)
	leaf := `{"type":"last-prompt","leafUuid":"a3","sessionId":"s"}` + "\n"
	const now, second, hour = 1, 1500, 3600_000
	for name, c := range map[string]struct {
		lines string
		after int64
		want  string
	}{
		"a line without an end":        {user + open, second, "s:;user | q;end held"},
		"nobody writes any more":       {user + open, hour, "s:;user | q;assistant | one;end"},
		"the end was written just now": {user + open + ended, now, "s:;user | q;end held"},
		"the end was written": {user + open + ended, second,
			"s:;user | q;assistant | one | calls c Look {};end"},
		"its result does not end an answer": {user + open + ended + result, now, "s:;user | q;end held"},
		"something follows": {user + open + ended + result + next, now,
			"s:;user | q;assistant | one | calls c Look {};tool | result of c Look: dark;end held"},
		"it is named as the last": {user + open + ended + result + next + leaf, now,
			"s:;user | q;assistant | one | calls c Look {};tool | result of c Look: dark;assistant | It is dark.;end[last_prompt:1]"},
		"the last line is torn":           {user + open[:50], second, "s:;user | q;end held"},
		"the last line is torn for ever":  {user + open[:50], hour, "s:;bad 2: the last line is not complete;user | q;end"},
		"the last line needs no line end": {strings.TrimSuffix(user, "\n"), now, "s:;user | q;end"},
		"a parent that may come":          {user + stray, now, "s:;user | q;end held"},
		"a parent that does not come":     {user + stray, second, "s:;user | q;user | x;end"},
	} {
		if got := strings.Join(read(t, c.lines, c.after), ";"); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// What is said of the conversations, and kept beside the messages.
func TestDetails(t *testing.T) {
	var metas []string
	for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, os.DirFS("testdata/answers")) {
		if e.Conversation != nil {
			c := *e.Conversation
			if c.Model != "claude-sonnet-4-5" || c.CreatedAt != 1767225601000 || c.UpdatedAt != 1767225614000 ||
				string(c.Meta) != `{"claude_code":{"cwd":"/home/u/harbour","git_branch":"west","version":"2.1.197"}}` {
				t.Errorf("the conversation is %+v, %s", c, c.Meta)
			}
			if want := (scrollback.Origin{ID: e.Source, Root: "u1", Folder: "/home/u/harbour",
				GitBranch: "west"}); *e.Origin != want {
				t.Errorf("the origin is %+v", *e.Origin)
			}
		}
		m := e.Message
		if m.Meta != nil {
			metas = append(metas, string(m.ID)+" "+string(m.Meta))
		}
		if m.ID == "a1" {
			want := scrollback.Usage{InputTokens: 330, CachedTokens: 300, CacheWriteTokens: 20, OutputTokens: 42,
				TotalTokens: 372}
			if m.Usage == nil || *m.Usage != want || m.Model != "claude-sonnet-4-5" || m.CreatedAt != 1767225603000 {
				t.Errorf("the answer is %+v, its usage %+v", m, m.Usage)
			}
			if r, ok := m.Parts[0].(scrollback.Reasoning); !ok || string(r.Opaque) != `{"signature":"c2ln"}` {
				t.Errorf("it thought %+v", m.Parts[0])
			}
		}
	}
	want := []string{`x2 {"claude_code":{"queued":true}}`,
		`u2 {"claude_code":{"cwd":"/home/u/harbour/west","git_branch":"west"}}`,
		`a7 {"claude_code":{"stop_reason":"max_tokens"}}`}
	if strings.Join(metas, "\n") != strings.Join(want, "\n") {
		t.Errorf("beside messages: %q", metas)
	}
}

// Forks name the messages that they share in the same way, and say the same in them.
func TestForks(t *testing.T) {
	said := map[string][]string{}
	for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, os.DirFS("testdata/fork")) {
		switch {
		case e.Conversation != nil && e.Origin.Root != "u1":
			t.Errorf("the root of %s is %q", e.Source, e.Origin.Root)
		case len(e.Message.Parts) > 0:
			like, err := transcript.HashLikeness(e)
			if err != nil {
				t.Fatal(err)
			}
			said[string(e.Message.ID)] = append(said[string(e.Message.ID)], like)
		}
	}
	for id, n := range map[string]int{"u1": 2, "a1": 2, "u2": 1, "v2": 1} {
		if got := said[id]; len(got) != n || n == 2 && got[0] != got[1] {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// The attachments of messages, with their bytes.
func TestAttachments(t *testing.T) {
	var got []string
	for _, e := range tooltest.ReadEntries(t, claudecode.Tool{}, folder(t, "agents")) {
		for i, b := range e.Bytes {
			raw, err := json.Marshal(e.Message.Parts[i])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw)+string(b))
		}
	}
	for _, want := range []string{`"media_type":"image/png","size":8}` + "\x89PNG\r\n\x1a\n",
		`"name":"list.pdf","size":4}%PDF`} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("there is no %q among %q", want, got)
		}
	}
	if len(got) != 3 {
		t.Errorf("there are %d", len(got))
	}
}

// A caller who is gone gets an error, and no more.
func TestGoneCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := transcript.Place{FS: folder(t, "answers"), Name: "."}
	for s := range (claudecode.Tool{}).Sessions(context.Background(), p) {
		for _, err := range (claudecode.Tool{}).Read(ctx, p, s) {
			if err == nil {
				t.Error("it is read for nobody")
			}
		}
	}
}

// Whatever stands in a session, reading it ends, keeps the order of entries, and is the
// same each time.
func FuzzSession(f *testing.F) {
	for _, name := range []string{"answers", "order", "rewinds", "compaction", "left", "inline"} {
		for _, file := range folder(f, name) {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before []string
		for range 2 {
			got := read(t, string(data), 3600_000)
			if before != nil && strings.Join(got, "\n") != strings.Join(before, "\n") {
				t.Fatal("read again it differs")
			}
			before = got
		}
		read(t, string(data), 1)
	})
}

// A file in which nobody says anything holds no session, until somebody does.
func TestSilentFiles(t *testing.T) {
	const name = "projects/-p/11111111-1111-4111-8111-111111111111.jsonl"
	silence := `{"type":"summary","summary":"x","leafUuid":"y"}` + "\n"
	for text, want := range map[string]int{"": 0, silence: 0,
		silence + `{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}` + "\n": 1} {
		n := 0
		place := transcript.Place{FS: fstest.MapFS{name: {Data: []byte(text)}}, Name: "."}
		for _, err := range (claudecode.Tool{}).Sessions(t.Context(), place) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("%q is %d sessions, want %d", text, n, want)
		}
	}
}
