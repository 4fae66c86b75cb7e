package opencode

import (
	"io/fs"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// foundFiles is what a place has.
type foundFiles struct {
	databases []string
	storage   string // where the folders session, message and part are; "" if nowhere
	exports   []string
}

// maxFound bounds the files of a folder that are looked at.
const maxFound = 100_000

// findFiles looks at a place: a file, the tool's folder, its storage, or a folder of exports.
func (o *offspring) findFiles(p transcript.Place) (f foundFiles, err error) {
	if p.Name != "." && p.Name != "" {
		info, err := fs.Stat(p.FS, p.Name)
		switch {
		case err != nil:
			return f, err
		case !info.IsDir() && o.isDatabase(p, p.Name):
			f.databases = []string{p.Name}
			return f, nil
		case !info.IsDir():
			if isExport(p.FS, p.Name) {
				f.exports = []string{p.Name}
			}
			return f, nil
		}
	}
	at := path.Clean(p.Name)
	entries, err := fs.ReadDir(p.FS, at)
	if err != nil {
		return f, err
	}
	for _, e := range entries[:min(len(entries), maxFound)] {
		name := path.Join(at, e.Name())
		switch {
		case e.IsDir() && e.Name() == "storage" && isFolder(p.FS, path.Join(name, "session")):
			f.storage = name
		case e.IsDir() && e.Name() == "session" && isFolder(p.FS, path.Join(at, "message")):
			f.storage = at
		case e.IsDir():
		case o.database().MatchString(e.Name()) && o.isDatabase(p, name):
			f.databases = append(f.databases, name)
		case path.Ext(e.Name()) == ".json" && isExport(p.FS, name):
			f.exports = append(f.exports, name)
		}
	}
	return f, nil
}

func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}

// isDatabase reports whether a file begins as a database does, or one with the tool's name
// for it is empty or damaged, which reading it will say.
func (o *offspring) isDatabase(p transcript.Place, name string) bool {
	if p.Path == "" {
		return false
	}
	return o.database().MatchString(path.Base(name)) ||
		strings.HasPrefix(string(readHead(p.FS, name, 16)), "SQLite format 3")
}

func isExport(files fs.FS, name string) bool { return exported().Match(readHead(files, name, 256)) }

// readHead returns how a file begins, or nothing.
func readHead(files fs.FS, name string, n int) []byte {
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, n)
	have := 0
	for have < n {
		k, err := f.Read(head[have:])
		if have += k; err != nil {
			break
		}
	}
	return head[:have]
}

// sideName is how the tool names the file with a whole output.
var sideName = lazyregexp.New(`^tool_[A-Za-z0-9]{1,80}$`)

// fullText returns the whole of an output, as long as the tool keeps it, from the folder beside
// the session's file. Only the last element of the path that the tool noted counts.
func fullText(files fs.FS, session, noted string) (string, bool) {
	base := path.Base(strings.ReplaceAll(noted, `\`, "/"))
	if !sideName().MatchString(base) {
		return "", false
	}
	folder := path.Dir(session)
	if at := strings.Index("/"+session, "/storage/session/"); at >= 0 {
		folder = path.Clean(session[:max(at-1, 0)])
	}
	name := path.Join(folder, "tool-output", base)
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > transcript.MaxLine {
		return "", false
	}
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), true
}
