package offline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/offline"
)

const (
	selfEN = "I am the built-in offline model: I find and quote what was said and do not reason; " +
		"for a real model use `--model provider/name`."
	selfZH  = "我是内置的离线模型：只查找并引用对话里的原话，不会推理；要用真正的模型，请加 `--model provider/name`。"
	foundEN = "From this conversation:\n"
	foundZH = "对话里的原话：\n"
	nearEN  = "I found nothing that answers this exactly. The nearest I have:\n"
	noneEN  = "I found nothing about this in the conversation. " + selfEN
	noneZH  = "在这段对话里没有找到相关内容。" + selfZH
)

// talk reads a conversation of one message a line, "role: text", seqs from 1;
// \n in a text is a line end.
func talk(lines string) model.Request {
	var r model.Request
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		role, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		text = strings.ReplaceAll(text, `\n`, "\n")
		it := item(int64(len(r.Items)+1), scrollback.Role(role), scrollback.Text{Text: text})
		if it.Role == scrollback.RoleTool {
			it.Parts = scrollback.Parts{scrollback.ToolResult{CallID: "c", Name: "shell", Text: text}}
		}
		r.Items = append(r.Items, it)
	}
	return r
}

func item(seq int64, role scrollback.Role, ps ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Seq: seq, Parts: ps,
		Weight: scrollback.Weight{Tokens: 10}}
}

func ask(t *testing.T, r model.Request) modeltest.Answer {
	t.Helper()
	a, err := modeltest.Read(offline.New(nil).Stream(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var windowCases = []struct{ name, talk, want string }{
	{"a fact", `
			user: The access code of the red depot is 1111-222. The access code of the blue depot is 7F3K-221.
			assistant: Noted.
			user: What is the access code of the blue depot?`,
		foundEN + "[#1] “The access code of the blue depot is 7F3K-221.”"},
	{"一个事实", `
			user: 红色仓库的门禁码是 1111-222。蓝色仓库的门禁码是 7F3K-221。
			assistant: 已记下。
			user: 蓝色仓库的门禁码是多少？`,
		foundZH + "[#1] “蓝色仓库的门禁码是 7F3K-221。”"},
	{"字序略有不同", `
			user: 蓝色仓库的门禁码是 7F3K-221。
			user: 请问蓝色仓库门禁码是什么`,
		foundZH + "[#1] “蓝色仓库的门禁码是 7F3K-221。”"},
	{"mixed scripts", `
			user: PostgreSQL 的端口是 5433。
			user: 请问 PostgreSQL 的端口是多少？`,
		foundZH + "[#1] “PostgreSQL 的端口是 5433。”"},
	{"the newer of two", `
			user: The launch code is 1234.
			user: The launch code is 9999.
			user: what is the launch code`,
		foundEN + "[#2] “The launch code is 9999.”\n[#1] “The launch code is 1234.”"},
	{"a user before another model", `
			assistant: The launch code is 9999, as far as I know.
			user: The launch code is 1234.
			user: What is the launch code?`,
		foundEN + "[#2] “The launch code is 1234.”\n[#1] “The launch code is 9999, as far as I know.”"},
	{"a tool's output", `
			tool: total 3 - server started on port 8081 - ready
			user: On which port has the server started?`,
		foundEN + "[#1] “total 3 - server started on port 8081 - ready”"},
	{"the original before its echo", `
			user: The launch code is 1234.
			user: What is the launch code?
			assistant: From this conversation:\n[#1] “The launch code is 1234.”
			user: Tell me the launch code.`,
		foundEN + "[#1] “The launch code is 1234.”"},
	{"an echo whose original is folded", `
			assistant: From this conversation:\n[#77] “The launch code is 1234.”
			user: Tell me the launch code.`,
		foundEN + "[#77] “The launch code is 1234.”"},
	{"words that stand together", `
			user: The access code of the red depot, which is near the blue one, is 1.
			user: The access code of the blue depot, which is near the red one, is 2.
			user: What is the access code of the blue depot?`,
		foundEN + "[#2] “The access code of the blue depot, which is near the red one, is 2.”\n" +
			"[#1] “The access code of the red depot, which is near the blue one, is 1.”"},
	{"a phrase without a verb", `
			user: The launch code is 1234.
			user: launch code`,
		foundEN + "[#1] “The launch code is 1234.”"},
	{"near, not exact", `
			user: My dog is called Rex.
			assistant: Noted.
			user: What is my dog's name?`,
		nearEN + "[#1] “My dog is called Rex.”"},
	{"another depot", `
			user: The access codes of the red depot and of the green one are secret.
			user: Is the cafeteria open?`, noneEN},
	{"没有", `
			user: 今天天气很好。
			user: 蓝色仓库的门禁码是多少？`, noneZH},
	{"asked twice", `
			user: What is the launch code?
			assistant: ` + noneEN + `
			user: What is the launch code?`, noneEN},
}

func TestAnswersFromTheWindow(t *testing.T) {
	for _, c := range windowCases {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(t, talk(c.talk)); got.Text != c.want || got.Finish != scrollback.FinishStop {
				t.Errorf("got  %s (%s)\nwant %s", got.Text, got.Finish, c.want)
			}
		})
	}
}

// A plain statement is acknowledged; with tools at hand it still calls none.
func TestStatements(t *testing.T) {
	for _, c := range []struct{ talk, want string }{
		{"user: The access code of the blue depot is 7F3K-221.", "Noted. " + selfEN},
		{"user: 蓝色仓库的门禁码是 7F3K-221。", "已记下。" + selfZH},
		{"user: 没什么问题，先这样。", "已记下。" + selfZH},
		{"user: The depots are many.\nassistant: Noted. " + selfEN + "\nuser: The red depot is closed.", "Noted."},
		{"user: 仓库很多。\nassistant: 已记下。" + selfZH + "\nuser: 红色仓库关了。", "已记下。"},
		{"user: The code of the red depot is 5.\nassistant: Noted. " + selfEN + "\nuser: The code of the blue depot is 6.",
			"Noted."},
		{"user: Hello!", "Noted. " + selfEN},
		{"user: When we arrive, the depot closes.", "Noted. " + selfEN},
		{"user: Who are you?", selfEN},
		{"user: 你是谁？", selfZH},
		{"assistant: Hello.", selfEN},
	} {
		r := talk(c.talk)
		a := ask(t, r)
		if a.Text != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.talk, a.Text, c.want)
		}
		r.Tools = recallTools
		if a := ask(t, r); len(a.Calls) > 0 {
			t.Errorf("%q calls %s", c.talk, a.Calls[0].Name)
		}
	}
}

