// Package cline reads the conversations of Cline and Roo Code, which keep a folder a task
// beside the settings of the editor, and of Cline on the command line, which keeps a folder
// a session.
//
// Words it adds: task (a folder with api_conversation_history.json, what was sent to the
// model), run (a session of the command line: <id>.messages.json), clock (the requests of
// ui_messages.json, which have the times that older tasks lack), spoken call (a call that an
// older assistant wrote into its text as XML).
//
// Invariants: files are rewritten whole, so one that ends early while it is live is read up
// to its last whole message; what surrounds the words of a person (details of the editor,
// tags, resumptions) is left out; results have the names of their calls; a message without
// a time waits, while the task is live, until the clock has it. Only the files named here
// are opened: never settings, where keys lie.
//
// It may not know the store or the network.
package cline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "cline"
	metaKey = "cline"
)

// The files that are read.
const (
	apiFile    = "api_conversation_history.json"
	uiFile     = "ui_messages.json"
	itemFile   = "history_item.json"
	modelsFile = "task_metadata.json"
	runSuffix  = ".messages.json"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// editors are the folders of the editors that such extensions run in.
var editors = []string{
	"Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Cursor", "Windsurf", "Windsurf - Next", "Trae", "Kiro",
	"Antigravity", "Positron", "Void",
}

// servers are the folders of editors on a machine that is worked on from another one.
var servers = []string{
	".vscode-server", ".vscode-server-insiders", ".vscode-remote", ".cursor-server", ".windsurf-server", ".vscodium-server", ".trae-server",
	".antigravity-server",
}

// extensions are the folders of the extensions.
var extensions = []string{
	"saoudrizwan.claude-dev", "saoudrizwan.cline-nightly", "rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly",
}

// Homes implements transcript.Tool.
func (Tool) Homes(m transcript.Machine) []string {
	base := path.Join(m.Home, ".config")
	switch m.System {
	case "darwin":
		base = path.Join(m.Home, "Library/Application Support")
	case "windows":
		if base = m.Getenv("APPDATA"); base == "" {
			base = path.Join(m.Home, "AppData/Roaming")
		}
	default:
		if dir := m.Getenv("XDG_CONFIG_HOME"); dir != "" {
			base = dir
		}
	}
	var users, out []string
	for _, e := range editors {
		users = append(users, path.Join(base, e, "User"))
	}
	for _, s := range servers {
		users = append(users, path.Join(m.Home, s, "data/User"))
	}
	if dir := m.Getenv("VSCODE_PORTABLE"); dir != "" {
		users = append(users, path.Join(dir, "user-data/User"))
	}
	for _, user := range users {
		for _, e := range extensions {
			out = append(out, path.Join(user, "globalStorage", e))
		}
		if dir := custom(m.FS, path.Join(user, "settings.json")); dir != "" {
			out = append(out, dir)
		}
	}
	out = append(out, path.Join(m.Home, ".cline/data"))
	if dir := m.Getenv("CLINE_DIR"); dir != "" {
		out = append(out, path.Join(dir, "data"))
	}
	for _, name := range []string{"CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"} {
		if dir := m.Getenv(name); dir != "" {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// custom is the folder that an editor's settings name for Roo. They may have comments, so
// that only the line of it is read.
func custom(files fs.FS, settings string) string {
	if files == nil {
		return ""
	}
	raw, err := small(files, strings.TrimPrefix(settings, "/"))
	if err != nil {
		return ""
	}
	_, rest, found := strings.Cut(string(raw), `"roo-cline.customStoragePath"`)
	rest, colon := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), ":")
	var dir string
	if !found || !colon || json.NewDecoder(strings.NewReader(rest)).Decode(&dir) != nil {
		return ""
	}
	return dir
}

// Sniff implements transcript.Tool.
func (Tool) Sniff(name string, head []byte) bool {
	base := path.Base(name)
	if base == apiFile {
		return true
	}
	if !strings.HasSuffix(base, runSuffix) {
		return false
	}
	seen := transcript.Fields(head)
	return seen["sessionId"] || seen["version"] && (seen["agent"] || seen["messages"])
}

// mostSmall bounds the files beside a conversation that are read whole.
const mostSmall = 4 << 20

// small reads a file that is small.
func small(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostSmall || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is too large", path.Base(name))
	}
	return fs.ReadFile(files, name)
}

// Sessions implements transcript.Tool: one a task with those it handed to others, and one a
// run with its sub-agents.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		tasks, runs, err := found(p)
		for _, dir := range roots(p.FS, tasks) {
			if ctx.Err() != nil || !yield(taskSession(p, dir), nil) {
				return
			}
		}
		for _, name := range runs {
			if ctx.Err() != nil || !yield(runSession(p.FS, name), nil) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// found lists the folders of tasks and the files of runs that a place has, in the order of
// their names: those are times.
func found(p transcript.Place) (tasks, runs []string, err error) {
	info, err := fs.Stat(p.FS, p.Name)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		switch base := path.Base(p.Name); {
		case base == apiFile:
			return []string{path.Dir(p.Name)}, nil, nil
		case strings.HasSuffix(base, runSuffix):
			return nil, []string{p.Name}, nil
		}
		return nil, nil, nil
	}
	if isFile(p.FS, path.Join(p.Name, apiFile)) {
		return []string{p.Name}, nil, nil
	}
	for _, sub := range []string{".", "tasks", "data/tasks", "sessions", "data/sessions"} {
		dir := path.Join(p.Name, sub)
		list, listErr := fs.ReadDir(p.FS, dir)
		if listErr != nil && !errors.Is(listErr, fs.ErrNotExist) && sub == "." {
			return nil, nil, listErr
		}
		for _, e := range list {
			name := path.Join(dir, e.Name())
			switch {
			case isRun(e.Name()) && !e.IsDir():
				runs = append(runs, name)
			case e.IsDir() && isFile(p.FS, path.Join(name, apiFile)):
				tasks = append(tasks, name)
			case e.IsDir() && isFile(p.FS, path.Join(name, e.Name()+runSuffix)):
				runs = append(runs, path.Join(name, e.Name()+runSuffix))
			}
		}
	}
	return tasks, runs, nil
}

// isRun reports whether a file is of a run itself, not of a sub-agent of one.
func isRun(base string) bool {
	return strings.HasSuffix(base, runSuffix) && !strings.HasPrefix(base, "agent_") && len(base) > len(runSuffix)
}

func isFile(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}

// roots are the tasks that no other task of the list has handed its work to, and of those
// that name each other in a circle the first.
func roots(files fs.FS, tasks []string) []string {
	claimed := map[string]bool{}
	claim := func(dir string) {
		for _, m := range family(files, dir)[1:] {
			claimed[m.dir] = true
		}
	}
	children := map[string]bool{}
	for _, dir := range tasks {
		for _, child := range itemOf(files, dir).Children {
			children[path.Join(path.Dir(dir), child)] = true
		}
	}
	var out []string
	for _, dir := range tasks {
		if !children[dir] {
			out = append(out, dir)
			claim(dir)
		}
	}
	for _, dir := range tasks {
		if children[dir] && !claimed[dir] {
			out = append(out, dir)
			claimed[dir] = true
			claim(dir)
		}
	}
	slices.Sort(out)
	return out
}

// stamped adds up the files of a session.
func stamped(files fs.FS, s *transcript.Session, names ...string) {
	for _, name := range names {
		info, err := fs.Stat(files, name)
		if err != nil {
			continue
		}
		at := max(0, info.ModTime().UnixMilli())
		s.Bytes += info.Size()
		s.Changed = max(s.Changed, at)
		s.Stamp += fmt.Sprintf("%d@%d;", info.Size(), at)
	}
}

func taskSession(p transcript.Place, dir string) transcript.Session {
	s := transcript.Session{ID: taskID(p, dir), Name: path.Join(dir, apiFile)}
	for _, m := range family(p.FS, dir) {
		for _, base := range []string{apiFile, uiFile, itemFile, modelsFile} {
			stamped(p.FS, &s, path.Join(m.dir, base))
		}
	}
	return s
}

// taskID is the name of a task's folder.
func taskID(p transcript.Place, dir string) string {
	if dir != "." {
		return strings.ToValidUTF8(path.Base(dir), "�")
	}
	if id := itemOf(p.FS, dir).ID; id != "" {
		return id
	}
	if base := path.Base(strings.ReplaceAll(p.Path, `\`, "/")); base != "." && base != "/" {
		return base
	}
	return "task"
}

func runSession(files fs.FS, name string) transcript.Session {
	s := transcript.Session{ID: runID(name), Name: name}
	stamped(files, &s, name, path.Join(path.Dir(name), s.ID+".json"))
	for _, agent := range agents(files, name) {
		stamped(files, &s, agent)
	}
	return s
}

func runID(name string) string {
	return strings.ToValidUTF8(strings.TrimSuffix(path.Base(name), runSuffix), "�")
}

// mostAgents bounds the sub-agents of one session.
const mostAgents = 256

// agents are the files of a run's sub-agents.
func agents(files fs.FS, name string) (out []string) {
	if path.Base(path.Dir(name)) != runID(name) {
		return nil // a file by itself
	}
	list, err := fs.ReadDir(files, path.Dir(name))
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "agent_") && strings.HasSuffix(e.Name(), runSuffix) && !e.IsDir() && len(out) < mostAgents {
			out = append(out, path.Join(path.Dir(name), e.Name()))
		}
	}
	return out
}
