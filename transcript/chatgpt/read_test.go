package chatgpt_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/chatgpt"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
	"github.com/scrollback-ai/scrollback/transcript/zipped"
)

// file returns a place with one file of conversations.
func file(content string) fs.FS {
	return fstest.MapFS{"conversations.json": {Data: []byte(content)}}
}

// told returns the messages of an export by their ids, and what describes its conversations.
func told(t *testing.T, place fs.FS) (messages map[scrollback.MessageID]transcript.Entry,
	about map[string]transcript.Entry) {
	t.Helper()
	messages = map[scrollback.MessageID]transcript.Entry{}
	about = map[string]transcript.Entry{}
	for _, e := range tooltest.ReadEntries(t, chatgpt.Tool{}, place) {
		if e.Conversation != nil {
			about[e.Source] = e
		} else if len(e.Message.Parts) > 0 {
			messages[e.Message.ID] = e
		}
	}
	return messages, about
}

func TestDetails(t *testing.T) {
	messages, about := told(t, place)
	if c := about["conv-a"]; c.Conversation.Model != "gpt-5" || c.Conversation.CreatedAt != 1767000000500 ||
		c.Conversation.UpdatedAt != 1767000900250 || c.Origin.ID != "conv-a" || c.Origin.Root != "a-u1" ||
		c.Conversation.Meta != nil {
		t.Errorf("conv-a is %+v %+v", *c.Conversation, *c.Origin)
	}
	if c := about["conv-b"].Conversation; c.Title != "" || c.CreatedAt != 0 {
		t.Errorf("without a title and a time it is %+v", *c)
	}
	for id, want := range map[scrollback.MessageID]string{
		"a-u1": ` 1767000001500 `,
		"a-c1": `gpt-5-thinking 1767000003000 `,
		"a-b1": `gpt-4o 1767000020000 `,
		"a-r1": ` 1767000004000 {"chatgpt":{"tool":"python"}}`,
		"a-w1": ` 1767000009000 {"chatgpt":{"tool":"canmore.update"}}`,
		"b-a1": `gpt-5-thinking 1767000101000 {"chatgpt":{"content":{"content_type":"super_widget","widget":{"kind":"map"}}}}`,
	} {
		m := messages[id].Message
		if got := fmt.Sprintf("%s %d %s", m.Model, m.CreatedAt, m.Meta); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	shown := messages["b-u1"]
	png, err := fs.ReadFile(place, "export/dalle-generations/file_0000abcd-dot.png")
	if err != nil || !bytes.Equal(shown.Bytes[0], png) || string(shown.Bytes[5]) != "the notes" || len(shown.Bytes) != 2 {
		t.Errorf("the attachments are %v, %v", shown.Bytes, err)
	}
}

// A zip says what the folder says that it was packed from, wherever in it the files are.
func TestZip(t *testing.T) {
	for _, at := range []string{"", "ChatGPT-2026/"} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		err := fs.WalkDir(place, "export", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(place, name)
			if err != nil {
				return err
			}
			out, err := w.Create(at + strings.TrimPrefix(name, "export/"))
			if err == nil {
				_, err = out.Write(data)
			}
			return err
		})
		if err = firstError(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		p, err := zipped.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := tooltest.ReadEntries(t, chatgpt.Tool{}, p.FS)
		want := tooltest.ReadEntries(t, chatgpt.Tool{}, place)
		if a, b := encoded(t, got), encoded(t, want); a != b {
			t.Errorf("the zip says\n%s\nthe folder\n%s", a, b)
		}
	}
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func encoded(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An encrypted export says so, and what is damaged in a zip is an error.
func TestZipThatCannotBeRead(t *testing.T) {
	pack := func(flags uint16, spoil bool) fs.FS {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		text := `[{"id":"c","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["the words"]}}}}}]`
		out, err := w.CreateHeader(&zip.FileHeader{Name: "conversations.json", Flags: flags})
		if err == nil {
			_, err = out.Write([]byte(text))
		}
		if err = firstError(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if spoil {
			copy(data[bytes.Index(data, []byte("the words")):], "THE WORDS")
		}
		p, err := zipped.Open(bytes.NewReader(data), int64(len(data)), 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.FS
	}
	p := transcript.Place{FS: pack(1, false), Name: "."}
	n := 0
	for s, err := range (chatgpt.Tool{}).Sessions(t.Context(), p) {
		if n++; err != nil || !strings.Contains(s.Bad, "encrypted") || s.Name != "conversations.json" {
			t.Errorf("an encrypted file is %+v, %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("an encrypted export has %d sessions", n)
	}
	p.FS = pack(0, true)
	var failed error
	for _, err := range (chatgpt.Tool{}).Read(t.Context(), p,
		transcript.Session{ID: "conversations.json", Name: "conversations.json"}) {
		failed = err
	}
	if failed == nil || !strings.Contains(failed.Error(), "damaged") {
		t.Errorf("a damaged file: %v", failed)
	}
}

// exported returns an export of one conversation: of each node its parent and its text; who
// speaks is its first letter.
func exported(leaf string, nodes ...[3]string) fs.FS {
	mapping := map[string]any{}
	for i, n := range nodes {
		role := map[byte]string{'u': "user", 'a': "assistant"}[n[0][0]]
		var children []string
		for _, other := range nodes {
			if other[1] == n[0] {
				children = append(children, other[0])
			}
		}
		mapping[n[0]] = map[string]any{"id": n[0], "parent": n[1], "children": children, "message": map[string]any{"id": n[0],
			"author": map[string]any{"role": role}, "create_time": 1767000000 + i,
			"content": map[string]any{"content_type": "text", "parts": []string{n[2]}}}}
	}
	b, err := json.Marshal([]any{map[string]any{"id": "c", "title": "T", "mapping": mapping, "current_node": leaf}})
	if err != nil {
		panic(err)
	}
	return file(string(b))
}

func script(t *testing.T, place fs.FS) string {
	return strings.Join(tooltest.ScriptLines(tooltest.ReadEntries(t, chatgpt.Tool{}, place)), "; ")
}

// An export that was made later extends what the first one said, and an edit is a branch.
func TestLaterExports(t *testing.T) {
	nodes := [][3]string{{"u1", "", "one"}, {"a1", "u1", "two"}}
	if got := script(t, exported("a1", nodes...)); got != "c: T; user | one; assistant | two; end" {
		t.Errorf("at first %s", got)
	}
	nodes = append(nodes, [3]string{"u2", "a1", "three"})
	if got := script(t, exported("u2", nodes...)); got != "c: T; user | one; assistant | two; user | three; end" {
		t.Errorf("grown %s", got)
	}
	nodes = append(nodes, [3]string{"u3", "a1", "THREE"}, [3]string{"a3", "u3", "four"})
	if got := script(t, exported("a3", nodes...)); got != "c: T; user | one; assistant | two; user | three; back to 2; "+
		"user | THREE; assistant | four; end" {
		t.Errorf("edited %s", got)
	}
	if got := script(t, exported("u2",
		nodes...)); got != "c: T; user | one; assistant | two; user | THREE; assistant | four; back to 2; "+
		"user | three; end" {
		t.Errorf("gone back %s", got)
	}
}

// Hundreds of answers to one question stay in the order of the page.
func TestManySiblings(t *testing.T) {
	nodes := [][3]string{{"u1", "", "one"}}
	want := []string{"c: T", "user | one"}
	for i := range 700 {
		nodes = append(nodes, [3]string{fmt.Sprintf("a%d", 700-i), "u1", fmt.Sprint(i)})
		if i > 0 {
			want = append(want, "back to 1")
		}
		want = append(want, fmt.Sprintf("assistant | %d", i))
	}
	want = append(want, "end")
	if got := script(t, exported("a1", nodes...)); got != strings.Join(want, "; ") {
		t.Errorf("the answers are %.300s …", got)
	}
}

// endless is a file that makes a conversation whenever there is nothing left to read.
type endless struct {
	fs.File
	left          bytes.Buffer
	conversations int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left.Len() == 0 {
		if e.conversations == 0 {
			e.left.WriteString("[")
		}
		fmt.Fprintf(&e.left, `{"id":"c%d","mapping":{"u":{"message":{"author":{"role":"user"},`+
			`"content":{"content_type":"text","parts":[%q]}}}}},`, e.conversations, strings.Repeat("words ", 5000))
		e.conversations++
	}
	return e.left.Read(b)
}

func (e *endless) Open(string) (fs.File, error) { return e, nil }
func (e *endless) Close() error                 { return nil }

// A file is read as it is needed: one without an end gives its conversations.
func TestStream(t *testing.T) {
	e := &endless{}
	n := 0
	p := transcript.Place{FS: e}
	s := transcript.Session{Name: "conversations.json"}
	for entry, err := range (chatgpt.Tool{}).Read(t.Context(), p, s) {
		if err != nil || entry.Bad != nil {
			t.Fatal(err, entry.Bad)
		}
		if entry.End != nil {
			n++
		}
		if n == 50 {
			break
		}
	}
	if n != 50 || e.conversations > 70 {
		t.Errorf("after %d conversations %d were read", n, e.conversations)
	}
}

// What was written by hand after public descriptions of the export.
func TestShared(t *testing.T) {
	const folder = "../../../shared/agents/synthetic-chatgpt-export"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the folder of shared samples is not here")
	}
	got := tooltest.ScriptLines(tooltest.ReadEntries(t, chatgpt.Tool{}, os.DirFS(folder)))
	want := []string{
		"aaaaaaaa-0000-4000-8000-000000000001: 画点 golden",
		"user | 请画一个点 (draw a dot)",
		"assistant | 另一个回答 (regenerated; not current)",
		"back to 1",
		"assistant | thinks Planning⏎先想一想",
		`assistant | calls n-tc python {"code":"print(\"点\")"}`,
		"tool | result of n-tc python: 点⏎",
		"assistant | [image file_00000000abc: not in the export]",
		"assistant | 画好了。",
		"user | [image dot.png: not in the export] | 这是什么?",
		"assistant (interrupted) | 一个红",
		"end[context:1 recap:1 system:1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
