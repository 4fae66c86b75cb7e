package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// imported is what import --json prints.
type imported struct {
	DryRun        bool `json:"dry_run"`
	Conversations []struct {
		ID       string
		Created  bool
		Messages int64
		Total    int64
		Tool     string
		Source   string
	}
	Skipped []struct {
		Line   int
		Reason string
		Source string
	}
	Tools   []struct{ Tool string }
	Sources []struct {
		Source        string
		Conversations int
		Messages      int64
		Error         *struct{ Code, Message string }
	}
}

// importer runs commands on one store.
type importer struct {
	t    *testing.T
	data string
}

func (p importer) run(code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	if got := runProgram(context.Background(), append([]string{"--data", p.data}, args...), strings.NewReader(""), &out,
		&errs); got != code {
		p.t.Fatalf("scrollback %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// imports imports with --json, and checks that what comes has the one shape.
func (p importer) imports(code int, args ...string) (r imported) {
	p.t.Helper()
	out, _ := p.run(code, append([]string{"import", "--json"}, args...)...)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &fields); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	for _, name := range []string{"conversations", "skipped", "sources"} {
		if !bytes.HasPrefix(fields[name], []byte("[")) {
			p.t.Fatalf("%v: %q is no list\n%s", args, name, out)
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	for _, c := range r.Conversations {
		if c.ID == "" || c.Tool == "" || c.Source == "" || c.Total == 0 || c.Created && c.Messages == 0 {
			p.t.Fatalf("%v: a conversation without a field\n%s", args, out)
		}
	}
	return r
}

const claudeExport = `[{"uuid":"u-1","name":"Quinces","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:01Z",` +
	`"chat_messages":[` +
	`{"uuid":"m1","sender":"human","text":"how are quinces kept","created_at":"2026-01-01T00:00:00Z"},` +
	`{"uuid":"m2","sender":"assistant","text":"cool","created_at":"2026-01-01T00:00:01Z"}]}]`

const chatgptExport = `[{"id":"g-1","title":"Medlars","create_time":1767225600.0,"update_time":1767225601.0,` +
	`"current_node":"b","mapping":{` +
	`"r":{"id":"r","message":null,"parent":null,"children":["a"]},` +
	`"a":{"id":"a","parent":"r","children":["b"],"message":{"id":"a","author":{"role":"user"},"create_time":1767225600.0,` +
	`"content":{"content_type":"text","parts":["when are medlars ripe"]}}},` +
	`"b":{"id":"b","parent":"a","children":[],"message":{"id":"b","author":{"role":"assistant"},"create_time":1767225601.0,` +
	`"content":{"content_type":"text","parts":["after frost"]}}}}}]`

const someTalk = `{"role":"user","content":"where do sloes grow"}` + "\n" +
	`{"role":"assistant","content":"in hedges"}` + "\n"

func put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// pack writes a zip with one file.
func pack(t *testing.T, name, member, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(member)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return put(t, name, b.String())
}

// Whatever is imported, import --json has one shape; also when all of it is here.
func TestImportShape(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	from := importer{t, filepath.Join(dir, "from")}
	made := from.imports(0, put(t, filepath.Join(dir, "talk.jsonl"), someTalk))
	id := made.Conversations[0].ID
	sources := map[string]string{
		"jsonl":     filepath.Join(dir, "talk.jsonl"),
		"claude":    pack(t, filepath.Join(dir, "claude.zip"), "conversations.json", claudeExport),
		"chatgpt":   put(t, filepath.Join(dir, "chatgpt", "conversations.json"), chatgptExport),
		"codex dir": filepath.Join(dir, "codex"),
		"archive":   filepath.Join(dir, "all.json"),
		"array": put(t, filepath.Join(dir, "array.json"),
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`),
	}
	from.run(0, "archive", id, "-o", sources["archive"])
	const session = "019ca000-0091-7000-8000-0000000000aa"
	for name, file := range map[string]string{"bundle": "a.bundle", "claude-code": session + ".jsonl",
		"codex":      "codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-" + session + ".jsonl",
		"gemini-cli": "session-a.jsonl", "mtm": "a.mtm", "ipynb": "a.ipynb"} {
		sources[name] = filepath.Join(dir, file)
		put(t, sources[name], "")
		from.run(0, "export", id, "--format", name, "-o", sources[name])
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			p := importer{t, t.TempDir()}
			if slices.Contains([]string{"claude", "chatgpt", "codex dir", "codex", "claude-code"}, name) {
				r := p.imports(0, source, "--dry-run")
				if !r.DryRun || len(r.Sources) != 1 || r.Sources[0].Conversations != 1 || r.Sources[0].Messages != 2 {
					t.Errorf("a dry run says %+v", r)
				}
			}
			first := p.imports(0, source)
			if n := len(first.Conversations); n != 1 || len(first.Sources) != 1 || first.Sources[0].Source != source {
				t.Fatalf("%d conversations of %+v", n, first.Sources)
			}
			c := first.Conversations[0]
			if !c.Created || c.Messages != 2 || c.Total != 2 || !strings.HasPrefix(c.Source, source) ||
				first.Sources[0].Messages != 2 {
				t.Errorf("%+v of %+v", c, first.Sources)
			}
			again := p.imports(0, source)
			if len(again.Conversations) != 1 {
				t.Fatalf("again: %d conversations", len(again.Conversations))
			}
			want := c
			want.Created = false
			want.Messages = 0
			if again.Conversations[0] != want {
				t.Errorf("again %+v, want %+v", again.Conversations[0], want)
			}
		})
	}
}

// Several sources are all read, what is in zips in a folder too, and one that fails stops
// none of the others.
func TestImportSeveral(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	packs := filepath.Join(dir, "packs")
	pack(t, filepath.Join(packs, "claude.zip"), "conversations.json", claudeExport)
	pack(t, filepath.Join(packs, "deep", "chatgpt.ZIP"), "conversations.json", chatgptExport)
	loose := put(t, filepath.Join(dir, "talk.jsonl"), someTalk)

	p := importer{t, filepath.Join(dir, "folder")}
	if r := p.imports(0, packs, "--dry-run"); len(r.Conversations) != 0 || len(r.Sources) != 2 ||
		r.Sources[0].Messages != 2 {
		t.Errorf("a dry run says %+v", r)
	}
	out, _ := p.run(0, "import", packs)
	if !strings.Contains(out, "2 sources: 4 new messages in 2 conversations\n") {
		t.Errorf("a folder of zips:\n%s", out)
	}

	if link := filepath.Join(dir, "link"); os.Symlink(packs, link) == nil {
		if r := (importer{t, filepath.Join(dir, "linked")}).imports(0, link); len(r.Conversations) != 2 {
			t.Errorf("a link to a folder of zips: %+v", r)
		}
	}

	p = importer{t, filepath.Join(dir, "several")}
	out, errs := p.run(2, "import", packs, loose, filepath.Join(dir, "not there"))
	const sum = "4 sources: 6 new messages in 3 conversations; 1 source failed\n"
	if !strings.Contains(out, sum) || !strings.Contains(errs, "not there is not there") {
		t.Errorf("several:\n%s%s", out, errs)
	}
	r := p.imports(2, filepath.Join(dir, "not there"), loose)
	if len(r.Sources) != 2 || r.Sources[0].Error == nil || r.Sources[1].Error != nil || len(r.Conversations) != 1 {
		t.Errorf("several, one of which is not there: %+v", r)
	}

	// Beside zips: a tool's own file, a damaged zip, a zip of something else, files of no tool.
	pack(t, filepath.Join(packs, "photos.zip"), "sea.jpg", "blue")
	put(t, filepath.Join(packs, "torn.zip"), "PK\x03\x04 and no more")
	put(t, filepath.Join(packs, "notes.json"), `{"plums": 3}`)
	put(t, filepath.Join(packs, "talk.jsonl"), someTalk)
	p = importer{t, filepath.Join(dir, "mixed")}
	r = p.imports(2, packs)
	if n := len(r.Conversations); n != 3 || len(r.Sources) != 4 {
		t.Errorf("%d conversations of %+v", n, r.Sources)
	}
	for _, name := range []string{"photos.zip", "notes.json"} {
		if !slices.ContainsFunc(r.Skipped, func(b struct {
			Line   int
			Reason string
			Source string
		}) bool {
			return filepath.Base(b.Source) == name
		}) {
			t.Errorf("%s is not named in %+v", name, r.Skipped)
		}
	}
	put(t, filepath.Join(packs, "conversations.json"),
		strings.NewReplacer("u-1", "u-2", "quinces", "plums").Replace(claudeExport))
	if r = p.imports(2, packs); len(r.Conversations) != 3 {
		t.Errorf("beside a tool's file: %+v", r.Conversations)
	}

	// A folder with nothing to read is an error of its own.
	other := filepath.Join(dir, "other")
	pack(t, filepath.Join(other, "photos.zip"), "sea.jpg", "blue")
	if _, errs := p.run(2, "import", other); strings.Count(errs, "\n") != 2 ||
		!strings.Contains(errs, "photos.zip is a conversation of") {
		t.Errorf("a folder without conversations is told of once: %s", errs)
	}
	none := filepath.Join(dir, "none")
	put(t, filepath.Join(none, "sea.txt"), "blue")
	if _, errs := p.run(2, "import", other, none); !strings.Contains(errs, "nothing in "+none) {
		t.Errorf("a folder without anything: %s", errs)
	}

	// Of one conversation in two files, and of one that is here, each counts once.
	p = importer{t, filepath.Join(dir, "twice")}
	again := filepath.Join(dir, "again")
	pack(t, filepath.Join(again, "claude.zip"), "conversations.json", claudeExport)
	if out, _ = p.run(0, "import", filepath.Join(packs, "claude.zip"),
		filepath.Join(again, "claude.zip")); !strings.Contains(out,
		"2 sources: 2 new messages in 1 conversation\n") {
		t.Errorf("one conversation in two files:\n%s", out)
	}
}

// A session of Claude Code and the copy that Codex made of it are told apart in every list,
// whichever came first; again changes nothing.
func TestCodexCopiesOfClaudeCode(t *testing.T) {
	dir := t.TempDir()
	const session, thread = "11111111-2222-4333-8444-555555555555", "019ca000-0091-7000-8000-0000000000aa"
	original := put(t, filepath.Join(dir, ".claude", "projects", "-w", session+".jsonl"),
		`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"`+session+`","timestamp":"2026-01-01T00:00:00.000Z",`+
			`"cwd":"/w","message":{"role":"user","content":"how is medlar jam made?"}}`+"\n"+
			`{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"`+session+
			`","timestamp":"2026-01-01T00:00:01.000Z",`+
			`"cwd":"/w","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Slowly."}]}}`+"\n")
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-01-02T00:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	day := filepath.Join(dir, ".codex", "sessions", "2026", "01", "02")
	rollout := put(t, filepath.Join(day, "rollout-2026-01-02T00-00-00-"+thread+".jsonl"),
		record("session_meta", `{"id":"`+thread+`","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`)+
			record("response_item",
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"how is medlar jam made?"}]}`)+
			record("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Slowly."}]}`))
	ledger := filepath.Join(dir, ".codex", "external_agent_session_imports.json")
	records := `{"records":[{"source_path":"` + filepath.ToSlash(original) + `",` +
		`"imported_thread_id":"` + thread + `","imported_at":1767312000}]}`
	t.Setenv("HOME", dir)
	t.Setenv("CODEX_HOME", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	for name, c := range map[string]struct {
		late  bool // the ledger comes after the copy was imported
		steps [][]string
	}{
		"the original first": {false, [][]string{{"--from", "claude-code"}, {"--from", "codex"}}},
		"the copy first":     {false, [][]string{{"--from", "codex"}, {"--from", "claude-code"}}},
		"all at once":        {false, [][]string{{"--from", "all"}}},
		"the ledger last":    {true, [][]string{{"--from", "all"}}},
		"by its name":        {false, [][]string{{rollout}, {original}}},
		"a part of its home": {false, [][]string{{filepath.Join(dir, ".codex", "sessions")},
			{filepath.Join(dir, ".claude")}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := importer{t, t.TempDir()}
			_ = os.Remove(ledger)
			if c.late {
				p.imports(0, "--from", "all")
			}
			put(t, ledger, records)
			type listed struct {
				Conversations []struct {
					ID, Title string
					Version   int64
					Meta      json.RawMessage
				}
			}
			list := func() (l listed) {
				out, _ := p.run(0, "list", "--json")
				if err := json.Unmarshal([]byte(out), &l); err != nil {
					t.Fatal(err)
				}
				return l
			}
			for _, step := range c.steps {
				p.imports(0, step...)
			}
			now := list()
			copies := 0
			for _, one := range now.Conversations {
				if strings.Contains(string(one.Meta), `"copy_of"`) && strings.Contains(string(one.Meta), session) {
					copies++
					if one.Title != "copy of how is medlar jam made?" {
						t.Errorf("the copy is called %q", one.Title)
					}
				}
			}
			if len(now.Conversations) != 2 || copies != 1 {
				t.Fatalf("%d conversations, %d copies: %+v", len(now.Conversations), copies, now)
			}
			for range 2 {
				for _, step := range c.steps {
					p.imports(0, step...)
				}
			}
			for i, one := range list().Conversations {
				if one.Version != now.Conversations[i].Version || one.Title != now.Conversations[i].Title {
					t.Errorf("again: %+v, was %+v", one, now.Conversations[i])
				}
			}
		})
	}
}
