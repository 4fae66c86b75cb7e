package recall_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
)

// inTurn is the room of a look-up in a window of 8,000 tokens.
var inTurn = recall.Room{Bytes: recall.RoomMax.Bytes, Tokens: 900}

type listPage struct {
	Year int
	Refs []string
	Next string
}

// listed calls context_list.
func listed(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, args string,
	room recall.Room) (listPage, string) {
	t.Helper()
	var page listPage
	text, err := r.RunTool(t.Context(), id, "context_list", json.RawMessage(args), room)
	if err == nil {
		err = json.Unmarshal([]byte(text), &page)
	}
	if err != nil || len(text) > room.Bytes || int64(token.Count(text)) > room.Tokens {
		t.Fatalf("%s: %d bytes, %d tokens, %v in %s", args, len(text), token.Count(text), err, text)
	}
	return page, text
}

// refOf returns the ref at the beginning of a line of a list.
func refOf(line string) scrollback.Ref {
	ref, _, _ := strings.Cut(line, " ")
	return scrollback.Ref(ref)
}

// wholeRefs returns the refs of a list's lines as they are stored.
func wholeRefs(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, lines []string) (out []scrollback.Ref) {
	t.Helper()
	for _, l := range lines {
		e, err := r.Store.Refs.Get(t.Context(), id, refOf(l))
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		out = append(out, e.Ref)
	}
	return out
}

// A list that was cut to fit its room goes on where it was cut: by the cursors its
// pages join to all of it, in any room that a ref fits.
func TestListPagesJoin(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{})
	id := r.NewConversation()
	for n := range 45 {
		if _, err := r.Upload(t.Context(), id, strings.NewReader(fmt.Sprint("file ", n)),
			fmt.Sprintf("%d.txt", n)); err != nil {
			t.Fatal(err)
		}
		r.Clock.Add(int64(n % 2)) // some at the same moment
	}
	var want []scrollback.Ref
	all, next, err := r.Refs(t.Context(), id, scrollback.RefQuery{Limit: scrollback.ListMax})
	if err != nil || next != "" || len(all) != 45 {
		t.Fatalf("%d refs, %q, %v", len(all), next, err)
	}
	for _, e := range all {
		want = append(want, e.Ref)
	}
	for _, room := range []recall.Room{{Bytes: 400, Tokens: 1 << 20}, {Bytes: 1 << 20, Tokens: 120},
		{Bytes: 3000, Tokens: 2000},
		inTurn, recall.RoomMax} {
		for _, limit := range []int{1, 7, 20, 45} {
			var joined []string
			page := listPage{}
			for range 46 {
				page, _ = listed(t, r, id, fmt.Sprintf(`{"cursor":%q,"limit":%d}`, page.Next, limit), room)
				if len(page.Refs) == 0 || len(page.Refs) > limit {
					t.Fatalf("%+v by %d: %d refs", room, limit, len(page.Refs))
				}
				if joined = append(joined, page.Refs...); page.Next == "" {
					break
				}
			}
			if got := wholeRefs(t, r, id, joined); !slices.Equal(got, want) {
				t.Errorf("%+v by %d: %d refs join to %q", room, limit, len(joined), joined)
			}
		}
	}
	for _, bad := range []string{`{"cursor":"nonsense"}`, `{"cursor":"older nonsense"}`, `{"limit":201}`, `{"limit":-1}`,
		`{"kind":"image"}`} {
		_, err := r.RunTool(t.Context(), id, "context_list", json.RawMessage(bad), inTurn)
		enginetest.WantCode(t, err, scrollback.Invalid, "")
	}
}

