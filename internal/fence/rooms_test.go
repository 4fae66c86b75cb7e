package fence

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed are the rooms that a list names: named those at the beginning of its lines, each by its path, and words
// every word, as rooms in brackets are named where they are described.
type listed struct{ named, words []string }

var roomWord = regexp.MustCompile(`[A-Za-z0-9]+`)

// readRooms reads the list of ARCHITECTURE.md. A line that begins far to the right goes on with a description.
func readRooms(text string) (out listed) {
	var above []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		names := strings.TrimLeft(line, " ")
		indent := len(line) - len(names)
		out.words = append(out.words, roomWord.FindAllString(line, -1)...)
		if indent > 8 || names == "" {
			continue
		}
		names, _, _ = strings.Cut(names, "  ")
		above = above[:indent/2]
		if of := strings.Fields(strings.ReplaceAll(names, ",", " ")); len(of) > 0 {
			for _, name := range of {
				out.named = append(out.named, path.Join(append(slices.Clone(above), name)...))
			}
			above = append(above, of[0])
		}
	}
	return out
}

// The list of rooms in ARCHITECTURE.md has every room, and no other.
func TestRoomsAreListed(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n```\n")
	block, _, _ = strings.Cut(block, "\n```\n")
	list := readRooms(block)
	if len(list.named) < 40 {
		t.Fatalf("only %d rooms are named", len(list.named))
	}
	for _, room := range list.named {
		if info, err := os.Stat(filepath.Join("../..", filepath.FromSlash(room))); err != nil || !info.IsDir() {
			t.Errorf("docs/ARCHITECTURE.md lists %s, which is no folder", room)
		}
	}
	seen := map[string]bool{}
	for _, s := range sources(t) { // the table of importers lists its rooms itself
		if s.room == "transcript/all" && !s.test {
			for _, path := range s.imports() {
				_, room, _ := strings.Cut(path, "scrollback-ai/scrollback/")
				seen[room] = room != "transcript"
			}
		}
	}
	for _, s := range sources(t) {
		if seen[s.room] || top(s.room) == "bench" || top(s.room) == "tools" {
			continue
		}
		seen[s.room] = true
		if name := path.Base(s.room); s.room != "." && !slices.Contains(list.words, name) {
			t.Errorf("docs/ARCHITECTURE.md does not list %s", s.room)
		}
	}
}
