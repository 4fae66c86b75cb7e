package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/notebook"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// shownNotebook is what notebook show prints as JSON.
type shownNotebook struct {
	Conversation scrollback.ConversationID `json:"conversation_id"`
	Cells        []notebook.Row
	Running      bool
	Behind       int64
	Window       *scrollback.Manifest
}

// row is a cell in short: "answer", with a mark for what is stale or was interrupted.
func (s shownNotebook) answers() (out []string) {
	for _, c := range s.Cells {
		a := c.Answer
		if c.Stale {
			a += " (stale)"
		}
		if c.Cut {
			a += " (interrupted)"
		}
		out = append(out, a)
	}
	return out
}

func showCells(t *testing.T, data, file string) (s shownNotebook) {
	t.Helper()
	if err := json.Unmarshal([]byte(output(t, data, "notebook", "show", file, "--json")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// ran runs the program in this process, wants its exit code, and returns what it printed on both streams.
func ran(t *testing.T, data string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	got, stdout, stderr := inside(t, data, args...)
	if got != code {
		t.Fatalf("scrollback %s ended with %d, want %d\n%s", strings.Join(args, " "), got, code, stderr)
	}
	return stdout, stderr
}

// says wants each text to be in a longer one.
func says(t *testing.T, in string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(in, text) {
			t.Errorf("%q is not in\n%s", text, in)
		}
	}
}

func talk(t *testing.T, data string, id scrollback.ConversationID) (out []string) {
	t.Helper()
	var page scrollback.MessagePage
	if err := json.Unmarshal([]byte(output(t, data, "show", string(id), "--json")), &page); err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Messages {
		if m.Name != scrollback.EnvironmentName {
			line, _, _ := strings.Cut(m.Parts.Text(), "\n")
			out = append(out, string(m.Role[0])+":"+line)
		}
	}
	return out
}

func edit(t *testing.T, file, was, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), was) {
		t.Fatalf("%q is not in %s (%v)", was, text, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), was, now, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

var notebookKinds = []string{".ipynb", ".mtm"}

const (
	keyFact     = "The spare key is under the third bollard."
	keyQuestion = "Where is the spare key?"
	foundKey    = "From this conversation:"
)

// A notebook is made, run cell by cell, run again in the middle, and run as a whole.
func TestNotebookRuns(t *testing.T) {
	t.Parallel()
	for _, ext := range notebookKinds {
		data := t.TempDir()
		file := filepath.Join(t.TempDir(), "plan"+ext)
		says(t, output(t, data, "notebook", "new", file, "--title", "Plan"), file)
		if s := showCells(t, data, file); len(s.Cells) != 0 || s.Conversation != "" || s.Window != nil {
			t.Errorf("a new notebook shows %+v", s)
		}
		says(t, output(t, data, "notebook", "run", file, keyFact), "Noted.")
		says(t, output(t, data, "notebook", "run", file, "--cell", "new", keyQuestion), "[#1]", "third bollard")
		s := showCells(t, data, file)
		id := s.Conversation
		if len(s.Cells) != 2 || s.Cells[1].Answer != foundKey || s.Behind != 0 || s.Window == nil || s.Window.Tokens == 0 {
			t.Fatalf("it shows %+v", s)
		}
		if got := talk(t, data, id); len(got) != 4 || got[2] != "u:"+keyQuestion {
			t.Errorf("the conversation is %q", got)
		}
		edit(t, file, "third bollard", "fourth bollard")
		_, notes := ran(t, data, 0, "notebook", "run", file, "--cell", "1")
		says(t, notes, "stale: 1")
		s = showCells(t, data, file)
		if !s.Cells[1].Stale || s.Cells[0].Stale || s.Cells[1].Answer != foundKey || s.Behind != 0 || s.Conversation != id {
			t.Errorf("after a run in the middle: %+v", s)
		}
		if got := talk(t, data, id); len(got) != 2 || !strings.Contains(got[0], "fourth") {
			t.Errorf("the conversation is %q", got)
		}
		says(t, output(t, data, "notebook", "run", file), "fourth bollard")
		if got := showCells(t, data, file).answers(); !slices.Equal(got[1:], []string{foundKey}) {
			t.Errorf("the cells say %q", got)
		}
		var list struct{ Branches []scrollback.BranchEntry }
		if err := json.Unmarshal([]byte(output(t, data, "branches", string(id), "--json")), &list); err != nil ||
			len(list.Branches) != 2 {
			t.Errorf("there are %d branches (%v)", len(list.Branches), err)
		}
		all, _ := ran(t, data, 0, "notebook", "run", file, "--cell", "all", "--json")
		if n := strings.Count(all, `"type":"done"`); n != 2 {
			t.Errorf("%d turns of all cells:\n%s", n, all)
		}
		if got := showCells(t, data, file).answers(); strings.Contains(strings.Join(got, " "), "stale") {
			t.Errorf("after a run of all cells: %q", got)
		}
		output(t, data, "doctor")
	}
}

// System cells and what the file says of itself reach the model; folders are narrowed.
func TestNotebookInstructionsAndFolders(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.mtm")
	if err := os.WriteFile(file, []byte(`{"metadata": {"uuid": "agent 7", "name": "Seven", "parent_agent_id": "agent 6", "allowed_uris": ["/", "file:///etc"],
  "model": "acme/none", "unknown": {"kept": 1.50}},
 "context": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, notes := ran(t, data, 0, "notebook", "run", file, "--json")
	says(t, notes, "asks for /:", "asks for file:///etc:")
	s := showCells(t, data, file)
	var page struct {
		Conversations []scrollback.Conversation
	}
	if err := json.Unmarshal([]byte(output(t, data, "list", "--json")), &page); err != nil ||
		len(page.Conversations) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	c := page.Conversations[0]
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != s.Conversation || c.Title != "Seven" || !strings.HasPrefix(c.Instructions, "Be brief.") ||
		!strings.Contains(c.Instructions, notebook.SubAgent) || !slices.Equal(c.Roots, []string{real}) || c.Model != "" {
		t.Errorf("the conversation is %+v", c)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	says(t, string(text), `"unknown": {"kept": 1.50}`, `"uuid": "agent 7"`, `"content": "Be brief."`)
	_, notes = ran(t, data, 0, "notebook", "run", file, "--root", t.TempDir())
	says(t, notes, "asks for /:")
}

// A copy has a conversation of its own once it is run; a file that was moved keeps its own.
func TestNotebookCopiedAndMoved(t *testing.T) {
	t.Parallel()
	for _, ext := range notebookKinds {
		data := t.TempDir()
		dir := t.TempDir()
		file := filepath.Join(dir, "a"+ext)
		copied := filepath.Join(dir, "b"+ext)
		moved := filepath.Join(dir, "c"+ext)
		output(t, data, "notebook", "new", file)
		output(t, data, "notebook", "run", file, keyFact)
		id := showCells(t, data, file).Conversation
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, notes := ran(t, data, 0, "notebook", "run", copied, keyQuestion)
		says(t, notes, "copy of "+file)
		own := showCells(t, data, copied)
		if own.Conversation == id || own.Cells[1].Answer != foundKey {
			t.Errorf("the copy shows %+v", own)
		}
		output(t, data, "notebook", "run", copied, "And again?")
		if again := showCells(t, data, copied).Conversation; again != own.Conversation {
			t.Errorf("the copy is now in %s", again)
		}
		if got := talk(t, data, id); len(got) != 2 {
			t.Errorf("the original's conversation is %q", got)
		}
		if err := os.Rename(file, moved); err != nil {
			t.Fatal(err)
		}
		output(t, data, "notebook", "run", moved, keyQuestion)
		if now := showCells(t, data, moved); now.Conversation != id || len(now.Cells) != 2 {
			t.Errorf("the moved notebook shows %+v", now)
		}
	}
}

// An id in a file does not open a conversation that says something else.
func TestNotebookOfAnotherConversation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := t.TempDir()
	output(t, data, "run", "The code of the safe is 7F3K.")
	var page struct {
		Conversations []scrollback.Conversation
	}
	if err := json.Unmarshal([]byte(output(t, data, "list", "--json")), &page); err != nil {
		t.Fatal(err)
	}
	secret := page.Conversations[0].ID
	for name, text := range map[string]string{
		"a.ipynb": `{"cells": [], "metadata": {"scrollback": {"conversation": %q}}, "nbformat": 4, "nbformat_minor": 5}`,
		"b.mtm":   `{"metadata": {"uuid": %q}, "context": [{"role": "user", "content": "The code is another."}]}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, fmt.Appendf(nil, text, secret), 0o600); err != nil {
			t.Fatal(err)
		}
		answer, notes := ran(t, data, 0, "notebook", "run", file, "What is the code of the safe?")
		if strings.Contains(answer, "7F3K") {
			t.Errorf("%s was told %q", name, answer)
		}
		says(t, notes, "gets one of its own")
		if s := showCells(t, data, file); s.Conversation == secret || s.Conversation == "" {
			t.Errorf("%s is tied to %q", name, s.Conversation)
		}
	}
	if got := talk(t, data, secret); len(got) != 2 {
		t.Errorf("the conversation is %q", got)
	}
}

// What is said elsewhere is the same conversation: show counts it, and a run leaves it on its
// branch. What was changed in the file is a branch too.
func TestNotebookGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "a.ipynb")
	output(t, data, "notebook", "new", file)
	output(t, data, "notebook", "run", file, keyFact)
	id := string(showCells(t, data, file).Conversation)
	says(t, output(t, data, "run", "--conversation", id, keyQuestion), "third bollard")
	if s := showCells(t, data, file); s.Behind < 2 || len(s.Cells) != 1 {
		t.Errorf("it shows %+v", s)
	}
	says(t, output(t, data, "notebook", "show", file), "in the conversation only")
	_, notes := ran(t, data, 0, "notebook", "run", file, "Is it there still?")
	says(t, notes, "added to the conversation elsewhere")
	if got := talk(t, data, scrollback.ConversationID(id)); len(got) != 4 || got[2] != "u:Is it there still?" {
		t.Errorf("the conversation is %q", got)
	}
	edit(t, file, "third bollard", "fourth bollard")
	if s := showCells(t, data, file); s.Behind != -1 {
		t.Errorf("an edited notebook shows %+v", s)
	}
	says(t, output(t, data, "notebook", "run", file, keyQuestion), "fourth bollard")
	if got := talk(t, data, scrollback.ConversationID(id)); len(got) != 6 || !strings.Contains(got[0], "fourth") {
		t.Errorf("the conversation is %q", got)
	}
}

