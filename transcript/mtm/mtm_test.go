package mtm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mtm"
	"github.com/scrollback-ai/scrollback/transcript/notebooktest"
)

var (
	kind = notebooktest.Kind{Importer: mtm.Format{}, Exporter: mtm.Format{}, Open: mtm.Open, New: mtm.New,
		List: "context"}
	update = flag.Bool("update", false, "rewrite the golden files")
)

func TestNotebook(t *testing.T) { notebooktest.Run(t, kind) }

func FuzzOpen(f *testing.F) {
	every, err := os.ReadFile("testdata/every-field.mtm")
	if err != nil {
		f.Fatal(err)
	}
	notebooktest.FuzzNotebook(f, kind, string(every), `{"context":[{"role":"user"},{"role":"assistant"}]}`,
		"\uFEFF{\r\n\t\"context\": [\r\n\t\t{\"role\": \"user\"}\r\n\t]\r\n}",
		`{"context":[{"role":"tool"},7,{"role":"user","content":"![a](data:image/png;base64,AAAA) ![a](attachment:image-1.png)"}]}`)
}

// told returns a notebook as a golden file shows it.
func told(t *testing.T, n transcript.Notebook) string {
	t.Helper()
	var b strings.Builder
	tie := n.Tie()
	tie.Meta = nil
	fmt.Fprintf(&b, "%+v\n", tie)
	for i, c := range n.Cells() {
		fmt.Fprintf(&b, "\ncell %d: role %s, markup %v, stale %v\n%s\n", i, c.Role, c.Markup, c.Stale, c.Text)
		for j, p := range c.Images {
			fmt.Fprintf(&b, "  image %s %s %q\n", p.Name, p.MediaType, c.Bytes[j])
		}
		for _, p := range c.References {
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s\n", raw)
		}
		for _, e := range c.Interaction {
			raw, err := json.Marshal(e.Message.Parts)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s: %s\n", e.Message.Role, raw)
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != got {
		t.Errorf("%v: %s is now\n%s", err, name, got)
	}
}

// A file with every field, and with every fault, is read as the golden files show, and what
// is not set stays, however the file is written.
func TestEveryField(t *testing.T) {
	file, err := os.ReadFile("testdata/every-field.mtm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := mtm.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/every-field.cells", told(t, n))
	c, entries, bad := notebooktest.ReadFile(t, mtm.Format{}, file)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %d bytes of meta\n", c.ID, c.Title, c.Model, len(c.Meta))
	for _, e := range entries {
		raw, err := json.Marshal(e.Message.Parts)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "line %d, %s: %s\n", e.Line, e.Message.Role, raw)
	}
	for _, x := range bad {
		fmt.Fprintf(&b, "bad line %d: %s\n", x.Line, x.Reason)
	}
	golden(t, "testdata/every-field.read", b.String())
	var compact bytes.Buffer
	if err := json.Compact(&compact, file); err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{file, append([]byte("\uFEFF"), bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n"))...),
		compact.Bytes(),
		bytes.ReplaceAll(file, []byte("  "), []byte("\t")), bytes.TrimSpace(file)} {
		onlyTheSpan(t, file)
	}
}

// onlyTheSpan changes a cell in the middle: all before it and behind it stays.
func onlyTheSpan(t *testing.T, file []byte) {
	t.Helper()
	n, err := mtm.Open(file)
	if err != nil || !bytes.Equal(n.Bytes(), file) {
		t.Fatalf("%v: written as\n%s", err, n.Bytes())
	}
	i := slices.IndexFunc(n.Cells(), func(c transcript.Cell) bool { return c.Text == "old" })
	said := notebooktest.FullInteraction()
	if err := n.SetInteraction(i, said); err != nil {
		t.Fatal(err)
	}
	got := n.Bytes()
	at := bytes.Index(file, []byte(`<content_reference>…`))
	end := bytes.Index(file[at:], []byte("},")) + at
	if !bytes.HasPrefix(got, file[:at]) || !bytes.HasSuffix(got, file[end+1:]) {
		t.Errorf("more than the cell changed:\n%s", got)
	}
	if bytes.Contains(file, []byte("\r\n")) != bytes.Contains(got[at:len(got)-len(file)+end], []byte("\r\n")) {
		t.Errorf("lines end otherwise:\n%q", got)
	}
}

// What Mutsumi makes of messages is what is read here, and what is written of that is what
// it was made of.
func TestMutsumiCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID       string
		Input    []any
		Expected []struct {
			Kind     int
			Value    string
			Metadata map[string]any
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		file, err := json.Marshal(map[string]any{"metadata": map[string]any{}, "context": c.Input})
		if err != nil {
			t.Fatal(err)
		}
		n, err := mtm.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		again := mtm.New(transcript.Tie{})
		cells := n.Cells()
		if len(cells) != len(c.Expected) {
			t.Fatalf("%s: %d cells", c.ID, len(cells))
		}
		for i, want := range c.Expected {
			value := cells[i].Text
			if cells[i].Role == scrollback.RoleSystem {
				value = "**System**: " + value
			}
			said, _ := want.Metadata["mutsumi_interaction"].([]any)
			if value != want.Value || cells[i].Markup != (want.Kind == 1) || string(cells[i].Role) != want.Metadata["role"] ||
				cells[i].Role == scrollback.RoleUser && len(cells[i].Interaction) != len(said) {
				t.Errorf("%s: cell %d is %+v, want %+v", c.ID, i, cells[i], want)
			}
			if _, err := again.Append(cells[i]); err != nil {
				t.Fatal(err)
			}
		}
		var back struct{ Context []map[string]any }
		if err := json.Unmarshal(again.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		for i := range back.Context {
			if meta, ok := back.Context[i]["metadata"].(map[string]any); ok {
				if delete(meta, "scrollback"); len(meta) == 0 {
					delete(back.Context[i], "metadata")
				}
			}
			was, _ := c.Input[i].(map[string]any)
			if parts, ok := was["content"].([]any); ok && len(parts) == 2 {
				was["content"] = "see![image](data:x)" // as the cell has it, and as Mutsumi saves it
			}
			if !reflect.DeepEqual(back.Context[i], was) {
				t.Errorf("%s: message %d is written as\n%v, not\n%v", c.ID, i, back.Context[i], was)
			}
		}
	}
}

// A file that a prompt says has not changed, and no prompt shows, is shown as the notebook's
// items have it; the file stays as it was.
func TestContextItems(t *testing.T) {
	const file = `{"metadata":{"contextItems":[1,{"type":"file","key":"a","version":2,"content":"two"},
		{"type":"file","key":"b","version":1,"content":"other"},{"type":"rule","key":"c","version":1,"content":"rule"}]},"context":[
		{"role":"user","content":"x","metadata":{"last_ghost_block":{"tools":[],"files":[{"key":"a","version":1,"content":"one"}]}}},
		{"role":"user","content":"y","metadata":{"last_ghost_block":{"tools":[],"files":[{"key":"a","version":2,"content":null},
			{"key":"b","version":1,"content":"shown"},{"key":"c","version":1,"content":null}]}}},
		{"role":"user","content":"z","metadata":{"last_ghost_block":{"tools":[],"files":[{"key":"a","version":2,"content":null},
			{"key":"b","version":1,"content":null}]}}}]}`
	n, err := mtm.Open([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range n.Cells() {
		for _, p := range c.References {
			got = append(got, p.(scrollback.Text).Text)
		}
	}
	want := []string{"[file a, version 1]\none", "[file a, version 2]\ntwo", "[file b, version 1]\nshown",
		"[file c, version 1: unchanged, see version 1]",
		"[file a, version 2: unchanged, see version 2]", "[file b, version 1: unchanged, see version 1]"}
	if !slices.Equal(got, want) || string(n.Bytes()) != file {
		t.Errorf("the references are %q, want %q", got, want)
	}
}

// What the model says in a cell of its own cannot follow a prompt: there it is its answer.
func TestAppendRefuses(t *testing.T) {
	n := mtm.New(transcript.Tie{})
	if _, err := n.Append(transcript.Cell{Role: scrollback.RoleAssistant, Text: "first"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Append(transcript.Cell{Text: "q"}); err != nil {
		t.Fatal(err)
	}
	before := n.Bytes()
	for _, role := range []scrollback.Role{scrollback.RoleAssistant, scrollback.RoleTool} {
		if _, err := n.Append(transcript.Cell{Role: role, Text: "x"}); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := n.SetInteraction(0, nil); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Error(err)
	}
	if !bytes.Equal(before, n.Bytes()) {
		t.Errorf("it became\n%s", n.Bytes())
	}
}
