package kept

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// TestDevSentences judges the sentences that the weights were learned on: each kind has a share that must be right.
func TestDevSentences(t *testing.T) {
	judgeSentences(t, "kept-dev.tsv", map[string]float64{
		"trait": 0.97, "instruction": 0.95, "todo": 0.96, "talk": 0.98, "done": 0.95,
		"notdone": 0.97, "withdraw": 0.95, "keepboth": 0.85,
	})
	judgeSentences(t, "kept-dev2.tsv", map[string]float64{
		"trait": 0.91, "instruction": 0.98, "todo": 0.95, "talk": 0.96, "done": 0.64,
		"notdone": 0.97, "withdraw": 0.85, "keepboth": 0.91,
	})
	judgeSentences(t, "kept-dev3.tsv", map[string]float64{
		"trait": 0.93, "instruction": 0.97, "todo": 0.95, "talk": 0.93, "done": 0.30,
		"notdone": 0.80, "withdraw": 0.76, "keepboth": 0.91,
	})
}

// judgeSentences holds the shares that are right, as their own kind, against the least that they must be.
func judgeSentences(t *testing.T, file string, least map[string]float64) {
	t.Helper()
	raw, err := os.ReadFile("../../bench/recall/texts/" + file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	wrong := map[string][]string{}
	for l := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimRight(l, "\n"), "\t")
		if l[0] == '#' || f[0] == "kind" || len(f) < 4 {
			continue
		}
		kind := f[0]
		context := f[2]
		text := f[3]
		all[kind]++
		var right bool
		switch found := Find(scrollback.RoleUser, text, context); kind {
		case "done", "notdone":
			right = Closes(scrollback.RoleUser, text, context) == (kind == "done")
		case "withdraw", "keepboth":
			right = Replaces(text, context) == (kind == "withdraw")
		case "talk":
			right = len(found) == 0
		default:
			right = slices.ContainsFunc(found, func(s Sentence) bool { return s.Kind == scrollback.KeptKind(kind) })
		}
		if !right {
			wrong[kind] = append(wrong[kind], context+" | "+text)
		}
	}
	for kind, bound := range least {
		if all[kind] < 20 {
			t.Errorf("%s: only %d sentences of %s", file, all[kind], kind)
		}
		if share := 1 - float64(len(wrong[kind]))/float64(all[kind]); share < bound {
			t.Errorf("%s: %s: %.3f are right; wrong are\n%s", file, kind, share, strings.Join(wrong[kind], "\n"))
		}
	}
}

// TestForms finds each form in its example, by itself.
func TestForms(t *testing.T) {
	for name, g := range map[string]*grammar{"english": englishGrammar(), "chinese": chineseGrammar()} {
		at := map[string]int{}
		for _, r := range readTable(name + ".forms") {
			if r.Meaning == "" {
				t.Errorf("%s: %s says nothing of what it means", name, r.Pattern)
			}
			if r.Part != "form" {
				continue
			}
			f := g.forms[r.Rule][at[r.Rule]]
			at[r.Rule]++
			if !f.isIn(g.read(foldText(r.Example, g.dense))) {
				t.Errorf("%s: %q is not found in its example: %s", name, r.Pattern, r.Example)
			}
		}
	}
}

func TestFind(t *testing.T) {
	const offer = "We could stay in a hotel or rent a flat. Which do you prefer?"
	for _, c := range []struct {
		role        scrollback.Role
		text, offer string
		want        string // kinds and sentences, a line each
	}{
		{"user", "I was out.  I can't\nstand cinnamon. From now on answer in French!\nTODO: buy salt", "",
			"instruction From now on answer in French!\ntodo TODO: buy salt"},
		{"user", "I really dislike\tcinnamon.", "", "trait I really dislike cinnamon."},
		{"assistant", "I really dislike cinnamon. Always answer in French.\n- [ ] buy salt", "", "todo - [ ] buy salt"},
		{"tool", "I really dislike cinnamon.\n- [ ] buy salt", "", ""},
		{"user", "```\nI really dislike cinnamon.\n```\nI can't eat nuts.", "", "trait I can't eat nuts."},
		{"user", "- I really dislike cinnamon.\n> I can't eat nuts.\n\"I hate ferries.\"\nAnna: I hate ferries.", "", ""},
		{"user", "I hate ferries and " + strings.Repeat("boats, ", 100) + "too.", "", ""},
		{"user", "Why do I hate ferries?", "", ""},
		{"user", "I hate ferries, how else can I get there?", "", "trait I hate ferries, how else can I get there?"},
		{"user", "I'll take the flat.", "", ""},
		{"user", "I'll take the flat.", "You could think about it.", ""},
		{"user", "I'll take the flat.", offer, "trait I'll take the flat."},
		{"user", "Which flat?", offer, ""},
		{"user", "What does it mean? Answer in English please, I want to practise.", "", ""},
		{"user", "Remind me what we decided about the roof.", "", ""},
		{"user", "提醒我一下我们定了什么。", "", ""},
		{"user", "- [x] buy salt", "", ""},
		{"user", "她對青黴素過敏，這個非常重要。", "", "trait 她對青黴素過敏，這個非常重要。"},
	} {
		var got []string
		for _, s := range Find(c.role, c.text, c.offer) {
			got = append(got, string(s.Kind)+" "+s.Text)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("in %q it finds %q, not %q", c.text, got, c.want)
		}
	}
}

// TestAmbiguousNews closes nothing where several to-dos may be meant, and only the one that is named otherwise.
func TestAmbiguousNews(t *testing.T) {
	var todos Todos
	todos.Add("TODO: paint the garden fence green", 1)
	todos.Add("TODO: repair the garden fence soon", 2)
	if got := todos.Closed(scrollback.RoleUser, "The fence is sorted."); len(got) != 0 {
		t.Errorf("closed are %v", got)
	}
	if got := todos.Closed(scrollback.RoleUser, "Good news. I painted the garden fence, it looks fine."); !slices.Equal(got, []int{1}) {
		t.Errorf("closed are %v", got)
	}
}

func BenchmarkFind(b *testing.B) {
	talk := strings.Repeat("We talked about gardens, boats and old photographs until I had to leave for the train home. "+
		"昨天下午我在河边散步，看到了许多水鸟。\n", 8000)
	b.SetBytes(int64(len(talk)))
	for b.Loop() {
		Find(scrollback.RoleUser, talk, "")
	}
}

// What an answer adds to what is kept of a message stands before the rest of it.
func TestAnswerRows(t *testing.T) {
	offers := []string{"", "Do you eat meat or fish?", "Which one: tea, coffee, or water?", "你想要哪种：茶、咖啡还是水？", "It is done."}
	texts := []string{"Fish. TODO: buy some fish.", "> quoted\nTea, always tea.", "茶。以后都用中文回答。", "```\ncode\n```\nCoffee please",
		"Is there more?", "I'm vegetarian. Never suggest meat.", strings.Repeat("Tea and more of it. ", 120)}
	for _, offer := range offers {
		for _, text := range texts {
			before := scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Say(offer)}
			m := scrollback.Message{ID: "m", Role: scrollback.RoleUser, Parts: scrollback.Say(text)}
			whole := ListRows(&m, &before)
			if got := append(ListAnswerRows(&m, &before), ListRows(&m, nil)...); !slices.Equal(got, whole) {
				t.Errorf("%q after %q: %v, want %v", text, offer, got, whole)
			}
			if len(ListAnswerRows(&m, &before)) > 0 && text[0] != '>' && !NeedsOffer(&m) {
				t.Errorf("%q after %q is not looked at", text, offer)
			}
		}
	}
}
