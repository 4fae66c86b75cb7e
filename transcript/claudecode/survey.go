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
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// agentFile reports whether a file is a sub-agent's.
func agentFile(name string) bool {
	return strings.HasPrefix(name, "agent-") && path.Ext(name) == ".jsonl"
}

// stamp is a session while its files are counted.
type stamp struct {
	transcript.Session
	sum hash.Hash
}

// add counts a file; talk is one with messages, not an output of a tool.
func (s *stamp) add(name string, info fs.FileInfo, talk bool) {
	fmt.Fprintf(s.sum, "%s\x00%d\x00%d\n", name, info.Size(), info.ModTime().UnixNano())
	s.Bytes += info.Size()
	if talk {
		s.Changed = max(s.Changed, info.ModTime().UnixMilli())
	}
}

func (s *stamp) done() transcript.Session {
	s.Stamp = hex.EncodeToString(s.sum.Sum(nil)[:12])
	return s.Session
}

// survey is a session by what its folder says of it.
func survey(files fs.FS, name string, info fs.FileInfo, first probe) transcript.Session {
	s := stamp{Session: transcript.Session{ID: identity(name, first), Name: name}, sum: sha256.New()}
	s.add(path.Base(name), info, true)
	beside := strings.TrimSuffix(name, ".jsonl")
	for _, found := range agentsBelow(files, path.Join(beside, "subagents")) {
		if info, err := fs.Stat(files, found); err == nil {
			s.add(found[len(beside):], info, true)
		}
	}
	outputs, err := fs.ReadDir(files, path.Join(beside, "tool-results"))
	if err == nil {
		for _, d := range outputs[:min(len(outputs), maxBeside)] {
			if info, err := d.Info(); err == nil {
				s.add(d.Name(), info, false)
			}
		}
	}
	return s.done()
}

// identity is what the tool calls the session of a file: by its name, or else as its
// first lines say.
func identity(name string, first probe) string {
	base := path.Base(name)
	stem := strings.ToValidUTF8(strings.TrimSuffix(base, ".jsonl"), "\uFFFD")
	switch {
	case own.MatchString(base):
	case agentFile(base) && first.SessionID != "":
		return agentSource(first.SessionID, base)
	case first.SessionID != "":
		return first.SessionID
	}
	return cmp.Or(stem, "session")
}

// agentSource is what a sub-agent's conversation is called: its id is unique in a session.
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

// probe is what the first lines of a file say.
type probe struct{ SessionID string }

// peek reads the beginning of a file, and reports whether it is a session.
func peek(files fs.FS, name string) (probe, bool) {
	f, err := files.Open(name)
	if err != nil {
		return probe{}, false
	}
	defer func() { _ = f.Close() }() // it was only read
	// What could be read before a failure says it too; reading the session fails again, and says why.
	head, _ := io.ReadAll(io.LimitReader(f, peeked))
	if !sniff(head) {
		return probe{}, false
	}
	for line := range strings.Lines(string(head)) {
		var l probe
		if json.Unmarshal([]byte(line), &l) == nil && l.SessionID != "" {
			return l, true
		}
	}
	if m := sessionID.FindSubmatch(head); m != nil {
		return probe{string(m[1])}, true
	}
	return probe{}, true
}

// sessionID finds the id in a line that is too long to be read whole.
var sessionID = regexp.MustCompile(`"sessionId":"([0-9a-f-]{36})"`)
