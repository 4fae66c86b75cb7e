package ipynb_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/notebooktest"
)

var kind = notebooktest.Kind{Importer: ipynb.Format{}, Exporter: ipynb.Format{}, Open: ipynb.Open, New: ipynb.New,
	List: "cells"}

func TestNotebook(t *testing.T) { notebooktest.Run(t, kind) }

func files(t testing.TB, dir string) (out [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.ipynb"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func open(t testing.TB, b []byte) transcript.Notebook {
	t.Helper()
	n, err := ipynb.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(n.Bytes(), b) {
		t.Fatalf("written as\n%s", n.Bytes())
	}
	return n
}

func FuzzOpen(f *testing.F) {
	for _, b := range files(f, "testdata") {
		f.Add(b)
	}
	notebooktest.FuzzNotebook(f, kind, `{"cells":[{"cell_type":"code","source":"x"}]}`,
		"\uFEFF{\r\n\t\"cells\": [\r\n\t\t{\"cell_type\": \"markdown\", "+
			"\"source\": [\"![a](attachment:a)\"], \"attachments\": {\"a\": {\"image/png\": \"AAAA\"}}}\r\n\t]}",
		`{"cells":[{"cell_type":"raw"},{"cell_type":"code","source":7},`+
			`{"cell_type":"code","metadata":{"mutsumi_interaction":[{"role":"assistant"}],"scrollback":[]}}]}`)
}

// What nbformat itself has made is read with all its fields, and a change touches only its
// own cell.
func TestMadeByNbformat(t *testing.T) {
	for _, file := range files(t, "testdata") {
		cells := open(t, file).Cells()
		var texts []string
		for _, c := range cells {
			texts = append(texts, fmt.Sprintf("%s %v %s", c.Role, c.Markup, c.Text))
		}
		want := []string{"user true # Title\n\n![a.png](attachment:a.png) and ![b c](attachment:b%20c.png)\n",
			"user false import math\nmath.pi # é钥匙 <b>", "system true Be brief.",
			"user false What is this? ![x](attachment:none.png)",
			"assistant true an answer of its own", "user false "}
		if !slices.Equal(texts, want) {
			t.Fatalf("%q", texts)
		}
		if c := cells[0]; len(c.Images) != 2 || c.Images[0].Name != "a.png" ||
			!bytes.Equal(c.Bytes[1], notebooktest.PNG) || c.Images[1].MediaType != "image/png" {
			t.Errorf("%+v", c.Images)
		}
		if c := cells[3]; len(c.Interaction) != 3 || c.References.References()[0].Source != "a.py" || len(c.Images) != 0 {
			t.Errorf("%+v", c)
		}
		c, entries, bad := notebooktest.ReadFile(t, ipynb.Format{}, file)
		var roles []string
		for _, e := range entries {
			roles = append(roles, string(e.Message.Role))
		}
		if c.Title != "Every field 每个" || len(bad) > 0 ||
			strings.Join(roles, " ") != "user user system user assistant tool assistant assistant" ||
			len(entries[0].Bytes) != 2 || !strings.Contains(string(c.Meta), `"vendor.x":{"n":1.5}`) {
			t.Errorf("%+v: %v, bad %v", c, roles, bad)
		}
		for _, file := range [][]byte{file, bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")),
			append([]byte("\uFEFF"), bytes.TrimSpace(file)...)} {
			onlyTheSpan(t, file)
		}
	}
}

// onlyTheSpan runs the cell of real code: its outputs stay, and so does all else.
func onlyTheSpan(t *testing.T, file []byte) {
	t.Helper()
	n := open(t, file)
	if err := n.SetInteraction(1, notebooktest.FullInteraction()[:1]); err != nil {
		t.Fatal(err)
	}
	got := n.Bytes()
	from := bytes.Index(file, []byte(`"execution":`))
	to := bytes.Index(file, []byte(`"raw"`))
	tail := bytes.LastIndex(file[:to], []byte(`"source": [`))
	if !bytes.HasPrefix(got, file[:from]) || !bytes.HasSuffix(got, file[tail:]) ||
		!bytes.Contains(got, []byte(`"evalue": "no"`)) {
		t.Errorf("more than the cell changed:\n%s", got)
	}
	again := open(t, got)
	if err := again.SetInteraction(1, nil); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(again.Bytes(), []byte("text/markdown")) || !bytes.Contains(again.Bytes(), []byte(`"evalue": "no"`)) {
		t.Errorf("without its answer, the cell is\n%s", again.Bytes())
	}
}

// The newest answer is what Jupyter shows under the cell, once.
func TestOutput(t *testing.T) {
	n := ipynb.New(transcript.Tie{})
	if _, err := n.Append(transcript.Cell{Text: "q"}); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"one", "two\n\nlines"} {
		said := transcript.Entry{Message: scrollback.Message{Role: "assistant", Parts: scrollback.Say(answer)}}
		call := transcript.Entry{Message: scrollback.Message{Role: "assistant",
			Parts: scrollback.Parts{scrollback.ToolCall{ID: "c", Name: "n", Arguments: []byte("{}")}}}}
		if err := n.SetInteraction(0, []transcript.Entry{said, call}); err != nil {
			t.Fatal(err)
		}
	}
	got := string(n.Bytes())
	if strings.Count(got, "text/markdown") != 1 ||
		!strings.Contains(got, "\"text/markdown\": [\n       \"two\\n\",\n       \"\\n\",\n       \"lines\"\n      ]") {
		t.Errorf("%s", got)
	}
}

