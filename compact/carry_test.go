package compact

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/window"
	"pgregory.net/rapid"
)

// withRows returns a record with what is kept of what it shows itself.
func withRows(r summaryRecord) summaryRecord {
	r.memory = NewMemory()
	r.language = summary.DetectLanguage(r.run)
	r.inSight = true
	r.keptRoom = r.maxTokens
	s := Shown{}
	s.Window.Live = r.run
	s.Window.Summary = &window.Summary{Text: r.previous}
	r.rows = s.rowsInSight()
	r.end = r.run[len(r.run)-1].Seq
	return r
}

// carriedBlock is the block that a record carries.
func carriedBlock(r summaryRecord) string {
	r = withRows(r)
	return r.carryLines("", r.maxTokens)
}

// carriedLines are the lines of that block.
func carriedLines(r summaryRecord) (out []string) {
	for line := range strings.SplitSeq(carriedBlock(r), "\n") {
		if _, ok := window.ParseLine(line); ok {
			out = append(out, line)
		}
	}
	return out
}

// What was said several times is one line, with a count and where it was said last, from
// summary to summary; lines of before, without a count, count as one.
func TestSaidSeveralTimes(t *testing.T) {
	r := recordOf("Always answer in French.", "oui", "please always answer in FRENCH!", "oui", "Always answer in German.",
		"ja",
		"Ａlways answer in French")
	got := carriedLines(r)
	want := []string{"- #5 user: Always answer in German.", "- #7 user (3×): Ａlways answer in French"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("carried is %q", got)
	}
	next := recordOf("Always answer in French.")
	next.run[0].Seq = 212
	next.previous = minutesOf("ship") +
		"\n\n## Said, word for word\n- #2 user: always answer in french\n- #5 user (2×): Always answer in German.\n" +
		"- #7 user (3×): Ａlways answer in French"
	got = carriedLines(next)
	want = []string{"- #5 user (2×): Always answer in German.", "- #212 user (5×): Always answer in French."}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("carried on is %q", got)
	}
}

// Lines that differ in a fact are all carried, however alike they are.
func TestFactsDiffer(t *testing.T) {
	texts := []string{"Always use port 8080.", "ok", "Always use port 8081.", "ok", "Never use port 8081.", "ok",
		"Always sign as Ada.", "ok",
		"Always sign as Bob.", "ok", "Always read docs/a.md first.", "ok", "Always read docs/b.md first.", "ok",
		"记住：门禁码是 4711。", "好",
		"记住：门禁码是 4712。"}
	if got := carriedLines(recordOf(texts...)); len(got) != 9 {
		t.Errorf("%d lines: %q", len(got), got)
	}
}

// What says strictly less than another line goes, whichever came first.
func TestSaysLess(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  int
	}{
		{[]string{"Always answer in French, and use metric units.", "ok", "Always answer in French."}, 1},
		{[]string{"Always answer in French.", "ok", "Always answer in French, and use metric units."}, 1},
		{[]string{"Always answer in French.", "ok", "Always answer in French, but not to Bob."}, 2}, // it says something else
	} {
		if got := carriedLines(recordOf(c.texts...)); len(got) != c.want {
			t.Errorf("of %q it carries %q", c.texts, got)
		}
	}
	got := carriedLines(recordOf("Remember the todo list.", "ok", "TODO: write tests", "ok",
		"TODO: write tests, and docs"))
	if len(got) != 3 {
		t.Errorf("a to-do went because another one says more: %q", got)
	}
}

// An open to-do stays however often other things are said; one that is done goes.
func TestTodosInTheBlock(t *testing.T) {
	texts := []string{"TODO: water the plants.", "- [ ] 给花浇水\n- [ ] translate the manual", "待办：部署服务"}
	for i := range 40 {
		texts = append(texts, "fine", "Always answer in French, please.", "fine",
			fmt.Sprintf("Never mention harbour number %d again.", i))
	}
	r := recordOf(texts...)
	block := strings.Join(carriedLines(r), "\n")
	for _, want := range []string{"TODO: water the plants.", "- [ ] 给花浇水", "- [ ] translate the manual", "待办：部署服务",
		"(40×): Always answer in French"} {
		if strings.Count(block, want) != 1 {
			t.Errorf("%q is in the block %d times:\n%s", want, strings.Count(block, want), block)
		}
	}
	if n := strings.Count(block, "Never mention harbour"); n < 5 {
		t.Errorf("%d other instructions are carried", n)
	}
	next := recordOf("部署服务完成了。", "- [x] translate the manual", "I watered the plants in the yard.", "花还没浇水")
	for i := range next.run {
		next.run[i].Seq += 500
	}
	next.previous = "## Said, word for word\n" + block
	block = strings.Join(carriedLines(next), "\n")
	for line, want := range map[string]bool{"待办：部署服务": false, "translate the manual": false,
		"TODO: water the plants.": true,
		"- [ ] 给花浇水":              true} {
		if strings.Contains(block, line) != want {
			t.Errorf("%q is in the block: %v\n%s", line, !want, block)
		}
	}
}

