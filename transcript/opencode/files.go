package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// fileSessions lists the sessions of older files and of exports.
func (f foundFiles) fileSessions(ctx context.Context, p transcript.Place,
	seen map[string]bool) iter.Seq[transcript.Session] {
	return func(yield func(transcript.Session) bool) {
		all := olderSessions(ctx, p.FS, f.storage)
		var ids []string
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		at := map[string]*olderSession{}
		for _, s := range all {
			at[s.ID] = s
		}
		for _, family := range tree.GroupFamilies(ids, func(id string) string { return at[id].ParentID }) {
			s := at[family[0]].session
			if seen[s.ID] {
				continue
			}
			for _, id := range family[1:] {
				s.Bytes += at[id].session.Bytes
				s.Changed = max(s.Changed, at[id].session.Changed)
				s.Stamp += " " + at[id].session.Stamp
			}
			if !yield(s) {
				return
			}
		}
		for _, name := range f.exports {
			s := transcript.Session{ID: path.Base(name), Name: name}
			info, err := fs.Stat(p.FS, name)
			if err != nil {
				s.Bad = err.Error()
			} else {
				s.Bytes = info.Size()
				s.Changed = max(info.ModTime().UnixMilli(), 0)
				s.Stamp = fmt.Sprintf("%d,%d", s.Bytes, info.ModTime().UnixNano())
			}
			if id := exportID().FindSubmatch(readHead(p.FS, name, 512)); id != nil {
				s.ID = string(id[1])
			}
			if !yield(s) {
				return
			}
		}
	}
}

// olderSession is a session in files.
type olderSession struct {
	sessionInfo
	session transcript.Session
}

// olderSessions lists the sessions below a storage folder, by when they were begun.
func olderSessions(ctx context.Context, files fs.FS, storage string) (out []*olderSession) {
	if storage == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, project := range listFolder(files, path.Join(storage, "session")) {
		for _, e := range listFolder(files, path.Join(storage, "session", project.Name())) {
			name := path.Join(storage, "session", project.Name(), e.Name())
			s := &olderSession{}
			if path.Ext(name) != ".json" || ctx.Err() != nil {
				continue
			}
			err := readJSON(files, name, &s.sessionInfo)
			if errors.Is(err, errUnread) {
				s.ID = strings.TrimSuffix(e.Name(), ".json")
				s.session = transcript.Session{ID: s.ID, Name: name, Bad: err.Error()}
				seen[s.ID] = true
				out = append(out, s)
				continue
			}
			if err != nil || s.ID != strings.TrimSuffix(e.Name(), ".json") || seen[s.ID] {
				continue // without a head nothing says what its messages are
			}
			seen[s.ID] = true
			s.session = transcript.Session{ID: s.ID, Name: name, Changed: int64(s.Time.Updated)}
			s.readStamp(files, storage)
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *olderSession) int {
		return cmp.Or(cmp.Compare(a.Time.Created, b.Time.Created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// readStamp looks at the files of a session: those of all messages, and of the newest's parts.
func (s *olderSession) readStamp(files fs.FS, storage string) {
	messages := listFolder(files, path.Join(storage, "message", s.ID))
	n := len(messages)
	newest := ""
	look := func(all []fs.DirEntry) {
		for _, e := range all {
			info, err := e.Info()
			if err != nil {
				continue
			}
			s.session.Bytes += info.Size()
			s.session.Changed = max(s.session.Changed, info.ModTime().UnixMilli())
			newest = max(newest, strings.TrimSuffix(e.Name(), ".json"))
		}
	}
	look(messages)
	parts := listFolder(files, path.Join(storage, "part", newest))
	look(parts)
	s.session.Stamp = fmt.Sprintf("%d,%d,%d,%d", n, len(parts), s.session.Bytes, s.session.Changed)
}

// listFolder returns what a folder has, or nothing.
func listFolder(files fs.FS, name string) []fs.DirEntry {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil
	}
	return entries[:min(len(entries), maxFound)]
}

var errUnread = errors.New("cannot be read")

// readJSON reads a file of the tool's.
func readJSON(files fs.FS, name string, into any) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, transcript.MaxLine+1))
	if err != nil {
		return fmt.Errorf("%s %w: %w", path.Base(name), errUnread, err)
	}
	if len(raw) > transcript.MaxLine {
		return fmt.Errorf("%s is longer than %d bytes", path.Base(name), transcript.MaxLine)
	}
	return decodeJSON(path.Base(name), raw, into)
}

// readFiles reads a session of older files with its sub-agents.
func readFiles(ctx context.Context, files fs.FS, name string) (out []*storedSession, err error) {
	storage := path.Dir(path.Dir(path.Dir(name)))
	all := olderSessions(ctx, files, storage)
	var ids []string
	at := map[string]*olderSession{}
	for _, s := range all {
		ids = append(ids, s.ID)
		at[s.ID] = s
	}
	for _, family := range tree.GroupFamilies(ids, func(id string) string { return at[id].ParentID }) {
		if at[family[0]].session.Name != name {
			continue
		}
		for _, id := range family {
			s := &storedSession{sessionInfo: at[id].sessionInfo}
			s.loadMessages(files, storage)
			s.sortMessages()
			out = append(out, s)
		}
	}
	return out, ctx.Err()
}

// loadMessages reads the messages of a session and their parts.
func (s *storedSession) loadMessages(files fs.FS, storage string) {
	for _, e := range listFolder(files, path.Join(storage, "message", s.ID)) {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		raw, err := rawFile(files, path.Join(storage, "message", s.ID, e.Name()))
		if err != nil {
			s.noteBad(err)
			continue
		}
		m := s.addMessage(id, raw)
		if m == nil {
			continue
		}
		for _, e := range listFolder(files, path.Join(storage, "part", id)) {
			pid, ok := strings.CutSuffix(e.Name(), ".json")
			raw, err := rawFile(files, path.Join(storage, "part", id, e.Name()))
			if !ok || err != nil {
				s.noteBad(fmt.Errorf("part %s: %w", e.Name(), cmp.Or(err, errors.New("not JSON"))))
				continue
			}
			if p, ok := s.readPart(pid, raw); ok {
				m.parts = append(m.parts, p)
			}
		}
	}
}

func rawFile(files fs.FS, name string) ([]byte, error) {
	var raw rawJSON
	err := readJSON(files, name, &raw)
	return raw, err
}