// talk says many different things, and folds them a few at a time.
func talk(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, folds int) {
	t.Helper()
	words := strings.Fields("anchor beacon crane dock engine ferry gangway harbour island jetty keel lamp mast net " +
		"oar pier quay rope sail tide")
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range folds {
		var file strings.Builder
		for i := range 6 {
			fmt.Fprintf(&file,
				`{"role":"user","content":"The %[1]s of sounding %[2]d is %[3]d metres from the %[4]s. 码头的钥匙 %[5]d."}`+"\n"+
					`{"role":"assistant","content":"Noted: %s."}`+"\n", words[rnd.IntN(20)], n*10+i, rnd.IntN(999),
				words[rnd.IntN(20)], rnd.IntN(999),
				strings.Repeat(words[rnd.IntN(20)]+" ", 80))
		}
		r.Clock.Add(3 * 3_600_000)
		if _, err := r.Import(t.Context(), strings.NewReader(file.String()), transfer.ImportRequest{Into: id}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Compact(t.Context(), id, engine.CompactRequest{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// In a window of 8,000 tokens a list holds forty entries: first what the window shows,
// then artifacts, then the leaves behind what was rolled up, each with a hint of its own,
// and no roll-up that gave way to another.
func TestListIsForAModel(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Call(enginetest.Call("l1", "context_list", `{}`)),
		modeltest.Say("fine"))
	id := r.NewConversation()
	talk(t, r, id, 45)
	for n := range 4 {
		r.Clock.Add(1)
		text := strings.NewReader(strings.Repeat("line\n", 400+n*200))
		if _, err := r.Upload(t.Context(), id, text, fmt.Sprintf("sounding %d.txt", n)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := r.Store.ReadHead(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var want []scrollback.Ref
	for _, s := range slices.Backward(c.Branch.View.Segments) {
		want = append(want, scrollback.HistoryRef(s.ID))
	}
	shown := slices.Clone(want)
	level := map[scrollback.Ref]int{}
	for _, kind := range []string{scrollback.RefArtifact, scrollback.RefHistory} {
		for e, err := range r.Store.Refs.WalkOwn(t.Context(), id, kind) {
			if err != nil {
				t.Fatal(err)
			}
			if kind == scrollback.RefHistory {
				_, name, _ := e.Ref.Split()
				segs, err := r.Store.ReadSegments(t.Context(), []scrollback.SegmentID{scrollback.SegmentID(name)})
				if err != nil {
					t.Fatal(err)
				}
				if level[e.Ref] = segs[0].Level; segs[0].Level > 0 || slices.Contains(shown, e.Ref) {
					continue
				}
			}
			want = append(want, e.Ref)
		}
	}
	if rolled := len(level) + 4 - len(want); rolled < 2 || len(want) < 45 {
		t.Fatalf("%d refs to list and %d roll-ups left out prove nothing", len(want), rolled)
	}

	page, text := listed(t, r, id, `{}`, inTurn)
	n := token.Count(text)
	t.Logf("%d entries in %d tokens: %.1f in 1,000\n%s", len(page.Refs), n, float64(len(page.Refs))*1000/float64(n),
		strings.Join(page.Refs, "\n"))
	if len(page.Refs) < 40 || page.Next == "" || page.Year != 2026 {
		t.Errorf("the first page has %d entries, next %q, year %d", len(page.Refs), page.Next, page.Year)
	}
	hints := map[string]bool{}
	for _, l := range page.Refs {
		_, hint, ok := strings.Cut(l, ": ")
		if n := token.Count(l); !ok || hints[hint] || n > 60 {
			t.Errorf("%q has %d tokens, and a hint that is missing or not its own", l, n)
		}
		hints[hint] = true
	}
	rest, _ := listed(t, r, id, fmt.Sprintf(`{"cursor":%q}`, page.Next), inTurn)
	if got := wholeRefs(t, r, id, append(page.Refs, rest.Refs...)); !slices.Equal(got, want) || rest.Next != "" {
		t.Errorf("the list is\n%q, want\n%q", got, want)
	}
	few, _ := listed(t, r, id, `{"limit":3,"kind":"history"}`, inTurn)
	for _, l := range few.Refs {
		if n := token.Count(l); n < 25 || n > 60 || !strings.Contains(l, "B: ") && !strings.Contains(l, "K: ") {
			t.Errorf("with room, an entry is %q (%d tokens)", l, n)
		}
	}
	art, _ := listed(t, r, id, `{"kind":"artifact"}`, inTurn)
	if len(art.Refs) != 4 || !strings.HasSuffix(art.Refs[0], " 4K: sounding 3.txt") {
		t.Errorf("the artifacts are %q", art.Refs)
	}

	// In a turn it is the same list.
	r.Ask(id, "What lies behind?").WantDone(t, scrollback.TurnComplete, "stop")
	looked := 0
	for _, m := range r.Log(id) {
		for _, res := range m.Parts.Results() {
			looked++
			var inTurn listPage
			if err := json.Unmarshal([]byte(res.Text), &inTurn); err != nil || len(inTurn.Refs) < 40 ||
				inTurn.Refs[0] != page.Refs[0] {
				t.Errorf("in a turn the list is %v, %s", err, res.Text)
			}
		}
	}
	if looked != 1 {
		t.Errorf("%d look-ups in the turn", looked)
	}

	// What the list names can be read, and in a fork too.
	f, err := r.Branches().Fork(t.Context(), id, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	inFork, _ := listed(t, r, f.ID, `{"kind":"artifact"}`, inTurn)
	if !slices.Equal(inFork.Refs, art.Refs) {
		t.Errorf("a fork lists %q", inFork.Refs)
	}
	for _, l := range []string{page.Refs[0], page.Refs[39], art.Refs[0]} {
		for tool, args := range map[string]string{"context_read": `{"ref":%q,"limit":100}`,
			"context_tail": `{"ref":%q,"lines":2}`,
			"context_grep": `{"ref":%q,"pattern":"line|metres"}`} {
			got, err := r.RunTool(t.Context(), f.ID, tool, json.RawMessage(fmt.Sprintf(args, refOf(l))), inTurn)
			if err != nil || strings.Contains(got, `"total":0`) {
				t.Errorf("%s of %s: %s, %v", tool, l, got, err)
			}
		}
	}
	_, err = r.RunTool(t.Context(), r.NewConversation(), "context_tail",
		json.RawMessage(fmt.Sprintf(`{"ref":%q}`, refOf(art.Refs[0]))), inTurn)
	enginetest.WantCode(t, err, scrollback.NotFound, "mentions no")
}

// A list of several years says which, and one of nothing is empty.
func TestListOfYears(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{})
	id := r.NewConversation()
	if page, text := listed(t, r, id, `{}`, inTurn); len(page.Refs) != 0 || text != `{"refs":[]}` {
		t.Errorf("nothing is listed as %s", text)
	}
	for n := range 2 {
		if _, err := r.Upload(t.Context(), id, strings.NewReader(fmt.Sprint("file ", n)), ""); err != nil {
			t.Fatal(err)
		}
		r.Clock.Add(400 * 86_400_000)
	}
	page, _ := listed(t, r, id, `{}`, inTurn)
	if page.Year != 0 || len(page.Refs) != 2 || !strings.HasSuffix(page.Refs[0], " 2027-02-09 6B") ||
		!strings.HasSuffix(page.Refs[1], " 2026-01-05 6B") {
		t.Errorf("the list is %+v", page)
	}
}

// With a model's summaries, which speak for all that came before, each leaf is still
// listed by what was said in it.
func TestListBesideSummaries(t *testing.T) {
	step := modeltest.Step{Reply: func(q model.Request) []model.Delta {
		if len(q.Tools) > 0 {
			return []model.Delta{{Text: "fine"}}
		}
		var b strings.Builder
		for line := range strings.SplitSeq(q.Items[0].Parts.Text(), "\n") {
			if strings.HasPrefix(line, "## ") {
				b.WriteString(line + "\n- the same in each summary\n")
			}
		}
		return []model.Delta{{Text: b.String()}}
	}}
	r := enginetest.New(t, enginetest.Options{Summaries: true, Policy: "snapshot"}, step)
	id := r.NewConversation()
	for n := range 4 {
		for i := range 4 {
			r.Ask(id, fmt.Sprintf("Pier %d is %d metres long. %s", n*10+i, 100+n, strings.Repeat("more words ", 60))).WantDone(t,
				scrollback.TurnComplete, "stop")
		}
		got, err := r.Compact(t.Context(), id, engine.CompactRequest{Force: true})
		if err != nil || got.SummaryBy != "script" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	page, _ := listed(t, r, id, `{}`, inTurn)
	if len(page.Refs) < 4 {
		t.Fatalf("%q", page.Refs)
	}
	for _, l := range page.Refs {
		if !strings.Contains(l, ": Pier ") || strings.Contains(l, "the same") {
			t.Errorf("a leaf is listed as %q", l)
		}
	}
}

// A hint is what was said, also where it was said several times.
func TestListOfWhatWasRepeated(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("fine"))
	id := r.NewConversation()
	r.Ask(id, strings.Repeat("The crane at pier 5 lifts 40 bags. ", 20)).WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Compact(t.Context(), id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	page, _ := listed(t, r, id, `{}`, inTurn)
	if len(page.Refs) != 1 || !strings.Contains(page.Refs[0], ": The crane at pier 5") ||
		strings.Contains(page.Refs[0], "×") {
		t.Errorf("the list is %q", page.Refs)
	}
}
