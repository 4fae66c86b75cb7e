package claudecode

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// agentFile reports whether a file is a sub-agent's.
func agentFile(name string) bool {
	return strings.HasPrefix(name, "agent-") && path.Ext(name) == ".jsonl"
}

// sessionStamp is a session while its files are counted.
type sessionStamp struct {
	transcript.Session
	sum hash.Hash
}

// addFile counts a file; talk is one with messages, not an output of a tool.
func (s *sessionStamp) addFile(name string, info fs.FileInfo, talk bool) {
	fmt.Fprintf(s.sum, "%s\x00%d\x00%d\n", name, info.Size(), info.ModTime().UnixNano())
	s.Bytes += info.Size()
	if talk {
		s.Changed = max(s.Changed, info.ModTime().UnixMilli())
	}
}

func (s *sessionStamp) toSession() transcript.Session {
	s.Stamp = hex.EncodeToString(s.sum.Sum(nil)[:12])
	return s.Session
}

// surveySession returns a session by what its folder says of it.
func surveySession(files fs.FS, name string, info fs.FileInfo, first headProbe) transcript.Session {
	s := sessionStamp{Session: transcript.Session{ID: sessionIdentity(name, first), Name: name}, sum: sha256.New()}
	s.addFile(path.Base(name), info, true)
	beside := strings.TrimSuffix(name, ".jsonl")
	for _, found := range agentsBelow(files, path.Join(beside, "subagents")) {
		if info, err := fs.Stat(files, found); err == nil {
			s.addFile(found[len(beside):], info, true)
		}
	}
	outputs, err := fs.ReadDir(files, path.Join(beside, "tool-results"))
	if err == nil {
		for _, d := range outputs[:min(len(outputs), maxBeside)] {
			if info, err := d.Info(); err == nil {
				s.addFile(d.Name(), info, false)
			}
		}
	}
	return s.toSession()
}

// sessionIdentity returns what the tool calls the session of a file: by its name, or else as its
// first lines say.
func sessionIdentity(name string, first headProbe) string {
	base := path.Base(name)
	stem := strings.ToValidUTF8(strings.TrimSuffix(base, ".jsonl"), "\uFFFD")
	switch {
	case own().MatchString(base):
	case agentFile(base) && first.SessionID != "":
		return agentSource(first.SessionID, base)
	case first.SessionID != "":
		return first.SessionID
	}
	return cmp.Or(stem, "session")
}

// agentSource returns what a sub-agent's conversation is called: its id is unique in a session.
func agentSource(session, file string) string {
	return session + "/" + strings.ToValidUTF8(strings.TrimSuffix(path.Base(file), ".jsonl"), "\uFFFD")
}

// agentsBelow lists the files of sub-agents and what is said about them.
func agentsBelow(files fs.FS, folder string) (out []string) {
	depth := strings.Count(folder, "/")
	_ = fs.WalkDir(files, folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d == nil:
			return fs.SkipAll // there are none
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && strings.Count(name, "/")-depth > maxDepth:
			return fs.SkipDir
		case len(out) == maxBeside:
			return fs.SkipAll
		case d.Type().IsRegular() && strings.HasPrefix(d.Name(), "agent-") &&
			(strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".meta.json")):
			out = append(out, name)
		}
		return nil
	})
	return out
}

// headProbe is what the first lines of a file say.
type headProbe struct{ SessionID string }

// probeFile reads the beginning of a file, and reports whether it is a session.
func probeFile(files fs.FS, name string) (headProbe, bool) {
	f, err := files.Open(name)
	if err != nil {
		return headProbe{}, false
	}
	defer func() { _ = f.Close() }() // it was only read
	// What could be read before a failure says it too; reading the session fails again, and says why.
	head, _ := io.ReadAll(io.LimitReader(f, peeked))
	if !isSession(head) {
		return headProbe{}, false
	}
	for line := range strings.Lines(string(head)) {
		var l headProbe
		if json.Unmarshal([]byte(line), &l) == nil && l.SessionID != "" {
			return l, true
		}
	}
	if m := sessionID().FindSubmatch(head); m != nil {
		return headProbe{string(m[1])}, true
	}
	return headProbe{}, true
}

// sessionID finds the id in a line that is too long to be read whole.
var sessionID = lazyregexp.New(`"sessionId":"([0-9a-f-]{36})"`)