// A compressed notebook begins with the summary and leads back to the original, even for two
// cells; the original and its window stay.
func TestNotebookCompress(t *testing.T) {
	t.Parallel()
	for _, ext := range notebookKinds {
		data := t.TempDir()
		dir := t.TempDir()
		file := filepath.Join(dir, "a"+ext)
		output(t, data, "notebook", "new", file)
		says(t, second(ran(t, data, 2, "notebook", "compress", file)), "nothing to compress")
		output(t, data, "notebook", "run", file, keyFact)
		output(t, data, "notebook", "run", file, keyQuestion)
		before := showCells(t, data, file)
		text := read(t, file)
		var made struct {
			File string
			Refs []string
		}
		if err := json.Unmarshal([]byte(output(t, data, "notebook", "compress", file, "--json")), &made); err != nil ||
			len(made.Refs) == 0 {
			t.Fatalf("%+v, %v", made, err)
		}
		if !strings.HasPrefix(filepath.Base(made.File), "a-compressed-") || filepath.Ext(made.File) != ext {
			t.Errorf("it is %s", made.File)
		}
		f, err := notebook.Open(made.File)
		if err != nil {
			t.Fatal(err)
		}
		first := f.Cells()[0]
		says(t, first.Text, "third bollard", "a"+ext, string(before.Conversation), "scrollback context read "+made.Refs[0])
		if !first.Markup || first.Role != scrollback.RoleSystem {
			t.Errorf("it begins with %+v", first)
		}
		says(t, output(t, data, "context", "read", made.Refs[0]), keyFact)
		if read(t, file) != text {
			t.Error("the original was changed")
		}
		if after := showCells(t, data, file); after.Window.Tokens != before.Window.Tokens {
			t.Errorf("the original's window has %d tokens, then %d", before.Window.Tokens, after.Window.Tokens)
		}
		output(t, data, "notebook", "run", made.File, keyQuestion)
		if s := showCells(t, data, made.File); s.Conversation == before.Conversation || s.Conversation == "" {
			t.Errorf("the compressed one is in %q", s.Conversation)
		}
	}
}

