package transcript_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// eachMeta calls do with what the meta of all that the tools' samples hold has, field by field.
func eachMeta(t *testing.T, do func(tool, key, value string)) {
	t.Helper()
	var walk func(tool, key string, v any)
	walk = func(tool, key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, in := range v {
				walk(tool, k, in)
			}
		case []any:
			for _, in := range v {
				walk(tool, key, in)
			}
		case string:
			do(tool, key, v)
		}
	}
	homes, err := filepath.Glob(filepath.Join("*", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range homes {
		err := filepath.WalkDir(home, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			for _, tool := range all.Tools() {
				place := transcript.Place{FS: os.DirFS(name), Name: ".", Path: "/somewhere"}
				for s, err := range tool.Sessions(context.Background(), place) {
					if err != nil || s.Bad != "" {
						break
					}
					for e, err := range tool.Read(context.Background(), place, s) {
						if err != nil {
							break
						}
						raws := []json.RawMessage{e.Message.Meta}
						if e.Conversation != nil {
							raws = append(raws, e.Conversation.Meta)
						}
						for _, raw := range raws {
							var v any
							if json.Unmarshal(raw, &v) == nil {
								walk(tool.Name(), "", v)
							}
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// No tool keeps a path in a field that would go to other machines.
func TestLocalMeta(t *testing.T) {
	paths := map[string]bool{}
	eachMeta(t, func(tool, key, value string) {
		isPath := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "file:") ||
			len(value) > 2 && value[1:3] == `:\`
		if isPath && !transcript.IsLocalMeta(key) {
			t.Errorf("%s keeps a path under %q: %s", tool, key, value)
		}
		paths[key] = paths[key] || isPath
	})
	if !paths["cwd"] {
		t.Errorf("no path was found among %v", paths)
	}
}

func TestWithoutLocalMeta(t *testing.T) {
	for _, c := range []struct{ meta, want string }{
		{``, ``}, {`null`, `null`}, {`{"a": 1}`, `{"a": 1}`}, {`[{"cwd":"/x"}]`, `[{"cwd":"/x"}]`},
		{`{"t":{"cwd":"/x","version":"1"},"b":2}`, `{"b":2,"t":{"version":"1"}}`},
		{`{"t":{"deep":{"directory":"/x"}}}`, `{"t":{"deep":{}}}`}, {`{"cwd":"/x"}`, `{}`},
	} {
		if got := string(transcript.WithoutLocalMeta(json.RawMessage(c.meta))); got != c.want {
			t.Errorf("of %s: %s, want %s", c.meta, got, c.want)
		}
	}
}
