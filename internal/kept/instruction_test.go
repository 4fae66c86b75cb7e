package kept

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// lines reads the labelled sentences of bench/recall, those held out apart.
func lines(t testing.TB) (keep, drop []string) {
	t.Helper()
	raw, err := os.ReadFile("../../bench/recall/texts/standing.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(raw)) {
		switch f := strings.Split(strings.TrimSpace(l), "\t"); {
		case len(f) != 4 || f[2] != "dev":
		case f[0] == "keep":
			keep = append(keep, f[3])
		default:
			drop = append(drop, f[3])
		}
	}
	if len(keep) < 300 || len(drop) < 300 {
		t.Fatalf("%d to keep and %d to drop", len(keep), len(drop))
	}
	return keep, drop
}

// stays reports whether a sentence of a person is kept, as whatever it is.
func stays(s string) bool { return kindOf(scrollback.RoleUser, s) != "" }

// Nearly all sentences that the weights were learned on are judged as they are labelled.
func TestLabelledSentences(t *testing.T) {
	keep, drop := lines(t)
	wrong := 0
	for _, s := range keep {
		if !stays(s) {
			wrong++
			t.Logf("not found: %s", s)
		}
	}
	for _, s := range drop {
		if stays(s) {
			wrong++
			t.Logf("found: %s", s)
		}
	}
	if wrong > 12 {
		t.Errorf("%d of %d are judged wrongly", wrong, len(keep)+len(drop))
	}
}

// Lines of a summary are judged by what the person said in them; the assistant gives no instructions.
func TestLines(t *testing.T) {
	keep, _ := lines(t)
	for _, s := range keep {
		if is := "- #12 user: " + s; (IsInstruction(is) || IsTrait(is)) != (IsInstruction(s) || IsTrait(s)) {
			t.Errorf("judged otherwise behind a name: %s", s)
		}
		if is := "- #12 assistant: " + s; IsInstruction(is) || IsTrait(is) {
			t.Errorf("found, and the assistant said it: %s", s)
		}
	}
	for s, want := range map[string]bool{
		"- Never push straight to main.": true, "- #tag: never push straight to main.": true,
		"- # user: never push to main": true,
		"- #12 user:":                  false, "": false, " ": false, "。": false, "\xff\xfe": false,
		"NEVER PUSH TO MAIN":                  true,
		"Never, ever commit generated files.": true, "Never ever commit generated files.": true,
		"Never ever seen that.":                           false,
		"Always, without exception, run the tests first.": true, "Never, I said.": false, "Never, ever again!": false,
		"**Never** push to main.": true, "2. Use metric units everywhere.": true, "2. Paint the shed.": false,
		"绝对不能推送到主分支。": true, "这事绝对不能怪你。": false, "绝对不可能。": false,
		"以後請用中文回答": true, "１日３回、必ず確認してください": true,
		"And from now on show me only the changed lines.": true, "もっと短く。": false, "返事は箇条書きで。": true, "四人で行きます。": false,
	} {
		if got := IsInstruction(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// No rule is there for nothing: each finds a sentence by itself.
func TestRules(t *testing.T) {
	keep, drop := lines(t)
	keep = append(keep, "TODO: water the plants.", "待办：浇花。", "todo：花に水をやる", "할 일: 우유 사기")
	for name, l := range map[string]*language{"English": inEnglish(), "Chinese": inChinese(), "Japanese": inJapanese(),
		"Korean": inKorean()} {
		used := make([]bool, len(l.rules))
		for _, raw := range append(keep, drop...) {
			if detectLanguage(raw) != l {
				continue
			}
			s := foldText(raw, l == inChinese())
			called := l.calledRules(s)
			for i := range l.rules {
				used[i] = used[i] || called&(1<<i) != 0 && l.judgeSentence(s, 1<<i)
			}
		}
		for i, ok := range used {
			if !ok {
				t.Errorf("%s: rule %d finds nothing: %s", name, i, l.rules[i].match)
			}
		}
		if len(l.rules) > 64 {
			t.Errorf("%s has more rules than bits", name)
		}
	}
}

// What comes from anywhere is judged without a fault, and the same each time.
func TestAnyText(t *testing.T) {
	keep, drop := lines(t)
	piece := rapid.OneOf(rapid.SampledFrom(append(keep, drop...)), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		s := piece.Draw(t, "first") + rapid.SampledFrom([]string{"", " ", "\"", "「", "- #", ": "}).Draw(t, "between") +
			piece.Draw(t, "second")
		if first := IsInstruction(s); first != IsInstruction(s) {
			t.Fatalf("%q is judged in two ways", s)
		}
	})
}

func BenchmarkInstruction(b *testing.B) {
	keep, drop := lines(b)
	plain := []string{
		"The train home was rather late and very full.", "We talked about gardens, boats and old photographs.",
		"昨天下午我在河边散步，看到了许多水鸟。", "昨日の午後は川沿いを散歩した。", "어제 오후에 강가를 걸었다.",
	}
	for name, of := range map[string][]string{"keep": keep, "drop": drop, "plain": plain} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				IsInstruction(of[i%len(of)])
			}
		})
	}
}
