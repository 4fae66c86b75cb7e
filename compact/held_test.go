package compact_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// A long conversation in memory is compacted again and again, its segments are rolled up, and each
// window fits, passes the rules and names no tool.
func TestHeldInMemory(t *testing.T) {
	policy, err := compact.FindPolicy(compact.Segments, false)
	if err != nil {
		t.Fatal(err)
	}
	talk := compact.Shown{Policy: policy, Window: window.Input{Budget: window.NewBudget(2000, 0),
		Dialect: window.Anthropic(), Recall: &window.RecallTools{}}}
	ids := 0
	folds := 0
	rolled := false
	for i := range 1200 {
		role := scrollback.RoleUser
		if i%2 == 1 {
			role = scrollback.RoleAssistant
		}
		parts := scrollback.Say(fmt.Sprintf("Message %d: %s", i, strings.Repeat("the tide came and went. ", 4)))
		talk.Append(scrollback.Message{Role: role, Parts: parts, Status: scrollback.StatusComplete,
			CreatedAt: 1_767_225_600_000, Weight: window.Weigh(parts, token.Count, token.ImageTokens)})
		w := window.Assemble(talk.Window)
		if talk.IsDue(w) && role == scrollback.RoleAssistant {
			made, err := compact.Run(t.Context(), compact.Input{Shown: talk, Count: token.Count,
				NewID: func() string { ids++; return fmt.Sprint("s", ids) }})
			if err != nil {
				t.Fatal(err)
			}
			if made.Receipt.Result == scrollback.ResultCompacted {
				folds++
			}
			talk = compact.ShownAfter(&talk, &made)
			w = window.Assemble(talk.Window)
		}
		for _, s := range talk.Window.Segments {
			rolled = rolled || len(s.Children) > 0
		}
		if err := window.Lint(w, window.Anthropic()); err != nil || !window.Fits(w.Weight, w.Budget) {
			t.Fatalf("after message %d: %+v of %+v, %v", i, w.Weight, w.Budget, err)
		}
		for _, it := range w.Items {
			if strings.Contains(it.Parts.Text(), "context_") {
				t.Fatalf("a tool is named: %s", it.Parts.Text())
			}
		}
	}
	if folds < 20 || !rolled || talk.Branch.HeadSeq != 1200 {
		t.Errorf("%d compactions, rolled up: %v, %d messages", folds, rolled, talk.Branch.HeadSeq)
	}
	live := talk.Window.Live
	if last := live[len(live)-1]; last.Seq != 1200 || last.Sum != talk.Branch.Sum {
		t.Errorf("the newest is %+v of %+v", last, talk.Branch.Sum)
	}
}

// The program of the guide is the example.
func TestGuideOfWindows(t *testing.T) {
	guide, err := os.ReadFile("../docs/guides/windows.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1)
	if len(blocks) == 0 {
		t.Error("the guide has no code")
	}
	for _, b := range blocks {
		if !strings.Contains(string(example), b[1]) {
			t.Errorf("this is not in the example:\n%s", b[1])
		}
	}
	_, output, _ := strings.Cut(string(example), "// Output:\n")
	output = strings.TrimSuffix(regexp.MustCompile(`(?m)^\t// ?`).ReplaceAllString(output, ""), "}\n")
	if !strings.Contains(string(guide), "```\n"+output+"```\n") {
		t.Errorf("the guide does not print\n%s", output)
	}
}
