package collect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// listIDs returns the ids of all that is here: of each conversation with its branches that have messages, and of each
// message with its turn.
func (l *library) listIDs() (branches, messages []string) {
	l.Helper()
	list, _, err := l.sb.List(l.Context(), scrollback.ListQuery{})
	if err != nil {
		l.Fatal(err)
	}
	seen := map[scrollback.MessageID]bool{}
	for _, c := range list {
		all, err := l.sb.Branches().List(l.Context(), c.ID)
		if err != nil {
			l.Fatal(err)
		}
		for _, b := range all {
			if b.Messages == 0 {
				continue
			}
			branches = append(branches, fmt.Sprintf("%s %s from %s #%d to #%d", c.ID, b.ID, b.Parent, b.AtSeq, b.HeadSeq))
			after := int64(0)
			page, err := l.sb.Turns().Page(l.Context(), c.ID,
				scrollback.PageQuery{Branch: b.ID, After: &after, Limit: scrollback.ListMax})
			if err != nil {
				l.Fatal(err)
			}
			for _, m := range page.Messages {
				if !seen[m.ID] {
					messages = append(messages, fmt.Sprintf("%s %s %s %q", c.ID, m.ID, m.TurnID, m.Parts.Text()))
				}
				seen[m.ID] = true
			}
		}
	}
	slices.Sort(branches)
	slices.Sort(messages)
	return branches, messages
}

// bringInto brings copies one after the other into a project, by one of several ways.
func (l *library) bringInto(project, way string, copies ...string) {
	l.Helper()
	for _, name := range copies {
		switch way {
		case "upload":
			b, err := os.ReadFile(filepath.Join(l.copies[name], filepath.FromSlash(l.file)))
			if err != nil {
				l.Fatal(err)
			}
			q := transfer.ImportRequest{Name: filepath.Base(l.file), Project: project}
			if _, err := l.sb.Transfer.Import(l.Context(), l.sb.View, bytes.NewReader(b), q); err != nil {
				l.Fatalf("%s: %v", name, err)
			}
		case "watch":
			l.sweep(collect.Options{Tools: []transcript.Tool{homed{l.tool, []string{l.copies[name]}}},
				Import: transfer.ImportRequest{Project: project}})
		default:
			l.sweep(collect.Options{Tools: []transcript.Tool{l.tool}, Path: l.copies[name],
				Import: transfer.ImportRequest{Project: project}})
		}
	}
}

// isCalledByFolder reports whether a tool calls its talks by the folders that they are in, which a file
// that is uploaded does not say.
func isCalledByFolder(k talkFormat) bool {
	switch k.format {
	case "antigravity", "cowork", "kimi-cli", "openclaw", "sillytavern":
		return true
	}
	return strings.HasPrefix(k.file, "tasks/")
}

// The same talk has the same ids of its conversation, branches, messages and turns, whether it came whole
// or as it grew, by whichever way, into whichever project; and those of messages whatever came first.
func TestIDsFollowFromTheSource(t *testing.T) {
	t.Parallel()
	whole := line(4, "n", 8, 10)
	ours := line(4, "a", 4, 20)
	theirs := line(4, "b", 2, 30)
	seen := map[string]bool{}
	for _, k := range keepers() {
		if seen[k.format] && testlength.Choose(true, false, false) {
			continue
		}
		seen[k.format] = true
		t.Run(k.format+" "+strings.ReplaceAll(k.file, "/", " "), func(t *testing.T) {
			t.Parallel()
			ids := func(project, way string, copies map[string][]turn, order ...string) (branches, messages []string) {
				t.Helper()
				l := newLibrary(t, k)
				for _, name := range order {
					if l.copies[name] == "" {
						l.copy(name, copies[name])
					}
				}
				l.bringInto(project, way, order...)
				return l.listIDs()
			}
			grows := map[string][]turn{"1": whole[:2], "2": whole[:4], "3": whole[:8], "4": whole}
			first := "import"
			if k.byFolder { // the folder is a part of what tells its talks apart
				first = "upload"
			}
			branches, messages := ids("", first, grows, "4")
			if len(messages) != len(whole) {
				t.Fatalf("whole: %q", messages)
			}
			for _, c := range []struct {
				project, way string
				order        []string
			}{
				{"p", "import", []string{"1", "2", "3", "4"}}, {"q", "watch", []string{"2", "4"}},
				{"", "import", []string{"3", "1", "4", "2"}}, {"p", "upload", []string{"4"}},
				{"r", "upload", []string{"1", "3", "4"}},
			} {
				switch {
				case k.database != nil && c.way == "upload": // it is read where it is
					continue
				case c.way != "upload" && k.byFolder, c.way == "upload" && isCalledByFolder(k):
					continue
				}
				if b, m := ids(c.project, c.way, grows, c.order...); !slices.Equal(b, branches) || !slices.Equal(m, messages) {
					t.Errorf("%+v:\n%q\n%q, not\n%q\n%q", c, b, m, branches, messages)
				}
			}
			if k.byFolder {
				return
			}
			forks := map[string][]turn{"a": ours, "b": theirs}
			_, there := ids("", "import", forks, "a", "b")
			_, back := ids("p", "watch", forks, "b", "a")
			if !slices.Equal(there, back) || len(there) != 4+4+2 {
				t.Errorf("two that went on:\n%q, the other way round\n%q", there, back)
			}
		})
	}
}