// What was told comes before older questions, which were answered since; the newest
// messages come whatever they are.
func TestFactsBeforeQuestions(t *testing.T) {
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("The boat number %d leaves at noon.", i), "ok",
			fmt.Sprintf("What does rope number %d cost?", i), "It costs 3 euros.")
	}
	r := recordOf(texts...)
	r.maxTokens = 200
	block := strings.Join(carriedLines(r), "\n")
	if strings.Count(block, "What does") > 3 || !strings.Contains(block, "rope number 19") ||
		!strings.Contains(block, "boat number 5 ") {
		t.Errorf("carried is\n%s", block)
	}
}

// Greetings and assent are not carried, and not extracted.
func TestIdleTalk(t *testing.T) {
	idleTexts := []string{"Hi there!", "Thanks a lot!", "ok thanks", "Great, that is very good.", "好的，谢谢！", "你好", "嗯嗯，收到。",
		"没问题，请继续",
		"Sounds good, go ahead.",
		"太棒了，辛苦了！"}
	for _, s := range idleTexts {
		if !isIdle(s) {
			t.Errorf("%q is taken for something", s)
		}
	}
	for _, s := range []string{"Thanks, the port is 8080.", "好的，端口是 8080", "No, use tabs.", "不行", "It was the fan.",
		"Hello world.go",
		"好的，那就周五发布"} {
		if isIdle(s) {
			t.Errorf("%q is taken for nothing", s)
		}
	}
	if got := carriedLines(recordOf("Hi there!", "Hello.", "What is the tide?", "High.", "Thanks a lot!")); len(got) != 1 {
		t.Errorf("carried is %q", got)
	}
	s := buildSummary(t, 24_000, talk("Hello, how are you?", "I am fine, thanks. Let me know if you have any questions.",
		"Which fan is loud?",
		"Let me check that. The fan in rack 7 is loud because its bearing is worn.", "ok thanks, great work!",
		"You're welcome!"))
	if !strings.Contains(s.Summary, "rack 7") || strings.Contains(s.Summary, "fine, thanks") ||
		strings.Contains(s.Summary, "Let me") ||
		strings.Contains(s.Summary, "welcome") {
		t.Errorf("extracted is\n%s", s.Summary)
	}
}

// Lines of the block do not count among those of a placeholder, which keeps them for when
// the summary is gone.
func TestExtractBesideBlock(t *testing.T) {
	ms := talk("Always sign as Ada, number 1.", "The pier opens at nine o'clock 9.", "Always bring 2 ropes to the pier.",
		"The tide is 3 metres at noon.",
		"Always close gate 4 behind you.", "The fan in rack 5 is worn out.", "Always call Bob at 6 sharp.",
		"The boat has 7 seats and no roof.")
	j := newShelf().job(ms, foldCut{messages: len(ms)}, 24_000)
	r := summaryRecord{policy: named(t, Snapshot), run: ms, maxTokens: 2000, count: words}
	j.summary = &askOutcome{text: strings.TrimSpace(carriedBlock(r)), by: scrollback.SummaryExtractive}
	b, err := j.buildFold()
	if err != nil {
		t.Fatal(err)
	}
	if got := b.leaves[0].Placeholder; strings.Count(got, "\n- #") != 8 || strings.Count(got, "user: Always") != 4 {
		t.Errorf("the placeholder is\n%s", got)
	}
}

