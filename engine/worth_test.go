package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
)

// saga makes a long conversation as JSON lines.
type saga struct {
	rng   *rand.Rand
	out   strings.Builder
	calls int
}

func (s *saga) say(role string, parts ...map[string]any) {
	b, err := json.Marshal(map[string]any{"role": role, "content": parts})
	if err != nil {
		panic(err)
	}
	s.out.Write(append(b, '\n'))
}

func (s *saga) talk(user, assistant string) {
	s.say("user", map[string]any{"type": "text", "text": user})
	s.say("assistant", map[string]any{"type": "text", "text": assistant})
}

// work is a call and its result.
func (s *saga) work(tool string, arguments map[string]any, output string) {
	s.calls++
	id := fmt.Sprint("call", s.calls)
	s.say("assistant", map[string]any{"type": "tool_call", "id": id, "name": tool, "arguments": arguments})
	s.say("tool", map[string]any{"type": "tool_result", "call_id": id, "name": tool, "text": output})
}

func (s *saga) pick(of ...string) string { return of[s.rng.IntN(len(of))] }

// sagas are the kinds of conversations that blocks are measured on, by name; each makes
// round n.
var sagas = map[string]func(s *saga, n int){
	"chatter": func(s *saga, n int) {
		s.talk(s.pick("Hi there!", "Thanks a lot!", "ok thanks", "Great, go on."),
			s.pick("You're welcome!", "Sure, happy to help!",
				"Great!"))
		s.talk(s.pick("Please always answer in French.", "always answer in French", "Please always answer in French!"),
			"D'accord.")
		s.talk(fmt.Sprintf("The boat number %d leaves from pier %d at %d o'clock.", n, n*7%31, n%24),
			"Noted. I hope this helps!")
		s.talk(fmt.Sprintf("What does the %s at pier %d cost?", s.pick("crane", "winch", "rope"), n),
			fmt.Sprintf("Let me check. It costs %d euros a day.", n*13))
	},
	"闲聊": func(s *saga, n int) {
		s.talk(s.pick("你好", "谢谢！", "好的，收到", "太棒了，辛苦了"), s.pick("不客气！", "好的，没问题。"))
		s.talk(s.pick("记住：以后一律用中文回答。", "以后一律用中文回答", "请记住，以后一律用中文回答！"), "好的。")
		s.talk(fmt.Sprintf("第%d号船从%d号码头出发，下午%d点开。", n, n*7%31, n%12), "明白了。")
		s.talk(fmt.Sprintf("%d号码头的%s多少钱？", n, s.pick("吊车", "绞车", "缆绳")), fmt.Sprintf("让我看看。每天 %d 元。", n*13))
	},
	"todos": func(s *saga, n int) {
		s.talk(fmt.Sprintf("TODO: paint pier %d.", n), "I will remind you.")
		s.talk(fmt.Sprintf("待办：修理%d号吊车", n), "记下了。")
		if n > 2 {
			s.talk(fmt.Sprintf("I painted pier %d.", n-2), fmt.Sprintf("- [x] paint pier %d", n-2))
			s.talk(fmt.Sprintf("%d号吊车已修理。", n-2), "好的！")
		}
		s.talk("Never deploy on a Friday.", fmt.Sprintf("Understood. The harbour had %d guests because of the fair.", n*11))
	},
	"agent": func(s *saga, n int) {
		file := fmt.Sprintf("src/%s/%d.go", s.pick("tide", "pier", "crane"), n)
		s.say("user", map[string]any{"type": "text",
			"text": fmt.Sprintf("Make the test of %s pass, it fails since build %d.", file,
				n*17)})
		s.work("Read", map[string]any{"file_path": file},
			strings.Repeat(fmt.Sprintf("func tide%d() int { return %d }\n", n, n), 40))
		s.work("Grep", map[string]any{"pattern": fmt.Sprint("tide", n), "path": "src"}, file+":3: tide")
		s.work("Bash", map[string]any{"command": fmt.Sprintf("go test ./src/%d/...", n)},
			fmt.Sprintf("Exit code 1\n%s:%d:9: undefined: flood%d\nFAIL\n", file, n,
				n)+strings.Repeat("--- PASS: TestOther (0.00s)\n", 30))
		s.work("Edit", map[string]any{"file_path": file, "old_string": "flood", "new_string": "tide"}, "updated")
		s.work("Bash", map[string]any{"command": fmt.Sprintf("go test ./src/%d/...", n)},
			"ok\n"+strings.Repeat("--- PASS: TestOther (0.00s)\n", 30))
		s.say("assistant", map[string]any{"type": "text",
			"text": fmt.Sprintf("The test passes: flood%d was renamed to tide%d in May.", n, n)})
		s.talk(s.pick("thanks", "ok thanks!", "Please always run the tests before you say it works."), "Sure.")
	},
	"代理": func(s *saga, n int) {
		file := fmt.Sprintf("文档/第%d章.md", n)
		s.say("user", map[string]any{"type": "text", "text": fmt.Sprintf("请把%s里的水位改成 %d 米。", file, n*3)})
		s.work("read_file", map[string]any{"absolute_path": file}, strings.Repeat(fmt.Sprintf("第%d章：水位表\n", n), 60))
		s.work("replace", map[string]any{"file_path": file, "old_string": "旧", "new_string": "新"}, "ok")
		s.work("run_shell_command", map[string]any{"command": fmt.Sprintf("make 第%d章", n)},
			fmt.Sprintf("Error: 第%d章: 找不到图片 %d.png",
				n, n))
		s.say("assistant", map[string]any{"type": "text", "text": fmt.Sprintf("水位已改成 %d 米，但缺少图片 %d.png，因为它没有提交。", n*3, n)})
		s.talk(s.pick("好的，谢谢", "以后不要改标题。"), "好的。")
	},
}

