package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The examples run from their first cell to their last without a key; each answer quotes the
// file that its cell refers to, and what is written back keeps what was there.
func TestExampleNotebooks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"tour.ipynb": {"behind the lighthouse, wrapped in oilcloth", "on Sundays only at 09:00",
			"The access code of the blue depot is 7F3K-221.",
			"七月一日的高潮在早上六点二十分"},
		"tour.mtm": {"[FILE] harbour.md", "behind the lighthouse, wrapped in oilcloth", "低潮在下午一点二十分",
			"The third bollard is loose"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("../../examples")); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(folder, name)
			cmd := command(t, data, nil, "notebook", "run", file, "--cell", "all")
			var said, notes bytes.Buffer
			cmd.Stdout = &said
			cmd.Stderr = &notes
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, said.String(), notes.String())
			}
			rest := said.String()
			for _, answer := range want {
				at := strings.Index(rest, answer)
				if at < 0 {
					t.Fatalf("no %q, in its place, in\n%s", answer, said.String())
				}
				rest = rest[at+len(answer):]
			}
			if !strings.Contains(notes.String(), "]: unchanged since version 1, in message #") {
				t.Errorf("the second mention of a file is not noted:\n%s", notes.String())
			}
			if strings.Contains(said.String(), "nothing that answers") || strings.Contains(said.String(), "没有找到") {
				t.Errorf("the offline model does not know an answer:\n%s", said.String())
			}
			written, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(written) || !bytes.Contains(written, []byte("You answer from the files of this folder")) {
				t.Errorf("the file is\n%s", written)
			}
			for _, answer := range want {
				if !bytes.Contains(written, []byte(answer)) {
					t.Errorf("%q is not in the file", answer)
				}
			}
			if n := bytes.Count(written, []byte(`"text/plain"`)); name == "tour.ipynb" && n != len(want) {
				t.Errorf("%d answers can be seen where the file is not trusted", n)
			}
			valid(t, file)
			if shown := output(t, data, "notebook", "show", file); strings.Count(shown, "  user  ") != len(want) ||
				strings.Count(shown, "  1     ") != len(want) {
				t.Errorf("not every cell has its answer in\n%s", shown)
			}
			again := output(t, data, "notebook", "run", file, "--cell", "last")
			if !strings.Contains(again, want[len(want)-1]) {
				t.Errorf("run again, the last cell answers %q", again)
			}
		})
	}
}

// valid checks a notebook of Jupyter's against its schema, where Python has nbformat.
func valid(t *testing.T, file string) {
	t.Helper()
	if filepath.Ext(file) != ".ipynb" {
		return
	}
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import nbformat").Run() != nil {
			continue
		}
		out, err := exec.Command(python, "-c",
			"import nbformat, sys; nbformat.validate(nbformat.read(sys.argv[1], as_version=nbformat.NO_CONVERT))",
			file).CombinedOutput()
		if err != nil {
			t.Errorf("nbformat: %v\n%s", err, out)
		}
		return
	}
	t.Log("the notebook is not checked against its schema: install python3-nbformat")
}
