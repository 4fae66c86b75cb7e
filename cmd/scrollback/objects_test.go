package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/cloud/objectstest"
)

// The bytes of artifacts may be kept in a bucket of a service that speaks S3: written
// once, read through refs, checked by doctor, removed by a purge; no folder is made.
func TestObjectsInABucket(t *testing.T) { keepsObjects(t, objectstest.StartLenient(t)) }

func TestObjectsInAStrictBucket(t *testing.T) { keepsObjects(t, objectstest.StartStrict(t)) }

func keepsObjects(t *testing.T, service *objectstest.Service) {
	data := t.TempDir()
	program := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"--data", data, "--objects", service.URL("team/a")}, args...)
		if code := runProgram(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
			t.Fatalf("%v: exit %d\n%s%s", args[4:], code, out.String(), errs.String())
		}
		return out.String()
	}
	output := strings.Repeat("The pump of the 仓库 is number 4711, and runs.\n", 2000)
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	var lines strings.Builder
	for range 2 { // the same output twice
		for _, m := range []any{map[string]any{"role": "user", "content": "what runs?"},
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_call", "id": "a", "name": "ls",
				"arguments": map[string]any{}}}},
			map[string]any{"role": "tool", "content": []any{map[string]any{"type": "tool_result", "call_id": "a", "name": "ls",
				"text": output}}}} {
			line, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(line) + "\n")
		}
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	program("import", file)
	objects := func() []string { return service.ListKeys(t) }
	if keys := objects(); len(keys) != 1 || !strings.HasPrefix(keys[0], "team/a/artifacts/") {
		t.Fatalf("the bucket holds %v", keys)
	}
	var refs struct {
		Refs []struct{ Ref, Kind string }
	}
	if err := json.Unmarshal([]byte(program("context", "list", "latest", "--kind", "artifact", "--json")),
		&refs); err != nil ||
		len(refs.Refs) != 1 {
		t.Fatalf("%+v %v", refs, err)
	}
	if got := program("context", "read", refs.Refs[0].Ref); got != output {
		t.Errorf("read back are %d bytes of %d", len(got), len(output))
	}
	if found := program("context", "grep", "latest", "4711", "--max", "1"); !strings.Contains(found, "2,000 matches") {
		t.Errorf("grep finds %s", found)
	}
	program("archive", "latest")
	if keys := objects(); len(keys) != 3 || !strings.HasPrefix(keys[0], "team/a/archives/") {
		t.Errorf("with a full copy and its note the bucket holds %v", keys)
	}
	if got := program("archive", "latest", "-o", "-"); !strings.Contains(got, "4711") ||
		!strings.HasSuffix(got, `"}`+"\n") {
		t.Errorf("the full copy is %.100s", got)
	}
	if got := program("doctor"); !strings.Contains(got, "All is well") {
		t.Errorf("doctor says %s", got)
	}
	bundle := filepath.Join(t.TempDir(), "talk.bundle")
	program("export", "latest", "-o", bundle)
	var gone struct{ Conversations []struct{ ID string } }
	if err := json.Unmarshal([]byte(program("list", "--json")), &gone); err != nil || len(gone.Conversations) != 1 {
		t.Fatalf("%+v %v", gone, err)
	}
	program("trash", gone.Conversations[0].ID)
	program("purge", gone.Conversations[0].ID)
	// an artifact that was just put stays for a moment
	if keys := objects(); len(keys) != 1 || !strings.Contains(keys[0], "/artifacts/") {
		t.Errorf("of what was purged the bucket holds %v", keys)
	}
	program("import", bundle, "--as-copy") // what was purged stays away
	if got := program("context", "read", refs.Refs[0].Ref); got != output {
		t.Errorf("out of a bundle are %d bytes of %d", len(got), len(output))
	}
	if _, err := os.Stat(filepath.Join(data, "objects")); err == nil {
		t.Error("there is a folder of objects, too")
	}
}

func TestObjectsElsewhere(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	other := filepath.Join(t.TempDir(), "elsewhere")
	var out, errs bytes.Buffer
	if code := runProgram(context.Background(),
		[]string{"--data", data, "--objects", "file://" + filepath.ToSlash(other), "run",
			"hello"},
		strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d %s", code, errs.String())
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"objects", "s3://", "ftp://x/y", "file://host/x", "file:x", "s3://b?nonsense=1",
		"s3://b?region=%zz"} {
		errs.Reset()
		if code := runProgram(context.Background(), []string{"--data", data, "--objects", bad, "run", "hello"},
			strings.NewReader(""), &out,
			&errs); code != 2 || !strings.Contains(errs.String(), "objects") {
			t.Errorf("%s: exit %d %s", bad, code, errs.String())
		}
	}
}

// What was said is for its owner's eyes: files of artifacts, too.
func TestObjectsArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file's mode says nothing about its rights on Windows")
	}
	data := t.TempDir()
	long, err := json.Marshal(map[string]any{"role": "tool",
		"content": []map[string]any{{"type": "tool_result", "call_id": "c", "name": "n",
			"text": strings.Repeat("a line\n", 9000)}}})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := runProgram(context.Background(), []string{"--data", data, "import", "-"},
		bytes.NewReader(append(long, '\n')),
		&out,
		&errs); code != 0 {
		t.Fatalf("exit %d %s", code, errs.String())
	}
	files := 0
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && path != data {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if strings.Contains(path, "objects") && !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d objects, %v", files, err)
	}
}