func second(_, b string) string { return b }

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What cannot be run is refused before anything is asked or written.
func TestNotebookBadInput(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	cells := `{"metadata": {}, "context": [{"role": "system", "content": "s"},
 {"role": "user", "content": "one"}, {"role": "user", "content": " "}]}`
	write("cells.mtm", cells, 0o600)
	write("readonly.mtm", cells, 0o400)
	write("broken.mtm", "{\"metadata\": {},\n \"context\": [{]}", 0o600)
	write("empty.ipynb", "", 0o600)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{3, "there is no file", []string{"run", at("none.mtm")}},
		{3, "there is no file", []string{"show", at("none.ipynb")}},
		{2, "folder", []string{"run", dir}},
		{2, "line 2", []string{"run", at("broken.mtm")}},
		{2, "empty.ipynb", []string{"show", at("empty.ipynb")}},
		{3, "no cell 9", []string{"run", at("cells.mtm"), "--cell", "9"}},
		{2, "role is system", []string{"run", at("cells.mtm"), "--cell", "1"}},
		{2, "empty", []string{"run", at("cells.mtm"), "--cell", "3"}},
		{2, "number of a cell", []string{"run", at("cells.mtm"), "--cell", "two"}},
		{2, "has its own", []string{"run", at("cells.mtm"), "--cell", "2", "a prompt"}},
		{2, "empty", []string{"run", at("cells.mtm"), "--cell", "new", " "}},
		{1, "read-only", []string{"run", at("readonly.mtm")}},
		{1, "read-only", []string{"run", at("readonly.mtm"), "new prompt"}},
		{4, "already", []string{"new", at("cells.mtm")}},
		{2, "ends with", []string{"new", at("cells.txt")}},
		{3, "no folder", []string{"new", at("nowhere/cells.mtm")}},
	} {
		_, notes := ran(t, data, c.code, append([]string{"notebook"}, c.args...)...)
		if !strings.Contains(notes, c.says) {
			t.Errorf("%v says %q", c.args, notes)
		}
	}
	if read(t, at("cells.mtm")) != cells {
		t.Error("a file was changed by what was refused")
	}
	says(t, output(t, data, "list"), "No conversations")
}

