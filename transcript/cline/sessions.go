package cline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// maxSmall bounds the files beside a conversation that are read whole.
const maxSmall = 4 << 20

// readSmall reads a file that is small.
func readSmall(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSmall || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is too large", path.Base(name))
	}
	return fs.ReadFile(files, name)
}

// Sessions implements transcript.Tool: one a task with those it handed to others, and one a
// run with its sub-agents.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		tasks, runs, err := findSessions(p)
		for _, dir := range rootTasks(p.FS, tasks) {
			if ctx.Err() != nil {
				yield(transcript.Session{}, ctx.Err())
				return
			}
			if !yield(taskSession(p, dir), nil) {
				return
			}
		}
		for _, name := range runs {
			if ctx.Err() != nil {
				yield(transcript.Session{}, ctx.Err())
				return
			}
			if !yield(runSession(p.FS, name), nil) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// findSessions lists the folders of tasks and the files of runs that a place has, in the order of
// their names: those are times.
func findSessions(p transcript.Place) (tasks, runs []string, err error) {
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

// rootTasks returns the tasks that no other task of the list has handed its work to, and of those
// that name each other in a circle the first.
func rootTasks(files fs.FS, tasks []string) []string {
	claimed := map[string]bool{}
	claim := func(dir string) {
		for _, m := range taskFamily(files, dir)[1:] {
			claimed[m.dir] = true
		}
	}
	children := map[string]bool{}
	for _, dir := range tasks {
		for _, child := range readItem(files, dir).Children {
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

// addStamps adds up the files of a session.
func addStamps(files fs.FS, s *transcript.Session, names ...string) {
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
	for _, m := range taskFamily(p.FS, dir) {
		for _, base := range []string{apiFile, uiFile, itemFile, modelsFile} {
			addStamps(p.FS, &s, path.Join(m.dir, base))
		}
	}
	return s
}

// taskID returns the name of a task's folder.
func taskID(p transcript.Place, dir string) string {
	if dir != "." {
		return strings.ToValidUTF8(path.Base(dir), "�")
	}
	if id := readItem(p.FS, dir).ID; id != "" {
		return id
	}
	if base := path.Base(strings.ReplaceAll(p.Path, `\`, "/")); base != "." && base != "/" {
		return base
	}
	return "task"
}

func runSession(files fs.FS, name string) transcript.Session {
	s := transcript.Session{ID: runID(name), Name: name}
	addStamps(files, &s, name, path.Join(path.Dir(name), s.ID+".json"))
	for _, agent := range agentFiles(files, name) {
		addStamps(files, &s, agent)
	}
	return s
}

func runID(name string) string {
	return strings.ToValidUTF8(strings.TrimSuffix(path.Base(name), runSuffix), "�")
}

// maxAgents bounds the sub-agents of one session.
const maxAgents = 256

// agentFiles returns the files of a run's sub-agents.
func agentFiles(files fs.FS, name string) (out []string) {
	if path.Base(path.Dir(name)) != runID(name) {
		return nil // a file by itself
	}
	list, err := fs.ReadDir(files, path.Dir(name))
	if err != nil {
		return nil
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "agent_") && strings.HasSuffix(e.Name(), runSuffix) && !e.IsDir() &&
			len(out) < maxAgents {
			out = append(out, path.Join(path.Dir(name), e.Name()))
		}
	}
	return out
}
