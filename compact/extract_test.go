package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/token"
)

// talk returns alternating user and assistant messages.
func talk(texts ...string) []scrollback.Message {
	out := make([]scrollback.Message, len(texts))
	for i, text := range texts {
		role := scrollback.RoleUser
		if i%2 == 1 {
			role = scrollback.RoleAssistant
		}
		out[i] = scrollback.Message{ID: "m", ConversationID: "c", Branch: "b", Seq: int64(i + 1), Role: role,
			Status: scrollback.StatusComplete,
			Parts:  scrollback.Parts{scrollback.Text{Text: text}}, Weight: scrollback.Weight{Tokens: 100}}
	}
	return out
}

func buildSummary(t *testing.T, budget int64, ms []scrollback.Message) scrollback.Segment {
	t.Helper()
	j := newShelf().job(ms, foldCut{messages: len(ms)}, budget)
	j.Count = token.Count
	f, err := j.buildFold()
	if err != nil || len(f.leaves) != 1 {
		t.Fatalf("%d leaves, %v", len(f.leaves), err)
	}
	return f.leaves[0]
}

var chatter = []string{
	"The weather by the lake was lovely and we walked for hours.", "How nice that you enjoyed the lake and the long walk.",
	"Then we had soup with my cousin and her neighbours.", "Soup with family is a fine way to end such a day.",
	"We talked about gardens, boats and old photographs.", "Old photographs bring back many things indeed.",
	"The train home was rather late and very full.", "Late trains are tiring, I am sorry to hear that.",
}

// What a person wants to be remembered is in the summary, however much small talk
// surrounds it.
func TestStandingInstructions(t *testing.T) {
	for _, keep := range []string{
		"Always answer in French, please.", "Never lie.", "Remember that the key is under the pot.",
		"I prefer short answers.",
		"We decided to ship on Friday.",
		"The deadline moves to next week.", "From now on call me Captain.", "Please don't mention my brother.",
		"Please don’t mention my sister.",
		"TODO: water the plants tomorrow.",
		"记住我的名字是小明。", "以后请用中文回答。", "不要提到我的哥哥。", "我们决定周五发布。", "必须先备份。", "截止日期是下周。", "永远保持礼貌。",
	} {
		for at := range len(chatter) {
			texts := append([]string{}, chatter...)
			texts[at] += " " + keep
			got := buildSummary(t, 24_000, talk(texts...))
			if at%2 == 0 && !strings.Contains(got.Summary, keep) {
				t.Errorf("%q said in #%d is not in\n%s", keep, at+1, got.Summary)
			}
			if at%2 == 0 && !strings.Contains(got.Placeholder, keep) {
				t.Errorf("%q is not in the placeholder\n%s", keep, got.Placeholder)
			}
		}
	}
}

// They survive roll-ups too: a summary of summaries keeps them before anything else.
func TestStandingInstructionsRollUp(t *testing.T) {
	c := &chain{shelf: newShelf(), budget: 24_000}
	c.fold(t, 5, "The number of message %d is about pots and pans.")
	run := append(c.messages(4, "The number of message %d is about pots and pans."),
		c.messages(1, "Always answer in French, whatever message %d says.")...)
	c.foldRun(t, run)
	for range 60 {
		c.fold(t, 5, "The number of message %d is about pots and pans.")
	}
	if got := c.shown[0]; got.Level < 1 || !strings.Contains(got.Summary, "Always answer in French") {
		t.Errorf("level %d says\n%s", got.Level, got.Summary)
	}
}