// worthRequest returns the last request of a conversation that was imported, folded as it came
// in, and then went on for a few turns.
func worthRequest(t *testing.T, file, policy string, limit int64) model.Request {
	t.Helper()
	r := enginetest.New(t, enginetest.Options{Limit: limit, Policy: policy, NoFolds: true, Summaries: true},
		modeltest.Step{Reply: func(q model.Request) []model.Delta {
			if len(q.Tools) == 0 {
				return []model.Delta{{Text: asked(q, "the harbour is kept in order")}}
			}
			return []model.Delta{{Text: "So it is."}}
		}})
	res, err := r.ImportText(file)
	if err != nil || len(res.Conversations) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	id := res.Conversations[0].ID
	for i := range 3 {
		if i == 1 {
			_, _ = r.Compact(context.Background(), id, engine.CompactRequest{Force: true})
		}
		r.Ask(id, fmt.Sprintf("And what about berth %d?", i)).WantDone(t, scrollback.TurnComplete, "stop")
	}
	reqs := r.Script.Requests()
	for i := range reqs {
		if q := reqs[len(reqs)-1-i]; len(q.Tools) > 0 {
			return q
		}
	}
	t.Fatal("nothing was asked")
	return model.Request{}
}

var (
	lineHead = regexp.MustCompile(`^- (#\d+ \w+( \(\d+×\))?: )?`)
	refs     = regexp.MustCompile(`history:[0-9a-f-]+`)
	idleWord = regexp.MustCompile(`(?i)^(hi there|thanks( a lot)?|ok thanks|great go on|sure|you re welcome|sure happy to help|great|noted|` +
		`i hope this helps|你好|谢谢|好的收到|好的谢谢|太棒了辛苦了|不客气|好的没问题|好的|明白了|记下了|let me check|让我看看|so it is|none|understood)$`)
)

// plainWords returns a text in lower case with nothing but letters and digits, and one space
// between words.
func plainWords(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// worth counts the tokens of the folded block, and those of its lines that say something
// which is said nowhere else in the request.
func worth(q model.Request) (useful, all int) {
	var block, rest string
	for _, it := range q.Items {
		if it.Kind == scrollback.KindFolded {
			block = it.Parts.Text()
		} else if it.Kind != scrollback.KindTools {
			rest += " " + plainWords(it.Parts.Text())
		}
	}
	lines := strings.Split(block, "\n")
	plain := make([]string, len(lines))
	for i, l := range lines {
		plain[i] = plainWords(refs.ReplaceAllString(lineHead.ReplaceAllString(l, ""), ""))
	}
	for i, p := range plain {
		n := token.Count(lines[i] + "\n")
		all += n
		if p == "" || idleWord.MatchString(p) || strings.Contains(" "+rest+" ", " "+p+" ") {
			continue
		}
		elsewhere := false
		for k, other := range plain {
			if k != i && strings.Contains(" "+other+" ", " "+p+" ") && (other != p || k < i) {
				elsewhere = true
			}
		}
		if !elsewhere {
			useful += n
		}
	}
	return useful, all
}

// rounds is how long the conversations are that blocks are measured on.
const rounds = 50

// Most of the block says something that is said nowhere else in the window.
func TestBlockIsWorthItsTokens(t *testing.T) {
	testlength.SkipShort(t)
	for _, policy := range compact.Names()[1:] {
		for _, limit := range []int64{8000, 16_000} {
			var useful, all int
			for name, round := range sagas {
				s := &saga{rng: rand.New(rand.NewPCG(7, uint64(limit)))}
				for n := range rounds {
					round(s, n+1)
				}
				u, a := worth(worthRequest(t, s.out.String(), policy, limit))
				t.Logf("%s at %d, %s: %d of %d tokens", policy, limit, name, u, a)
				useful += u
				all += a
			}
			var file strings.Builder
			if _, _, err := sample.WriteSample(&file, "a mix", sample.Options{Seed: 5, Messages: 200}); err != nil {
				t.Fatal(err)
			}
			u, a := worth(worthRequest(t, file.String(), policy, limit))
			useful += u
			all += a
			share := float64(useful) / float64(all)
			t.Logf("%s at %d: %d of %d tokens, %.2f", policy, limit, useful, all, share)
			if all < 1000 || share < 0.85 {
				t.Errorf("%s at %d: %.2f of the block says something new", policy, limit, share)
			}
		}
	}
}