// begun starts a slow run and waits for its first words.
func begun(t *testing.T, data string, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	return begunAt(t, data, slow, args...)
}

// begunAt is begun, at a pace of its own.
func begunAt(t *testing.T, data string, pace []string, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := command(t, data, pace, append([]string{"notebook", "run"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 30)); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

func slowNotebook(t *testing.T, data, ext string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slow"+ext)
	output(t, data, "notebook", "new", file)
	output(t, data, "notebook", "run", file, fact)
	return file
}

// Ctrl-C keeps what came so far in the file.
func TestNotebookCtrlC(t *testing.T) {
	t.Parallel()
	for _, ext := range notebookKinds {
		data := t.TempDir()
		file := slowNotebook(t, data, ext)
		cmd, out := begun(t, data, file, question)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, out)
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Fatalf("after Ctrl-C: %v, want exit 130", err)
		}
		s := showCells(t, data, file)
		if len(s.Cells) != 2 || !s.Cells[1].Cut || !strings.HasPrefix(s.Cells[1].Answer, "From this") || s.Behind != 0 {
			t.Errorf("the file has %+v", s.Cells)
		}
		output(t, data, "notebook", "run", file)
		if s = showCells(t, data, file); s.Cells[1].Cut {
			t.Errorf("run again it has %+v", s.Cells)
		}
	}
}

