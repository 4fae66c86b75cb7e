package door

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Agents say where they work each in their own way; a person who speaks of folders and branches says nothing of it.
func TestReadPlace(t *testing.T) {
	for text, want := range map[string][2]string{
		"<environment_context>\n  <cwd>/home/u/project</cwd>\n  <shell>bash</shell>":                            {"/home/u/project", ""},
		"Rules.\n<cwd>\n/home/u/it\n</cwd>":                                                                     {"/home/u/it", ""},
		"<env>\nWorking directory: /home/u/app\nIs directory a git repo: Yes\n</env>":                           {"/home/u/app", ""},
		" - Primary working directory: /srv/a b\n - Is a git repository: true\n\nCurrent branch: fix/harbour\n": {"/srv/a b", "fix/harbour"},
		"* Current working directory: C:\\Users\\me\\code\n* Git branch: main":                                  {`C:\Users\me\code`, "main"},
		"I'm currently working in the directory: /work/gemini\n":                                                {"/work/gemini", ""},
		"- **Workspace Directories:**\n  - /work/one\n  - /work/two":                                            {"/work/one", ""},
		"# Current Working Directory (/home/u/cline) Files\nmain.go":                                            {"/home/u/cline", ""},
		"Which working directory should I use, and on what branch: the new one or main?":                        {"", ""},
		"The branch office is at the harbour.":                                                                  {"", ""},
	} {
		for _, asked := range []*threading.Request{{System: []string{text}},
			{Items: []threading.Item{{Role: threading.User, Kind: threading.Text, Text: text}}}} {
			if folder, branch := readPlace(asked); folder != want[0] || branch != want[1] {
				t.Errorf("%q: %q on %q", text, folder, branch)
			}
		}
	}
}
