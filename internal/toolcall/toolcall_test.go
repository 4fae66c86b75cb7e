package toolcall

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The calls of well-known agents, and of tools that nobody knows.
func TestRead(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a/x.go\n@@\n-1\n+2\n*** Add File: y.go\n+new\n*** End Patch"
	quoted := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for _, c := range []struct{ name, arguments, want string }{
		{"Read", `{"file_path":"/srv/a.go","limit":9}`, "/srv/a.go [/srv/a.go] []"},
		{"Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "a.go [a.go] [a.go]"},
		{"MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"x"}]}`, "a.go [a.go] [a.go]"},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"x"}`, "n.ipynb [n.ipynb] [n.ipynb]"},
		{"Write", `{"content":"x","file_path":"b.md"}`, "b.md [b.md] [b.md]"},
		{"Bash", `{"command":"go test ./...\n","description":"run tests"}`, "go test ./... [] []"},
		{"Grep", `{"pattern":"func main","path":"cmd"}`, "func main [cmd] []"},
		{"WebFetch", `{"url":"https://go.dev/doc","prompt":"what is new?"}`, "https://go.dev/doc [] []"},
		{"Task", `{"description":"find the bug","prompt":"long …"}`, "find the bug [] []"},
		{"shell", `{"command":["bash","-lc","go vet ./..."],"workdir":"/srv"}`, "go vet ./... [] []"},
		{"shell", `{"command":["ls","-l"]}`, "ls -l [] []"},
		{"shell", quoted(map[string]any{"command": []string{"apply_patch", patch}}),
			"a/x.go y.go [a/x.go y.go] [a/x.go y.go]"},
		{"apply_patch", quoted(map[string]any{"input": patch}), "a/x.go y.go [a/x.go y.go] [a/x.go y.go]"},
		{"apply_patch", quoted(patch), "a/x.go y.go [a/x.go y.go] [a/x.go y.go]"},
		{"patch", quoted(map[string]any{"patchText": patch}), "a/x.go y.go [a/x.go y.go] [a/x.go y.go]"},
		{"read_file", `{"absolute_path":"/srv/a.go"}`, "/srv/a.go [/srv/a.go] []"},
		{"replace", `{"file_path":"a.go","old_string":"x","new_string":""}`, "a.go [a.go] [a.go]"},
		{"write_file", `{"file_path":"a.go","content":"x"}`, "a.go [a.go] [a.go]"},
		{"run_shell_command", `{"command":"ls","directory":"src"}`, "ls [] []"},
		{"edit", `{"filePath":"a.go","oldString":"x","newString":"y"}`, "a.go [a.go] [a.go]"},
		{"str_replace_based_edit_tool", `{"command":"create","path":"a.py","file_text":"x"}`, "a.py [a.py] [a.py]"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.py"}`, "a.py [a.py] []"},
		{"search_flights", `{"from":"FRA","to":"SHA"}`, "FRA [] []"}, {"get_weather", `{"city":"上海"}`, "上海 [] []"},
		{"clock", `{}`, " [] []"}, {"broken", `{"path":`, " [] []"}, {"none", `null`, " [] []"}, {"list", `[1]`, " [] []"},
		{"many", `{"paths":["b.go","c.go",7,"b.go"]}`, "b.go c.go [b.go c.go] []"}, {"odd", `{"path":"a\nb"}`, "a b [] []"},
	} {
		got := ReadCall([]byte(c.arguments))
		if s := fmt.Sprintf("%s %v %v", got.Subject, got.Paths, got.Wrote); s != c.want {
			t.Errorf("%s(%s) is %q, want %q", c.name, c.arguments, s, c.want)
		}
	}
}