// Nothing that stands goes while its kind's share lasts: what is behind the ref of a block finds no room in
// its share, nor in what the others leave; what is newer or kept by a person comes first; and each
// sentence is either in the block or in the text behind its ref.
func TestSharesOfKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := recordOf("hello")
		r.memory = NewMemory()
		r.end = 1000
		kinds := []scrollback.KeptKind{scrollback.KeptTodo, scrollback.KeptTrait, scrollback.KeptInstruction}
		n := rapid.IntRange(0, 60).Draw(t, "entries")
		for i := range n {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			text := fmt.Sprintf("entry %d%s", i, strings.Repeat(" word", rapid.IntRange(1, 40).Draw(t, "words")))
			r.rows = append(r.rows, scrollback.Kept{ID: scrollback.KeptID(fmt.Sprint("k", i)), Kind: kind, Text: text,
				Seq: int64(i + 10), Role: scrollback.RoleUser, By: scrollback.KeptByRule, State: scrollback.KeptOpen})
		}
		room := int64(rapid.IntRange(20, 600).Draw(t, "room"))
		r.keptRoom = room
		lines := distinctLines(r.listCarried())
		lines = slices.DeleteFunc(lines, func(l carriedLine) bool { return l.rank > rankInstruction })
		slices.SortStableFunc(lines, func(a, b carriedLine) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.Seq, a.Seq))
		})
		chosen, older, used := r.chooseKept(lines, room)
		if used > room {
			t.Fatalf("%d tokens in a room of %d", used, room)
		}
		in := map[int64]bool{}
		spent := [ranks]int64{}
		for _, l := range chosen {
			in[l.Seq] = true
			spent[l.rank] += int64(r.count("\n" + l.String()))
		}
		apart := strings.Join(r.memory.listApart(older), "\n")
		const labels = 8 // tokens of a label, and of the line that names the rest
		for _, l := range lines {
			weighs := int64(r.count("\n" + l.String()))
			if in[l.Seq] {
				continue
			}
			if older != "" && !strings.Contains(apart, l.String()) {
				t.Fatalf("%q is neither in the block nor behind its ref", l)
			}
			left := room - used - 4*labels
			own := int64(keptShares[l.rank]*float64(room-4*labels)) - spent[l.rank] - labels
			if older != "" && (weighs < left || weighs < own) {
				t.Fatalf("%q went although %d of %d tokens are used, %d of its kind", l, used, room, spent[l.rank])
			}
		}
	})
}

// An allergy keeps its place in the block however much is said after it.
func TestVitalGoesLast(t *testing.T) {
	r := recordOf("hello")
	r.memory = NewMemory()
	r.end = 1000
	for i := range 60 {
		text := fmt.Sprintf("I never buy the blue boxes of shelf %d.", i)
		if i == 3 {
			text = "另外有一件要紧的：安安对青霉素过敏，上次在急诊打了针。"
		}
		r.rows = append(r.rows, scrollback.Kept{ID: scrollback.KeptID(fmt.Sprint("k", i)), Kind: scrollback.KeptTrait,
			Text: text, Seq: int64(i + 10), Role: scrollback.RoleUser, By: scrollback.KeptByRule,
			State: scrollback.KeptOpen})
	}
	r.keptRoom = 200
	got := r.carryKept()
	if !strings.Contains(got, "安安对青霉素过敏") || !strings.Contains(got, "shelf 59.") || strings.Contains(got, "shelf 4.") {
		t.Errorf("the block has\n%s", got)
	}
}

// Who looks only at lines that have a clause in common drops what who compares all of them does.
func TestDropWithin(t *testing.T) {
	words := []string{"I use Postgres", "never tabs", "unless I ask", "answer in English", "the rent is paid", "call Ann"}
	rapid.Check(t, func(t *rapid.T) {
		var lines, want []carriedLine
		for i := range rapid.IntRange(0, 30).Draw(t, "lines") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "text"), ", ")
			l := carriedLine{Line: window.Line{Seq: int64(i), By: "user", Count: 1, Text: text},
				rank: rapid.IntRange(rankTodo, rankInstruction).Draw(t, "rank")}
			l.read(nil)
			lines = append(lines, l)
		}
		for _, l := range lines {
			if l.rank > rankTodo && slices.ContainsFunc(want, l.saysLess) {
				continue
			}
			want = append(slices.DeleteFunc(want, func(k carriedLine) bool { return k.rank > rankTodo && k.saysLess(l) }), l)
		}
		got := dropWithin(lines)
		if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Fatalf("%v,\nwant %v", got, want)
		}
	})
}