// A new cell has an id that no other has where the format wants one, and none before.
func TestAppendedIDs(t *testing.T) {
	for _, file := range files(t, "testdata") {
		n := open(t, file)
		ids := map[string]bool{}
		for range 3 {
			if _, err := n.Append(transcript.Cell{Text: "same", ID: "cell-1"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range n.Cells() {
			ids[c.ID] = true
		}
		if want := bytes.Contains(file, []byte(`"nbformat_minor": 5`)); want && len(ids) != 9 || !want && len(ids) != 1 {
			t.Errorf("ids %v", ids)
		}
	}
}

// What is not a cell is named, and stays.
func TestBadCells(t *testing.T) {
	file := []byte("{\"cells\": [\n{\"cell_type\": \"heading\", \"source\": \"h\"},\n" +
		"{\"cell_type\": \"code\", \"source\": [1]},\n7,\n" +
		"{\"cell_type\": \"code\", \"source\": \"\xff\"},\n" +
		"{\"cell_type\": \"code\", \"source\": [\"a\\n\", \"b\"], \"metadata\": 3}\n], \"nbformat\": 4}")
	n := open(t, file)
	_, entries, bad := notebooktest.ReadFile(t, ipynb.Format{}, file)
	if len(entries) != 1 || entries[0].Line != 6 || entries[0].Message.Parts.Text() != "a\nb" ||
		len(bad) != 4 || bad[0].Line != 2 || bad[3].Line != 5 {
		t.Errorf("%+v, %+v", entries, bad)
	}
	if err := n.SetStale(len(n.Cells())-1, true); err != nil || !n.Cells()[len(n.Cells())-1].Stale {
		t.Errorf("%v: %s", err, n.Bytes())
	}
	_, err := ipynb.Open([]byte(`{"cells": [], "nbformat": 3}`))
	if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "nbformat 4") {
		t.Error(err)
	}
}

// python finds one that has nbformat, or says what to install.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import nbformat").Run() == nil {
			return name
		}
	}
	if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
		t.Fatal("no nbformat, and services are required: apt-get install python3-nbformat")
	}
	t.Skip("no nbformat: apt-get install python3-nbformat")
	return ""
}

// What is written is valid, and nbformat reads it as it is: changed notebooks of every
// version, and new ones in which everything occurs.
func TestValid(t *testing.T) {
	with := python(t)
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(with, append([]string{"../../.ci/notebooks.py"},
			args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("make", dir)
	made := files(t, dir)
	if len(made) != 6 {
		t.Fatalf("%d notebooks", len(made))
	}
	var written []string
	write := func(b []byte) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "n.ipynb")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		written = append(written, name)
	}
	for _, file := range made {
		n := open(t, file)
		if err := n.SetTie(transcript.Tie{Conversation: "c", Title: "T", Agents: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(transcript.Cell{Markup: true, Text: "![p](attachment:p.png)",
			Bytes:  map[int][]byte{0: notebooktest.PNG},
			Images: []scrollback.Image{{Name: "p.png", MediaType: "image/png"}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(transcript.Cell{Text: "![p](attachment:p.png)", Bytes: map[int][]byte{0: notebooktest.PNG},
			Images:      []scrollback.Image{{Name: "p.png", MediaType: "image/png"}},
			Interaction: notebooktest.FullInteraction()}); err != nil {
			t.Fatal(err)
		}
		for i, c := range n.Cells() {
			if c.Role == scrollback.RoleSystem {
				continue
			}
			if err := n.SetInteraction(i, notebooktest.FullInteraction()); err != nil {
				t.Fatal(err)
			}
			if err := n.SetStale(i, true); err != nil {
				t.Fatal(err)
			}
		}
		write(n.Bytes())
		if err := n.SetInteraction(1, nil); err != nil {
			t.Fatal(err)
		}
		write(n.Bytes())
	}
	write(ipynb.New(transcript.Tie{ID: "x", Title: "t"}).Bytes())
	var out bytes.Buffer
	c := scrollback.Conversation{ID: "c", Title: "t", Meta: []byte(`{"k":[1]}`)}
	err := (ipynb.Format{}).Write(&out, c, func(yield func(transcript.Entry, error) bool) {
		for _, e := range notebooktest.FullConversation() {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	write(out.Bytes())
	run(append([]string{"check"}, written...)...)
}