func TestNeedle(t *testing.T) {
	colours := []string{"red", "green", "light", "dark", "grey", "northern", "old", "new", "upper", "third"}
	farben := []string{"红色", "绿色", "黑色", "白色", "灰色", "北方", "旧", "新", "上层", "第三"}
	var r model.Request
	for i := range 3000 {
		n := i % len(colours)
		m := i / len(colours)
		text := fmt.Sprintf("The access code of the %s depot %d is %04d-%d.", colours[n], m, i, i%7)
		if i%2 == 1 {
			text = fmt.Sprintf("%s仓库 %d 的门禁码是 %04d-%d。", farben[n], m, i, i%7)
		}
		switch i {
		case 1234:
			text = "The access code of the blue depot is 7F3K-221."
		case 2345:
			text = "蓝色仓库的门禁码是 9QXZ-118。"
		}
		r.Items = append(r.Items, item(int64(i+1), scrollback.RoleUser, scrollback.Text{Text: text}))
	}
	for question, want := range map[string]string{
		"What is the access code of the blue depot?": foundEN + "[#1235] “The access code of the blue depot is 7F3K-221.”",
		"蓝色仓库的门禁码是多少？":                               foundZH + "[#2346] “蓝色仓库的门禁码是 9QXZ-118。”",
		"What is the access code of the pink depot?": noneEN,
		"紫色仓库的门禁码是多少？":                               noneZH,
	} {
		asked := r
		asked.Items = append(asked.Items[:3000:3000], item(3001, scrollback.RoleUser, scrollback.Text{Text: question}))
		if got := ask(t, asked); got.Text != want {
			t.Errorf("%s\ngot  %s\nwant %s", question, got.Text, want)
		}
	}
}

// References of the question's own message are sources; so is the rest of a long
// message around its question. Folded text and instructions are not.
func TestSources(t *testing.T) {
	fact := "The launch code is 1234."
	want := foundEN + "[#5] “" + fact + "”"
	question := scrollback.Text{Text: "What is the launch code?"}
	long := scrollback.Text{Text: strings.Repeat("The weather stays fine over the hills. ", 20) + fact + " " +
		question.Text}
	other := func(kind scrollback.ItemKind, role scrollback.Role) scrollback.Item {
		it := item(4, role, scrollback.Text{Text: fact})
		it.Kind = kind
		return it
	}
	for name, c := range map[string]struct {
		items []scrollback.Item
		want  string
	}{
		"reference": {[]scrollback.Item{item(5, scrollback.RoleUser, question,
			scrollback.Text{Text: "```\n" + fact + "\n```"})}, want},
		"long": {[]scrollback.Item{item(5, scrollback.RoleUser, long)}, want},
		"one huge line": {[]scrollback.Item{item(4, scrollback.RoleUser,
			scrollback.Text{Text: strings.Repeat("a b ", 1<<18)}),
			item(5, scrollback.RoleUser, question)}, noneEN},
		"folded": {[]scrollback.Item{other(scrollback.KindFolded, scrollback.RoleUser),
			item(5, scrollback.RoleUser, question)}, noneEN},
		"instructions": {[]scrollback.Item{other(scrollback.KindMessage, scrollback.RoleSystem),
			item(5, scrollback.RoleUser, question)}, noneEN},
		"image only": {[]scrollback.Item{item(5, scrollback.RoleUser, scrollback.Image{Artifact: "a"})}, "Noted. " + selfEN},
	} {
		if got := ask(t, model.Request{Items: c.items}); got.Text != c.want {
			t.Errorf("%s: got %s\nwant %s", name, got.Text, c.want)
		}
	}
}