// A run whose output nobody reads any more ends quietly, like every other command; what came
// until then is in the file. Commands that only show have nothing left to do.
func TestNotebookOutputClosed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := slowNotebook(t, data, ".ipynb")
	for _, args := range [][]string{
		{"notebook", "run", file, question}, {"notebook", "show", file}, {"notebook", "show", file, "--json"}, {"list"},
		{"--help"}, {"chat"},
	} {
		want := 0
		if args[0] == "chat" || slices.Contains(args, "run") {
			want = 130
		}
		cmd := command(t, data, slow, args...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var notes bytes.Buffer
		cmd.Stdin = strings.NewReader(fact + "\nsecond line\n")
		cmd.Stdout = w
		cmd.Stderr = &notes
		r.Close()
		err = cmd.Run()
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != want || strings.Contains(notes.String(), "pipe") {
			t.Errorf("%v ended with %d (%v): %s", args, code, err, notes.String())
		}
	}
	s := showCells(t, data, file)
	if len(s.Cells) != 2 || !s.Cells[1].Cut || s.Cells[1].Answer == "" || s.Behind != 0 {
		t.Errorf("the file has %+v", s)
	}
}

// Cells below the one that was run last are no change of what was run.
func TestNotebookCellsNotRunYet(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "a.mtm")
	if err := os.WriteFile(file, []byte(`{"metadata": {}, "context": [{"role": "user", "content": "`+keyFact+`"},
 {"role": "user", "content": "Not run."}, {"role": "user", "content": "`+keyQuestion+`"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, second(ran(t, data, 2, "notebook", "run", file, "--limit", "300")), "scrollback: a limit of 300 tokens")
	for _, run := range []string{"1", "3", "1"} { // the last makes cell 3 stale
		output(t, data, "notebook", "run", file, "--cell", run)
		if s := showCells(t, data, file); s.Behind != 0 {
			t.Errorf("after a run of cell %s it is at %d: %+v", run, s.Behind, s.Cells)
		}
	}
	output(t, data, "notebook", "compress", file) // brings all cells into the conversation
	if _, notes := ran(t, data, 0, "notebook", "run", file, "--cell", "1"); strings.Contains(notes, "elsewhere") {
		t.Errorf("after notebook compress: %s", notes)
	}
	edit(t, file, "third bollard", "fourth bollard")
	if s := showCells(t, data, file); s.Behind != -1 {
		t.Errorf("an edited notebook is at %d", s.Behind)
	}
}

// The file keeps all that the marks of a cell brought, for an import elsewhere.
func TestNotebookKeepsWhatMarksBrought(t *testing.T) {
	t.Parallel()
	pixel, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAABQAAAAKCAIAAAA7N+mxAAAAFUlEQVR4" +
		"nGP4z8BANiJf56jmEaMZADFExzl02osRAAAAAElFTkSuQmCC")
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range notebookKinds {
		data := t.TempDir()
		dir := t.TempDir()
		file := filepath.Join(dir, "a"+ext)
		if err := os.WriteFile(filepath.Join(dir, "pixel.png"), pixel, 0o600); err != nil {
			t.Fatal(err)
		}
		output(t, data, "notebook", "new", file)
		output(t, data, "notebook", "run", file, "Look at ![it](pixel.png) and @[none.txt].")
		if s := showCells(t, data, file); s.Behind != 0 {
			t.Errorf("it shows %+v", s)
		}
		elsewhere := t.TempDir()
		output(t, elsewhere, "import", file)
		var page scrollback.MessagePage
		if err := json.Unmarshal([]byte(output(t, elsewhere, "show", "latest", "--json")), &page); err != nil {
			t.Fatal(err)
		}
		images := 0
		refused := 0
		for _, p := range page.Messages[0].Parts {
			switch p := p.(type) {
			case scrollback.Image:
				images++
			case scrollback.Text:
				if p.Reference != nil && p.Reference.Error != "" {
					refused++
				}
			}
		}
		if images != 1 || refused != 1 {
			t.Errorf("%s has %d images and %d references that were not read: %+v", ext, images, refused, page.Messages[0].Parts)
		}
	}
}

// The second of two that run a notebook at once is refused, and the file is the first one's.
func TestNotebookTwoProcesses(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	file := slowNotebook(t, data, ".ipynb")
	// it goes on while others are refused, on a busy machine too
	cmd, out := begunAt(t, data, []string{"SCROLLBACK_OFFLINE_PACE=250ms"}, file, question)
	if s := showCells(t, data, file); !s.Running {
		t.Errorf("while it runs it shows %+v", s)
	}
	for _, args := range [][]string{{file}, {file, "--cell", "1"}, {file, "another"}} {
		_, notes := ran(t, data, 4, append([]string{"notebook", "run"}, args...)...)
		says(t, notes, "being run")
	}
	edit(t, file, "third bollard", "third bollard") // as if it were saved in an editor
	io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	s := showCells(t, data, file)
	if len(s.Cells) != 2 || s.Cells[1].Answer != foundKey || s.Cells[1].Cut || s.Behind != 0 {
		t.Errorf("the file has %+v", s)
	}
}

// Of runs that begin at once on one file, each is in the file or ends with exit code 4.
func TestNotebookManyProcesses(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	dir := t.TempDir()
	const runs, rounds = 4, 3
	for _, ext := range []string{".ipynb", ".mtm"} {
		file := filepath.Join(dir, "new"+ext)
		output(t, data, "notebook", "new", file)
		var kept []string
		for round := range rounds { // the first on a new file, the others on an existing one
			var all [runs]*exec.Cmd
			var in [runs]io.WriteCloser
			var notes [runs]bytes.Buffer
			for i := range all {
				all[i] = command(t, data, nil, "notebook", "run", file, "-")
				all[i].Stderr = &notes[i]
				pipe, err := all[i].StdinPipe()
				if err == nil {
					err = all[i].Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				in[i] = pipe
			}
			for i, pipe := range in { // each waits for its prompt
				fmt.Fprintf(pipe, "prompt %d of round %d", i, round)
				pipe.Close()
			}
			for i, cmd := range all {
				err := cmd.Wait()
				switch prompt := fmt.Sprintf("prompt %d of round %d", i, round); {
				case err == nil:
					kept = append(kept, prompt)
				case cmd.ProcessState.ExitCode() != 4:
					t.Errorf("%s: %v: %s", prompt, err, &notes[i])
				default:
					says(t, notes[i].String(), "being run")
				}
			}
		}
		s := showCells(t, data, file)
		var there []string
		for _, c := range s.Cells {
			if there = append(there, c.Line); c.Answer == "" {
				t.Errorf("%s: no answer to %q", ext, c.Line)
			}
		}
		if len(kept) < rounds || !slices.Equal(slices.Sorted(slices.Values(there)), slices.Sorted(slices.Values(kept))) {
			t.Errorf("%s: the file has %q, and the runs that ended well were %q", ext, there, kept)
		}
	}
}

// A cell that is changed while it runs keeps what somebody wrote; the run is beside it.
func TestNotebookChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := slowNotebook(t, data, ".mtm")
	cmd, out := begun(t, data, file, question)
	edit(t, file, question, "Something else?")
	var notes bytes.Buffer
	io.Copy(&notes, out)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	beside, err := filepath.Glob(strings.TrimSuffix(file, ".mtm") + "-run-*.mtm")
	if err != nil || len(beside) != 1 {
		t.Fatalf("beside it there is %v (%v)", beside, err)
	}
	says(t, read(t, file), "Something else?")
	if strings.Contains(read(t, file), foundKey) {
		t.Error("what was said to the old text is in the file")
	}
	says(t, read(t, beside[0]), question, foundKey)
}

// With --cell all, cells that are moved while others run are found again, and one that is
// removed ends the run.
func TestNotebookCellsMovedWhileAllRun(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for name, c := range map[string]struct {
		was, now string
		code     int
		cells    int
	}{
		"one more above": {`"context": [`, `"context": [{"role": "user", "content": "A new one?"},`, 0, 4},
		"one less":       {`,{"role": "user", "content": "And what is it for?"}`, ``, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			file := filepath.Join(t.TempDir(), "a.mtm")
			text := `{"metadata": {}, "context": [{"role": "user", "content": "` + keyFact +
				`"},{"role": "assistant", "content": "Good."},` +
				`{"role": "user", "content": "` + keyQuestion + `"},{"role": "user", "content": "And what is it for?"}]}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd, out := begun(t, data, file, "--cell", "all")
			edit(t, file, c.was, c.now)
			io.Copy(io.Discard, out)
			if cmd.Wait(); cmd.ProcessState.ExitCode() != c.code {
				t.Errorf("it ended with %d, want %d", cmd.ProcessState.ExitCode(), c.code)
			}
			s := showCells(t, data, file)
			if len(s.Cells) != c.cells {
				t.Fatalf("the file has %+v", s.Cells)
			}
			for _, row := range s.Cells {
				if want := row.Line != "A new one?"; (row.Messages > 0) != want {
					t.Errorf("cell %q has %d messages", row.Line, row.Messages)
				}
			}
		})
	}
}

// kill -9 at many points of a run leaves a whole file; the next run takes back what was
// written of the answer.
func TestNotebookKilled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for i := range 8 {
		ext := notebookKinds[i%2]
		t.Run(fmt.Sprint(i, ext), func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			file := slowNotebook(t, data, ext)
			cmd := command(t, data, slices.Concat(slow, leased()), "notebook", "run", file, question)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			io.ReadFull(out, make([]byte, 30*i)) // none, a few words, all of them
			cmd.Process.Kill()
			cmd.Wait()
			if _, err := notebook.Open(file); err != nil {
				t.Fatalf("killed after %d bytes: %v", 30*i, err)
			}
			var s shownNotebook
			until(t, 60*time.Second, func() bool {
				s = showCells(t, data, file)
				return !s.Running
			})
			if last := s.Cells[len(s.Cells)-1]; s.Behind != 0 && (s.Behind > 0 || last.Messages > 0) {
				t.Errorf("killed after %d bytes: the conversation is %d behind the file: %+v", 30*i, s.Behind, last)
			}
			output(t, data, "notebook", "run", file, "And now?")
			s = showCells(t, data, file)
			if last := s.Cells[len(s.Cells)-1]; last.Messages == 0 || s.Behind != 0 {
				t.Errorf("killed after %d bytes, then run: %+v", 30*i, s)
			}
			output(t, data, "doctor")
		})
	}
}

// With --agents a cell's model starts sub-agents; the file names them, and show lists them.
func TestNotebookAgents(t *testing.T) {
	t.Parallel()
	env := employer(t, nil)
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "a.mtm")
	output(t, data, "notebook", "new", file)
	out, err := command(t, data, env, "notebook", "run", file, "--agents", "please do the garden").Output()
	if err != nil || !strings.Contains(string(out), "Both are done.") {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := notebook.Open(file)
	if err != nil || len(f.Tie().Agents) != 2 {
		t.Fatalf("the file names %v (%v)", f.Tie().Agents, err)
	}
	says(t, output(t, data, "notebook", "show", file), "└ Fence", "2 calls")
}
