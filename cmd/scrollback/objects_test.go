package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The bytes of artifacts may be kept in a bucket of a service that speaks S3: written
// once, read through refs, checked by doctor, removed by a purge; no folder is made.
func TestObjectsInABucket(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_CONFIG_FILE": "none",
		"AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	backend := s3mem.New()
	service := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(service.Close)
	if err := backend.CreateBucket("history"); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	program := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"--data", data, "--objects", "s3://history/team/a?region=us-east-1&use_path_style=true&endpoint=" + service.URL},
			args...)
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
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
			map[string]any{"role": "tool", "content": []any{map[string]any{"type": "tool_result", "call_id": "a", "name": "ls", "text": output}}}} {
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
	objects := func() (keys []string) {
		t.Helper()
		list, err := backend.ListBucket("history", &gofakes3.Prefix{}, gofakes3.ListBucketPage{MaxKeys: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Contents {
			keys = append(keys, o.Key)
		}
		return keys
	}
	if keys := objects(); len(keys) != 1 || !strings.HasPrefix(keys[0], "team/a/artifacts/") {
		t.Fatalf("the bucket holds %v", keys)
	}
	var refs struct {
		Refs []struct{ Ref, Kind string }
	}
	if err := json.Unmarshal([]byte(program("context", "list", "latest", "--kind", "artifact", "--json")), &refs); err != nil ||
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
		t.Errorf("with an archive and its note the bucket holds %v", keys)
	}
	if got := program("archive", "latest", "-o", "-"); !strings.Contains(got, "4711") || !strings.HasSuffix(got, "]}\n") {
		t.Errorf("the archive is %.100s", got)
	}
	if got := program("doctor"); !strings.Contains(got, "All is well") {
		t.Errorf("doctor says %s", got)
	}
	if _, err := os.Stat(filepath.Join(data, "objects")); err == nil {
		t.Error("there is a folder of objects, too")
	}
}

func TestObjectsElsewhere(t *testing.T) {
	t.Parallel()
	data, other := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"--data", data, "--objects", "file://" + filepath.ToSlash(other), "run", "hello"},
		strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d %s", code, errs.String())
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"objects", "s3://", "ftp://x/y", "file://host/x", "file:x", "s3://b?nonsense=1", "s3://b?region=%zz"} {
		errs.Reset()
		if code := run(context.Background(), []string{"--data", data, "--objects", bad, "run", "hello"}, strings.NewReader(""), &out,
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
		"content": []map[string]any{{"type": "tool_result", "call_id": "c", "name": "n", "text": strings.Repeat("a line\n", 9000)}}})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"--data", data, "import", "-"}, bytes.NewReader(append(long, '\n')), &out,
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