// Figures and rare words are kept before chatter, and the lines stand in the order
// of the log, at most five of them, each with its seq and role.
func TestExtract(t *testing.T) {
	texts := append([]string{"The invoice is number 88-1234-X."}, chatter[1:]...)
	texts = append(texts, "My flight is LH4711 at 17:45 on Sunday.", strings.Repeat("很长的一句话没有结尾", 60))
	got := buildSummary(t, 24_000, talk(texts...))
	lines := strings.Split(got.Summary, "\n")
	if len(lines) > 5 || !strings.HasPrefix(lines[0], "- #1 user: The invoice is number 88-1234-X.") ||
		!strings.Contains(got.Summary, "- #9 user: My flight is LH4711") {
		t.Errorf("%d lines:\n%s", len(lines), got.Summary)
	}
	last := int64(0)
	for _, l := range lines {
		fields := strings.Fields(l)
		var seq int64
		for _, d := range strings.TrimPrefix(fields[1], "#") {
			seq = 10*seq + int64(d-'0')
		}
		if seq < last || len([]rune(l)) > 200 {
			t.Errorf("line %q after #%d", l, last)
		}
		last = seq
	}
	for name, ms := range map[string][]scrollback.Message{
		"tools only": {{Seq: 1, Role: scrollback.RoleTool,
			Parts: scrollback.Parts{scrollback.ToolResult{CallID: "a", Text: "Always remember 12 numbers."}}}},
		"empty": talk(""), "broken text": talk("\xff\xfe Always keep \xff the 12 words."), "marks": talk("... !!! ??? 。。。"),
	} {
		got := buildSummary(t, 24_000, ms)
		if name == "broken text" && !strings.Contains(got.Summary, "Always keep the 12 words.") ||
			name != "broken text" && got.Summary != "" {
			t.Errorf("%s: %q", name, got.Summary)
		}
	}
}

