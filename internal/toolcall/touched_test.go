package toolcall

import (
	"fmt"
	"testing"
)

// What was searched or listed was not touched; what was read or written was.
func TestListTouched(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"Read", `{"file_path":"/srv/a.go"}`, "[/srv/a.go]"},
		{"Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "[a.go]"},
		{"read_many_files", `{"paths":["a.go","b/","c/*.go"]}`, "[a.go]"},
		{"search_replace", `{"file_path":"a.go","search":"x","replace":"y"}`, "[a.go]"},
		{"find_and_edit", `{"path":"a.go","pattern":"x","replacement":"y"}`, "[a.go]"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: list/x.go\n@@\n*** End Patch"}`, "[list/x.go]"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.py"}`, "[a.py]"},
		{"listing_of", `{"path":"a.py"}`, "[a.py]"},
		{"Grep", `{"pattern":"func main","path":"cmd"}`, "[]"},
		{"grep_search", `{"query":"x","path":"cmd/main.go"}`, "[]"},
		{"search_file_content", `{"pattern":"x","path":"internal"}`, "[]"},
		{"ripgrep", `{"path":"src","expression":"x"}`, "[]"},
		{"search_files", `{"path":"src","regex":"x","file_pattern":"*.go"}`, "[]"},
		{"Glob", `{"pattern":"**/*.go","path":"/srv"}`, "[]"},
		{"glob_file_search", `{"path":"src"}`, "[]"},
		{"LS", `{"path":"/srv"}`, "[]"},
		{"list_dir", `{"relative_workspace_path":"src"}`, "[]"},
		{"ListDir", `{"path":"src"}`, "[]"},
		{"list_directory", `{"path":"src"}`, "[]"},
		{"listFiles", `{"path":"src"}`, "[]"},
		{"mcp__fs__directory_tree", `{"path":"src"}`, "[]"},
		{"codebase_search", `{"target_directories":["src"],"path":"src"}`, "[]"},
		{"open", `{"path":"."}`, "[]"},
		{"open", `{"path":"~/"}`, "[]"},
		{"view", `{"path":"src/"}`, "[]"},
	} {
		if got := fmt.Sprint(ListTouched(c.name, []byte(c.arguments))); got != c.want {
			t.Errorf("%s(%s) touched %s, want %s", c.name, c.arguments, got, c.want)
		}
	}
}
