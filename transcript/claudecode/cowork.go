package claudecode

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// CoworkName is what Cowork is called: the agent in Claude's program for the desktop, which runs Claude Code in a
// folder of its own for each task.
const CoworkName = "cowork"

// Cowork returns the tool that reads the tasks of Cowork. Their sessions begin as Claude Code's do, so that one that is
// uploaded is taken for one of those.
func Cowork() Tool { return Tool{cowork: true} }

// coworkHomes lists where the program keeps tasks.
func coworkHomes(m transcript.Machine) []string {
	const tasks = "local-agent-mode-sessions"
	switch m.System {
	case "darwin":
		return []string{filepath.Join(m.Home, "Library", "Application Support", "Claude", tasks)}
	case "windows":
		roaming := m.Getenv("APPDATA")
		if roaming == "" {
			roaming = filepath.Join(m.Home, "AppData", "Roaming")
		}
		local := m.Getenv("LOCALAPPDATA")
		if local == "" {
			local = filepath.Join(m.Home, "AppData", "Local")
		}
		return []string{filepath.Join(roaming, "Claude", tasks),
			filepath.Join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", tasks)}
	}
	config := m.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(m.Home, ".config")
	}
	return []string{filepath.Join(config, "Claude", tasks)}
}

// inTask is where a task has the folder of Claude Code.
const inTask = "/.claude/"

// tasksBelow returns the sessions of tasks: of all accounts, or of one.
func tasksBelow(ctx context.Context, files fs.FS) (out []transcript.Session, err error) {
	for _, pattern := range []string{"local_*/.claude", "*/local_*/.claude", "*/*/local_*/.claude",
		"*/*/agent/local_*/.claude"} {
		found, err := fs.Glob(files, pattern+"/projects")
		if err != nil {
			return out, err
		}
		for _, root := range found {
			some, err := projectsBelow(ctx, files, root)
			if out = append(out, some...); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// maxTask bounds the file that describes a task.
const maxTask = 4 << 20

// describeTask yields the entries of a session, whose conversation is called as the task is, and was held where that
// was: not in the machine that Claude Code believes to be in.
func describeTask(p transcript.Place, s transcript.Session, entries iter.Seq2[transcript.Entry, error],
) iter.Seq2[transcript.Entry, error] {
	var about struct {
		Title   string   `json:"title"`
		Folders []string `json:"userSelectedFolders"`
	}
	if task, _, ok := strings.Cut("/"+s.Name, inTask); ok && path.Base(task) != "/" {
		if f, err := p.FS.Open(strings.TrimPrefix(task, "/") + ".json"); err == nil {
			raw, err := io.ReadAll(io.LimitReader(f, maxTask))
			_ = f.Close() // it was only read
			if err == nil {
				_ = json.Unmarshal(raw, &about) // what is of another type is not there
			}
		}
	}
	return func(yield func(transcript.Entry, error) bool) {
		for e, err := range entries {
			if e.Conversation != nil && e.Agent == nil && e.Source == s.ID {
				described := *e.Conversation
				if about.Title != "" {
					described.Title = strings.ToValidUTF8(about.Title, "\uFFFD")
				}
				e.Conversation = &described
				if e.Origin != nil && len(about.Folders) > 0 {
					at := *e.Origin
					at.Folder = strings.ToValidUTF8(about.Folders[0], "\uFFFD")
					e.Origin = &at
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
