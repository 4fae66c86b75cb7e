package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/window"
)

// forgetful is a summary that mentions nothing of what was said.
const forgetful = "## Goal\n- Go on with the work.\n## Constraints\n- none\n## Knowledge\n- Several files were read.\n" +
	"## Artifacts\n- none\n## Files\n- none\n## Recent actions\n- Questions were answered.\n## Tasks\n- none"

// expected is what must be, or must not be, in the request of a turn: as a sentence that stands.
type expected struct {
	must bool
	text string
}

// readExpected reads what is expected of the turns of a talk.
func readExpected(t *testing.T, path string) map[int][]expected {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]expected{}
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		turn, err := strconv.Atoi(f[0])
		if err != nil {
			t.Fatal(err)
		}
		out[turn] = append(out[turn], expected{f[1] == "must", f[2]})
	}
	return out
}

// Each talk in testdata/talks is as long as people's are: what a model gets at six points of it is
// kept beside it as pictures. What stands by then must be there word for word, whatever the summaries
// forget; what was said for once, is done or taken back must not be carried as if it stood. The
// figures are bounds that were reached: they may only become better.
func TestLongTalks(t *testing.T) {
	testlength.SkipShort(t)
	for name, most := range map[string]struct{ missing, misleading int }{"agent": {5, 9}, "bilingual": {10, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "talks", name+".talk")
			k := readTalk(t, path)
			k.reports = []string{forgetful}
			k.expects = readExpected(t, strings.TrimSuffix(path, ".talk")+".expect.tsv")
			h, _ := k.hold(t)
			if len(h.points) != 6 {
				t.Fatalf("%d points", len(h.points))
			}
			missing := 0
			misleading := 0
			var got strings.Builder
			for _, p := range h.points {
				fmt.Fprintf(&got, "════ turn %d\n%s\n", p.turn, p.picture)
				for _, e := range k.expects[p.turn] {
					switch {
					case e.must && !strings.Contains(p.sent, e.text):
						missing++
						t.Logf("turn %d: not in the request: %s", p.turn, e.text)
					case !e.must && slices.ContainsFunc(p.standing, func(s string) bool { return strings.Contains(s, e.text) }):
						misleading++
						t.Logf("turn %d: carried as if it stood: %s", p.turn, e.text)
					}
				}
			}
			if missing > most.missing || misleading > most.misleading {
				t.Errorf("%d sentences that stand are missing (at most %d), and %d mislead (at most %d)", missing, most.missing,
					misleading, most.misleading)
			}
			kept := strings.TrimSuffix(path, ".talk") + ".txt"
			if *update {
				if err := os.WriteFile(kept, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(kept)
			if err != nil || got.String() != string(want) {
				t.Errorf("%s shows other windows now (%v); see them with -update", kept, err)
			}
		})
	}
}

// point is what a model got at a turn: as a picture, as text, and the lines in it that are said to stand.
type point struct {
	turn          int
	picture, sent string
	standing      []string
}

// notePoint notes what the model got, if something is expected of it.
func (h *held) notePoint(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) {
	if h.turns++; len(h.expects[h.turns]) == 0 {
		return
	}
	p := point{turn: h.turns, picture: h.draw(t, r, id)}
	for _, it := range h.last.Items {
		for _, part := range it.Parts {
			p.sent += spelled(part) + "\n"
		}
		if it.Kind == scrollback.KindFolded {
			p.standing = standingLines(it.Parts.Text())
		}
	}
	h.points = append(h.points, p)
}

// standingLines lists the lines of a block that are said to stand: to-dos, traits and instructions.
func standingLines(block string) (out []string) {
	stands := false
	for line := range strings.SplitSeq(block, "\n") {
		l, ok := window.ParseLine(line)
		switch {
		case ok && stands:
			out = append(out, l.Text)
		case !ok:
			stands = slices.ContainsFunc(window.ListWords(), func(w *window.Words) bool {
				return line == w.Todos || line == w.Traits || line == w.Instructions
			})
		}
	}
	return out
}

// makeOutput makes lines as tools write them.
func makeOutput(t *testing.T, what string) (out []string) {
	t.Helper()
	f := strings.Fields(what)
	lines, err := strconv.Atoi(f[1])
	seed, errSeed := strconv.ParseUint(f[2], 10, 64)
	if err != nil || errSeed != nil {
		t.Fatalf("make %s: %v, %v", what, err, errSeed)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	rooms := []string{"fare", "ledger", "psp", "store", "rail", "refund", "book", "webhook"}
	for i := range lines {
		room := rooms[rng.IntN(len(rooms))]
		n := rng.IntN(900) + 10
		var line string
		switch f[0] {
		case "gotest":
			line = fmt.Sprintf("=== RUN   Test%s%s_%d\n--- PASS: Test%[1]s%s_%d (0.%02ds)", strings.ToUpper(room[:1]), room[1:], n,
				n%100)
			if i == lines-1 {
				line = fmt.Sprintf("ok  \tfarepost/internal/%s\t%d.%03ds", room, n%9, n)
			}
		case "gitlog":
			line = fmt.Sprintf("%07x %s: change %d", rng.IntN(1<<28), room, n)
		case "grep":
			line = fmt.Sprintf("internal/%s/%s.go:%d:\treturn round(%d)", room, room, n, rng.IntN(99))
		default:
			line = fmt.Sprintf("\tif c := %s.Find(%d); c != nil { // %d", room, n, i)
		}
		out = append(out, strings.Split(line, "\n")...)
	}
	return out
}