func TestLength(t *testing.T) {
	r := talk("user: The launch code is 1234, " + strings.Repeat("and so on, ", 200) + "\nuser: What is the launch code?")
	full := ask(t, r)
	if n := len([]rune(full.Text)); n > 700 {
		t.Errorf("%d characters quoted", n)
	}
	r.MaxOutputTokens = 12
	cut := ask(t, r)
	if cut.Finish != scrollback.FinishLength || !strings.HasPrefix(full.Text, cut.Text) || cut.Usage.OutputTokens > 12 {
		t.Errorf("%+v, usage %+v", cut, cut.Usage)
	}
	if u := full.Usage; !u.Estimated || u.InputTokens != 20 || u.TotalTokens != u.InputTokens+u.OutputTokens {
		t.Errorf("usage %+v", u)
	}
}

// The pieces are small, and the pace lies between them, by a timer.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talk("user: 蓝色仓库的门禁码是 7F3K-221。\nuser: 蓝色仓库的门禁码是多少？")
		start := time.Now()
		a, err := modeltest.Read(offline.New(&offline.Options{Pace: time.Second}).Stream(t.Context(), r))
		if err != nil {
			t.Fatal(err)
		}
		texts := len(a.Deltas) - 1
		if took := time.Since(start); texts < 7 || took != time.Duration(texts-1)*time.Second {
			t.Errorf("%d pieces took %s", texts, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start = time.Now()
		a, err = modeltest.Read(offline.New(&offline.Options{Pace: time.Second}).Stream(ctx, r))
		if scrollback.CodeOf(err) != scrollback.Canceled || len(a.Deltas) != 2 || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("%d deltas after %s, %v", len(a.Deltas), time.Since(start), err)
		}
	})
}

// Whatever stands in a window or in a result, there is one whole answer.
func FuzzAnswer(f *testing.F) {
	f.Add("What is the launch code?", "The launch code is 1234.", `{"hits":[{"seq":1,"content":"x"}]}`)
	f.Add("门禁码是多少？", "门禁码是“一。”二", `{"matches":[{"ref":null,"content":"\u12`)
	f.Fuzz(func(t *testing.T, question, text, result string) {
		r := model.Request{Tools: recallTools, Items: []scrollback.Item{
			item(1, scrollback.RoleUser, scrollback.Text{Text: text}),
			item(2, scrollback.RoleUser, scrollback.Text{Text: question})}}
		for step := range 3 {
			a := ask(t, r)
			if a.Finish == "" || (len(a.Calls) == 0) == (a.Text == "") {
				t.Fatalf("%+v", a)
			}
			if len(a.Calls) == 0 {
				return
			}
			if step == 2 || !json.Valid(a.Calls[0].Arguments) {
				t.Fatalf("step %d calls %s of %s", step, a.Calls[0].Name, a.Calls[0].Arguments)
			}
			r = answered(r, a.Calls[0], result, false)
		}
	})
}

// What a prompt refers to is where its answer is looked for, and the name of the file is no
// part of the question; neither the heading of a block nor an error is quoted.
func TestReferences(t *testing.T) {
	block := func(mark, text string, r scrollback.Reference) scrollback.Text {
		r.Mark = mark
		r.Source = mark
		r.Kind = scrollback.ReferenceFile
		return scrollback.Text{Text: text, Reference: &r}
	}
	harbour := block("harbour.md",
		"[file harbour.md, version 1]\n````markdown\n# The harbour\nThe spare key hangs behind the lighthouse.\n"+
			"The third bollard is loose.\n````\n", scrollback.Reference{Version: 1})
	table := block("潮汐表.md", "[file 潮汐表.md, version 1]\n```markdown\n七月一日的高潮在早上六点二十分。\n```\n",
		scrollback.Reference{Version: 1})
	for _, c := range []struct {
		says  string
		parts []scrollback.Part
		want  string
	}{
		{"Where does the spare key hang? @[harbour.md]", []scrollback.Part{harbour},
			foundEN + "[#1] “The spare key hangs behind the lighthouse.”"},
		{"Where does the spare key hang? @harbour.md @[missing/secret.txt]", []scrollback.Part{harbour,
			block("missing/secret.txt", "[file missing/secret.txt: not found]", scrollback.Reference{Error: "not found"})},
			foundEN + "[#1] “The spare key hangs behind the lighthouse.”"},
		{"七月一日的高潮在何时？@[潮汐表.md]", []scrollback.Part{table}, foundZH + "[#1] “七月一日的高潮在早上六点二十分。”"},
		{"What is missing? @[missing/secret.txt]", []scrollback.Part{
			block("missing/secret.txt", "[file missing/secret.txt: not found]", scrollback.Reference{Error: "not found"})},
			noneEN},
	} {
		parts := append([]scrollback.Part{scrollback.Text{Text: c.says}}, c.parts...)
		r := model.Request{Items: []scrollback.Item{item(1, scrollback.RoleUser, parts...)}}
		if got := ask(t, r).Text; got != c.want {
			t.Errorf("%s\n%s\nwant\n%s", c.says, got, c.want)
		}
	}
}
