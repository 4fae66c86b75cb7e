package claudecode

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

const (
	peeked    = 64 << 10 // bytes at the beginning of a file that say what it is
	short     = 8 << 10  // bytes of a file that may hold no talk
	maxFiles  = 200_000  // in a place
	maxBeside = 20_000   // of one session: sub-agents and outputs
	maxDepth  = 4        // of folders with sub-agents
)

// own is how the tool names the file of a session.
var own = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl$`)

// Sessions implements transcript.Tool: a file with its folder beside it, those that
// changed last at the end.
func (t Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		var found []transcript.Session
		var err error
		switch {
		case p.Name != "." && p.Name != "":
			found, err = singleSession(p)
		case t.cowork:
			found, err = tasksBelow(ctx, p.FS)
		default:
			found, err = sessionsBelow(ctx, p.FS)
		}
		slices.SortStableFunc(found, func(a, b transcript.Session) int {
			return cmp.Or(cmp.Compare(a.Changed, b.Changed), cmp.Compare(a.Name, b.Name))
		})
		for _, s := range found {
			if !yield(s, nil) {
				return
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// singleSession returns the session of one file.
func singleSession(p transcript.Place) ([]transcript.Session, error) {
	info, err := fs.Stat(p.FS, p.Name)
	if err != nil || info.IsDir() {
		return nil, err
	}
	if first, ok := probeFile(p.FS, p.Name); ok && path.Base(p.Name) != typed {
		return []transcript.Session{surveySession(p.FS, p.Name, info, first)}, nil
	}
	return nil, nil
}

// sessionsBelow returns the sessions of a folder: of all projects, of one, or of a configuration.
func sessionsBelow(ctx context.Context, files fs.FS) ([]transcript.Session, error) {
	root := "."
	if info, err := fs.Stat(files, "projects"); err == nil && info.IsDir() {
		root = "projects"
	}
	return projectsBelow(ctx, files, root)
}

// projectsBelow returns the sessions of the projects in a folder.
func projectsBelow(ctx context.Context, files fs.FS, root string) ([]transcript.Session, error) {
	var out []transcript.Session
	list, err := fs.ReadDir(files, root)
	if err != nil {
		return nil, err
	}
	out = projectSessions(files, root, list)
	for _, d := range list {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if len(out) > maxFiles {
			return out, fmt.Errorf("more than %d sessions", maxFiles)
		}
		if !d.IsDir() {
			continue
		}
		folder := path.Join(root, d.Name())
		inside, err := fs.ReadDir(files, folder)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
		case err != nil:
			out = append(out, transcript.Session{ID: folder, Name: folder,
				Bad: "the folder cannot be read: " + explainError(err)})
		default:
			out = append(out, projectSessions(files, folder, inside)...)
		}
	}
	return out, nil
}

// explainError returns why something failed, without its path.
func explainError(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// projectSessions returns the sessions of one project's folder. A sub-agent's file that lies beside
// them is part of its session, if that is there.
func projectSessions(files fs.FS, folder string, list []fs.DirEntry) (out []transcript.Session) {
	there := map[string]bool{}
	var agents []string
	for _, d := range list {
		switch name := d.Name(); {
		case d.IsDir() || path.Ext(name) != ".jsonl" || name == typed:
		case agentFile(name):
			agents = append(agents, name)
		default:
			there[strings.TrimSuffix(name, ".jsonl")] = true
		}
	}
	for _, d := range list {
		name := path.Join(folder, d.Name())
		if d.IsDir() || path.Ext(name) != ".jsonl" || d.Name() == typed {
			continue
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it was removed meanwhile, or leads elsewhere
		}
		var first headProbe
		if !own().MatchString(d.Name()) {
			var ok bool
			if first, ok = probeFile(files, name); !ok || agentFile(d.Name()) && there[first.SessionID] {
				continue
			}
		} else if info.Size() <= short && isSilent(files, name) {
			continue
		}
		out = append(out, surveySession(files, name, info, first))
	}
	if len(agents) > 0 {
		addAgentFiles(files, folder, agents, out)
	}
	return out
}

// isSilent reports whether nobody says anything in a short file: the tool leaves many that hold a
// title or a snapshot only.
func isSilent(files fs.FS, name string) bool {
	b, err := fs.ReadFile(files, name)
	return err == nil && len(b) <= short && !spoken().Match(b)
}

// spoken finds what a message has.
var spoken = lazyregexp.New(`"(user|assistant|queued_command|scrollback)"`)

// addAgentFiles adds to sessions the files of their sub-agents that lie beside them.
func addAgentFiles(files fs.FS, folder string, agents []string, sessions []transcript.Session) {
	of := map[string][]string{}
	for _, name := range agents {
		if first, ok := probeFile(files, path.Join(folder, name)); ok {
			of[first.SessionID] = append(of[first.SessionID], name)
		}
	}
	for i, s := range sessions {
		if agentFile(path.Base(s.Name)) || len(of[s.ID]) == 0 {
			continue
		}
		st := sessionStamp{Session: s, sum: sha256.New()}
		fmt.Fprint(st.sum, s.Stamp)
		for _, name := range of[s.ID] {
			if info, err := fs.Stat(files, path.Join(folder, name)); err == nil {
				st.addFile(name, info, true)
			}
		}
		sessions[i] = st.toSession()
	}
}
