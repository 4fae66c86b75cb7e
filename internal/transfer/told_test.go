package transfer

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/told"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
)

// given is a text that hooks give.
const given = told.Head + "\n" + `[{"when":"2026-11-20","says":"the lease ends"}]` + "\n" + told.Tail

// keptIn are folders with what tools have written, by the tool.
var keptIn = map[string]string{
	"claude-code": "claudecode/testdata/fork",
	"codex":       "codex/testdata/fork",
	"opencode":    "opencode/testdata/kilo.sql",
	"kilo":        "opencode/testdata/kilo.sql",
	"cline":       "cline/testdata/editor",
	"gemini-cli":  "../cmd/scrollback/testdata/reports/22-gemini-two-files-both/tmp",
	"pi":          "pi/testdata/sessions",
	"openclaw":    "pi/testdata/openclaw.sql",
	"qwen-code":   "qwencode/testdata/projects",
	"copilot-cli": "copilotcli/testdata/session-state",
	"vscode":      "vscodechat/testdata/workspaceStorage",
	"cursor":      "cursor/testdata/projects",
	"kimi-cli":    "kimicli/testdata/kimi",
	"jan":         "jan/testdata/threads",
	"lm-studio":   "lmstudio/testdata/conversations",
}

// said returns what entries say, in words, and what a person wrote there.
func said(t *testing.T, tool transcript.Tool, p transcript.Place) (all, asked []string) {
	t.Helper()
	for s, err := range tool.Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		p.Now = s.Changed + 1<<40
		for e, err := range leaveOutTold(tool.Read(t.Context(), p, s)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Rewind != nil {
				all = append(all, "back to "+string(rune('0'+*e.Rewind)))
			}
			if e.Message.Role == "" {
				continue
			}
			text := e.Message.Parts.Text()
			all = append(all, string(e.Message.Role)+" "+strings.TrimSpace(text))
			if e.Message.Role == scrollback.RoleUser {
				asked = append(asked, text)
			}
		}
	}
	return all, asked
}

// inJSON returns a text as it stands in JSON, without the quotes.
func inJSON(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()[1 : b.Len()-2]
}

// What hooks told an agent is not part of what a person said to it, in whatever form and file it keeps their prompts.
func TestToldIsLeftOutOfEachTool(t *testing.T) {
	for _, tool := range all.Tools() {
		from, ok := keptIn[tool.Name()]
		if !ok {
			continue
		}
		t.Run(tool.Name(), func(t *testing.T) {
			from := filepath.Join("..", "..", "transcript", filepath.FromSlash(from))
			files := fstest.MapFS{}
			if strings.HasSuffix(from, ".sql") {
				raw, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				files["x.sql"] = &fstest.MapFile{Data: raw}
			} else if err := fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				raw, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
				files[name] = &fstest.MapFile{Data: raw}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			place := func(f fstest.MapFS) transcript.Place {
				if f["x.sql"] == nil {
					return transcript.Place{FS: f, Name: "."}
				}
				name := map[string]string{"openclaw": "openclaw-agent.sqlite"}[tool.Name()]
				if name == "" {
					name = tool.Name() + ".db"
				}
				folder := t.TempDir()
				foreigntest.RunStatements(t, filepath.Join(folder, name),
					strings.Split(strings.TrimSpace(string(f["x.sql"].Data)), "\n")...)
				return transcript.Place{FS: os.DirFS(folder), Name: name, Path: folder}
			}
			want, asked := said(t, tool, place(files))
			for _, around := range [][2]string{{"", "\n\n<system_reminder>" + given + "</system_reminder>"},
				{"<hook_context>" + given + "</hook_context>\n\n", ""}} {
				changed := fstest.MapFS{}
				n := 0
				for name, f := range files {
					data := f.Data
					for _, text := range slices.Compact(slices.Sorted(slices.Values(asked))) {
						old := inJSON(t, text)
						if len(text) > 5 && bytes.Contains(data, old) {
							n++
							data = bytes.ReplaceAll(data, old, inJSON(t, around[0]+text+around[1]))
						}
					}
					changed[name] = &fstest.MapFile{Data: data}
				}
				if n == 0 {
					t.Fatalf("nothing that was asked stands in the files: %q", asked)
				}
				got, _ := said(t, tool, place(changed))
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%q: %s", around, d)
				}
			}
		})
	}
}

// Messages of which nothing is left are none: what comes behind them is counted without them.
func TestToldMessages(t *testing.T) {
	at := func(n int) *int { return &n }
	say := func(parts ...scrollback.Part) transcript.Entry {
		return transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: parts}}
	}
	text := func(s string) scrollback.Part { return scrollback.Text{Text: s} }
	picture := say(text("<hook_context>"+given+"</hook_context>"), scrollback.Image{Name: "a.png"}, text("look"))
	picture.Bytes = map[int][]byte{1: []byte("png")}
	answer := say(text(given))
	answer.Message.Role = scrollback.RoleAssistant
	var got []string
	for e, err := range leaveOutTold(yieldEntries(
		transcript.Entry{Conversation: &scrollback.Conversation{Title: told.Head[:60] + "…"}}, say(text(given)),
		say(text("first")), picture, say(text(given+"\n"+given)), answer, say(text("last")),
		transcript.Entry{Without: &[]int{1, 2, 6}}, transcript.Entry{Rewind: at(4)}, say(text("again")),
		transcript.Entry{Rewind: at(1)})) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal([]any{e.Message.Role, len(e.Message.Parts), e.Message.Parts.Text() == given,
			len(e.Bytes[0]), e.Rewind, e.Without, e.Conversation != nil && e.Conversation.Title == ""})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(raw))
	}
	want := []string{
		`["",0,false,0,null,null,true]`, `["user",1,false,0,null,null,false]`, `["user",2,false,3,null,null,false]`,
		`["assistant",1,true,0,null,null,false]`, `["user",1,false,0,null,null,false]`,
		`["",0,false,0,null,[1,4],false]`, `["",0,false,0,2,null,false]`, `["user",1,false,0,null,null,false]`,
		`["",0,false,0,0,null,false]`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func yieldEntries(entries ...transcript.Entry) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}