// Of what many messages say in much the same words there is at most one line, and what failed, was found or was
// decided is there, however short it is; output of tools that was pasted is not.
func TestExtractOfWork(t *testing.T) {
	var texts []string
	for i, file := range []string{"fare", "round", "leg", "quote", "bag", "seat", "meal", "gate", "refund", "voucher"} {
		texts = append(texts, fmt.Sprintf("Have a look at internal/%s/%s.go, and say what it is for.", file, file),
			fmt.Sprintf("It was written when RoundFare still took a float, as the comment above %s in that package says. "+
				"The package %s reads the tables of the old booking system and keeps them for the %s screen.", file, file, file))
		if i == 4 {
			texts = append(texts, "And the smoke test?", "It fails because PSP_HMAC is missing.")
		}
		if i == 6 {
			texts = append(texts, "Which one do we take?",
				"We decided on minor units, since floats lost a cent in 3 of 40 bookings.",
				"--- a/x.go +++ b/x.go @@ -1,4 +1,4 @@ {{{ ((x)) == [[y]] && !!z }}}", "I see.")
		}
	}
	got := buildSummary(t, 24_000, talk(texts...)).Summary
	for _, want := range []string{"PSP_HMAC is missing", "decided on minor units"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Count(got, "It was written when RoundFare") > 1 || strings.Count(got, "Have a look at") > 1 ||
		strings.Contains(got, "@@") {
		t.Errorf("the lines are\n%s", got)
	}
	var said []string
	for i, file := range []string{"票价", "往返", "航段", "报价", "行李", "座位", "餐食", "登机口"} {
		said = append(said, fmt.Sprintf("看看%s这个包是做什么用的，再说说它的注释。", file),
			fmt.Sprintf("这个包是在往返票价还用浮点数的时候写的，注释里说%s的表来自旧的订票系统。", file))
		if i == 3 {
			said = append(said, "冒烟测试呢，结果如何？", "失败了，因为缺少签名密钥。", "那金额用什么单位？", "决定改用最小货币单位，浮点数会丢一分钱。")
		}
	}
	got = buildSummary(t, 24_000, talk(said...)).Summary
	for _, want := range []string{"缺少签名密钥", "改用最小货币单位"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Count(got, "这个包是在往返票价") > 1 {
		t.Errorf("the lines are\n%s", got)
	}
}

// A placeholder is within its bound; if not even one line fits, it has no summary.
func TestPlaceholderBound(t *testing.T) {
	long := talk(strings.Repeat("Always remember the numbers 1 2 3 4 5 and 记住这些数字 of the plan. ", 40))
	for _, budget := range []int64{100, 1500, 2000, 3000, 5000, 8000, 100_000} {
		got := buildSummary(t, budget, long)
		bound := min(400, budget/20)
		if got.TokensAfter != int64(token.Count(got.Placeholder)) || got.TokensAfter > bound && got.Summary != "" {
			t.Errorf("budget %d: %d tokens, bound %d:\n%s", budget, got.TokensAfter, bound, got.Placeholder)
		}
		for _, part := range []string{"#1", "1970-01-01", "history:" + string(got.ID)} {
			if !strings.Contains(got.Placeholder, part) {
				t.Errorf("budget %d: no %s in\n%s", budget, part, got.Placeholder)
			}
		}
		if budget >= 8000 && got.Summary == "" {
			t.Errorf("budget %d: room for lines, and none is there", budget)
		}
	}
}

// A fold must shrink the window by a twentieth, or bring one that does not fit nearer to fitting.
func TestJudge(t *testing.T) {
	over := scrollback.Weight{Tokens: 800, Bytes: 900, Images: 3}
	for _, c := range []struct {
		before, after scrollback.Weight
		reason        Reason
		want          scrollback.CompactionResult
	}{
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 950}, WhenDue, "compacted"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 951}, WhenDue, "inflated"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 951}, Forced, "inflated"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 1200}, Everything, "compacted"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 999}, MustFit, "compacted"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 1000}, MustFit, "inflated"},
		{scrollback.Weight{Tokens: 1000}, scrollback.Weight{Tokens: 1200}, MustFit, "inflated"},
		{scrollback.Weight{Tokens: 500}, scrollback.Weight{Tokens: 499}, MustFit, "compacted"},
		{scrollback.Weight{Tokens: 500}, scrollback.Weight{Tokens: 500}, MustFit, "inflated"},
		{over, scrollback.Weight{Tokens: 810, Bytes: 900, Images: 2}, MustFit, "inflated"},
		{over, scrollback.Weight{Tokens: 800, Bytes: 990, Images: 2}, MustFit, "compacted"},
		{over, scrollback.Weight{Tokens: 800, Bytes: 1010, Images: 2}, MustFit, "inflated"},
		{scrollback.Weight{Tokens: 500, Images: 3}, scrollback.Weight{Tokens: 600, Images: 2}, MustFit, "compacted"},
	} {
		j := newShelf().job(nil, foldCut{}, 700)
		j.Window.Budget.Bytes = 1000
		j.Window.Budget.Images = 2
		j.Reason = c.reason
		if got := j.judge(c.before, c.after); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	// An inflated fold is tried again once the live messages grew by a fifth.
	if p := named(t, Segments); p.RetryGrowth != 1.2 || p.ShrinkShare != 0.95 {
		t.Errorf("retry after %v, shrink to %v", p.RetryGrowth, p.ShrinkShare)
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		name         string
		canSummarize bool
		want         string
	}{{"", false, "segments"}, {"auto", false, "segments"}, {"", true, "snapshot"}, {"auto", true, "snapshot"},
		{"segments", true, "segments"}, {"snapshot", false, "snapshot"}} {
		p, err := FindPolicy(c.name, c.canSummarize)
		if err != nil || p.Name != c.want || p.TriggerShare <= p.AfterShare || p.AfterShare > 0.5 ||
			p.Summarizes != (c.want == "snapshot") {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
	_, err := FindPolicy("nonsense", true)
	if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("%v", err)
	}
}

// The snapshot policy folds from seven tenths of the whole window on, any from nine
// tenths of the budget in tokens, bytes or images.
func TestTriggers(t *testing.T) {
	segments, _ := FindPolicy("segments", false)
	snapshot, _ := FindPolicy("snapshot", false)
	b := scrollback.Budget{Limit: 1_000_000, Weight: scrollback.Weight{Tokens: 968_000, Bytes: 1000, Images: 20}}
	for _, c := range []struct {
		w                  scrollback.Weight
		segments, snapshot bool
	}{
		{scrollback.Weight{Tokens: 699_999}, false, false},
		{scrollback.Weight{Tokens: 700_000}, false, true},
		{scrollback.Weight{Tokens: 871_199}, false, true},
		{scrollback.Weight{Tokens: 871_200}, true, true},
		{scrollback.Weight{Bytes: 899}, false, false},
		{scrollback.Weight{Bytes: 900}, true, true},
		{scrollback.Weight{Images: 17}, false, false},
		{scrollback.Weight{Images: 18}, true, true},
	} {
		l := requestLoad{window: c.w, budget: b}
		if segments.isTriggered(l) != c.segments || snapshot.isTriggered(l) != c.snapshot {
			t.Errorf("%+v: segments %v, snapshot %v", c, segments.isTriggered(l), snapshot.isTriggered(l))
		}
	}
}
