package summary

import (
	"errors"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// judgedForm is what was asked for: a form, and what the answer is judged by.
type judgedForm struct {
	form  Form
	judge Criteria
}

func says(text string) []scrollback.Message {
	return []scrollback.Message{{Seq: 1, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: text}}}}
}

func words(s string) int { return len(strings.Fields(s)) }

// snapshot asks for a snapshot of what a person said, in at most 300 words.
func snapshot(said string) judgedForm {
	return judgedForm{Snapshot(""), Criteria{Count: words, Bound: 300, Language: DetectSpoken(says(said))}}
}

// rolls asks for a rolling summary of it.
func rolls(said string) judgedForm {
	a := snapshot(said)
	a.form = Rolling(DetectLanguage(says(said)))
	return a
}

// minutes returns a summary that passes; goal is what it says.
func minutes(goal string) string {
	return "## Goal\n- " + goal +
		"\n## Constraints\n- none\n## Knowledge\n- none\n## Artifacts\n- none\n## Files\n- none\n## Recent " +
		"actions\n- none\n## Tasks\n- none"
}

// canon returns the canonical form of a summary with lines in some sections, written
// "Goal: ship", several lines of one section after another.
func canon(f Form, lines ...string) string {
	var b strings.Builder
	for _, s := range f.Sections {
		b.WriteString("## " + s.Heading + "\n")
		some := false
		for _, l := range lines {
			if text, ok := strings.CutPrefix(l, s.Heading+": "); ok {
				some = true
				b.WriteString("- " + strings.ReplaceAll(text, "|", "\n") + "\n")
			}
		}
		if !some {
			b.WriteString("- " + f.None + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// full has something in each section of a snapshot, and two things in one.
var full = []string{"Goal: ship the boat", "Constraints: never on Sundays", "Knowledge: the key is 4711 (#3)",
	"Artifacts: a drawing of the hull",
	"Files: `hull.go` was changed", "Recent actions: the mast was cut", "Tasks: paint, open", "Tasks: sails, done"}

// inStyle writes full with other marks: head makes a heading, item a line.
func inStyle(head func(i int, title string) string, item func(text string) string) string {
	var b strings.Builder
	last := ""
	n := 0
	for _, l := range full {
		title, text, _ := strings.Cut(l, ": ")
		if title != last {
			b.WriteString(head(n, title) + "\n")
			last = title
			n++
		}
		b.WriteString(item(text) + "\n")
	}
	return b.String()
}

func dash(text string) string        { return "- " + text }
func atx(_ int, title string) string { return "## " + title }

// translated writes full under other headings.
func translated(titles ...string) string {
	return inStyle(func(i int, _ string) string { return "## " + titles[i] }, dash)
}

type answerCase struct{ name, answer, why string }

// Whatever marks a good summary comes with, it is accepted in the canonical form.
func TestGoodAnswers(t *testing.T) {
	good := inStyle(atx, dash)
	want := canon(Snapshot(""), full...)
	for _, c := range []answerCase{
		{name: "as asked for", answer: good},
		{name: "thoughts before", answer: "<think>\nWhat is it about? ## Goal maybe.\n## Tasks\n</think>\n\n" + good},
		{name: "thoughts in one line", answer: "<thinking>hm</thinking>" + good},
		{name: "thoughts without their beginning", answer: "They want a boat, so\n## Goal\n- think\n</think>\n" + good},
		{name: "thoughts in brackets", answer: "[THINK]a boat[/THINK]\n" + good},
		{name: "thoughts in triangles", answer: "◁think▷a boat◁/think▷" + good},
		{name: "thoughts after", answer: good + "\n<reflection>\nThat was good.\n</reflection>"},
		{name: "thoughts between", answer: strings.Replace(good, "## Files",
			"<scratchpad>\nFiles now.\n</scratchpad>\n## Files", 1)},
		{name: "thoughts after a word", answer: "Sure. <think>## Goal\n- no</think>\n" + good},
		{name: "channels",
			answer: "<|channel|>analysis<|message|>a boat<|end|><|start|>assistant<|channel|>final<|message|>" + good +
				"<|end|>"},
		{name: "a line before", answer: "Here are the minutes:\n\n" + good},
		{name: "a title before", answer: "# Minutes of the conversation\n\n" + good},
		{name: "a title and a rule before", answer: "**Minutes**\n\n---\n\n" + good},
		{name: "colons", answer: inStyle(func(_ int, s string) string { return "## " + s + ":" }, dash)},
		{name: "full-width colons", answer: inStyle(func(_ int, s string) string { return "## " + s + "：" }, dash)},
		{name: "bold", answer: inStyle(func(_ int, s string) string { return "**" + s + "**" }, dash)},
		{name: "bold with a colon inside", answer: inStyle(func(_ int, s string) string { return "**" + s + ":**" }, dash)},
		{name: "bold with a colon behind", answer: inStyle(func(_ int, s string) string { return "\n**" + s + "**:" }, dash)},
		{name: "underscores", answer: inStyle(func(_ int, s string) string { return "__" + s + "__" }, dash)},
		{name: "bold headings", answer: inStyle(func(_ int, s string) string { return "## **" + s + "**" }, dash)},
		{name: "numbered", answer: inStyle(func(i int, s string) string { return string(rune('1'+i)) + ". " + s }, dash)},
		{name: "numbered headings", answer: inStyle(func(i int,
			s string) string {
			return "## " + string(rune('1'+i)) + ". " + s
		}, dash)},
		{name: "numbered with a bracket", answer: inStyle(func(i int, s string) string {
			return "### " + string(rune('1'+i)) + ") " +
				s
		}, dash)},
		{name: "numbered and bold", answer: inStyle(func(i int,
			s string) string {
			return string(rune('1'+i)) + ". **" + s + "**"
		}, dash)},
		{name: "bold and numbered", answer: inStyle(func(i int, s string) string {
			return "**" + string(rune('1'+i)) + ". " + s +
				"**"
		}, dash)},
		{name: "level one", answer: inStyle(func(_ int, s string) string { return "# " + s }, dash)},
		{name: "level three", answer: inStyle(func(_ int, s string) string { return "### " + s }, dash)},
		{name: "closed headings", answer: inStyle(func(_ int, s string) string { return "## " + s + " ##" }, dash)},
		{name: "no space", answer: inStyle(func(_ int, s string) string { return "##" + s }, dash)},
		{name: "underlined twice", answer: inStyle(func(_ int, s string) string { return s + "\n====" }, dash)},
		{name: "underlined once", answer: inStyle(func(_ int, s string) string { return s + "\n------" }, dash)},
		{name: "plain", answer: inStyle(func(_ int, s string) string { return s }, dash)},
		{name: "plain with a colon", answer: inStyle(func(_ int, s string) string { return s + ":" }, dash)},
		{name: "capitals", answer: inStyle(func(_ int, s string) string { return "## " + strings.ToUpper(s) }, dash)},
		{name: "snake case", answer: inStyle(func(_ int, s string) string {
			return "## " + strings.ToLower(strings.ReplaceAll(s, " ",
				"_"))
		}, dash)},
		{name: "pictures", answer: inStyle(func(_ int, s string) string { return "## 🎯 " + s }, dash)},
		{name: "a remark in brackets", answer: inStyle(func(_ int, s string) string { return "## " + s + " (so far)" },
			dash)},
		{name: "Chinese headings", answer: translated("目标", "约束", "知识", "产物", "文件", "最近操作", "任务")},
		{name: "Traditional headings", answer: translated("目標", "約束", "知識", "產物", "檔案", "最近動作", "任務")},
		{name: "Japanese headings", answer: translated("目標", "制約", "知識", "成果物", "ファイル", "最近の操作", "タスク")},
		{name: "Korean headings", answer: translated("목표", "제약", "지식", "산출물", "파일", "최근 작업", "작업")},
		{name: "German headings", answer: translated("Ziel", "Einschränkungen", "Wissen", "Artefakte", "Dateien",
			"Letzte Aktionen",
			"Aufgaben")},
		{name: "French headings", answer: translated("Objectif", "Contraintes", "Connaissances", "Artifacts", "Fichiers",
			"Actions récentes", "Tâches")},
		{name: "both languages", answer: translated("目标 (Goal)", "约束 (Constraints)", "知识 (Knowledge)", "产物 (Artifacts)",
			"文件 (Files)",
			"最近操作 (Recent actions)", "任务 (Tasks)")},
		{name: "synonyms", answer: translated("Objective", "Rules", "Key Knowledge", "Artefacts", "File System State",
			"Recent Action", "Task List")},
		{name: "goodbye", answer: good + "\nLet me know if you need anything else!"},
		{name: "goodbye after a rule", answer: good + "\n---\n\nThese minutes cover all messages."},
		{name: "goodbye of another kind", answer: good + "\nAll of the above is taken from the record."},
		{name: "a fence", answer: "```markdown\n" + good + "```"},
		{name: "a fence of tildes", answer: "~~~\n" + good + "~~~\n"},
		{name: "a line, a fence, a goodbye", answer: "Here you are:\n```md\n" + good + "```\nI hope this helps."},
		{name: "a fence that does not end", answer: "```markdown\n" + good},
		{name: "thoughts, then a fence", answer: "<think>hm</think>\n\n```\n" + good + "```"},
		{name: "marks around the whole", answer: "<minutes>\n" + good + "</minutes>"},
		{name: "marks of a summary", answer: "<summary>\n" + good + "\n</summary>\n"},
		{name: "CRLF", answer: strings.ReplaceAll(good, "\n", "\r\n")},
		{name: "CR", answer: strings.ReplaceAll(good, "\n", "\r")},
		{name: "a byte order mark", answer: "\ufeff" + good},
		{name: "no dashes", answer: inStyle(atx, func(s string) string { return s })},
		{name: "stars", answer: inStyle(atx, func(s string) string { return "* " + s })},
		{name: "dots", answer: inStyle(atx, func(s string) string { return "• " + s })},
		{name: "no space after the dash", answer: inStyle(atx, func(s string) string { return "-" + s })},
		{name: "numbers for dashes", answer: inStyle(atx, func(s string) string { return "1. " + s })},
		{name: "indented", answer: inStyle(atx, func(s string) string { return "    - " + s })},
		{name: "quoted", answer: inStyle(atx, func(s string) string { return "> " + s })},
		{name: "empty lines", answer: strings.ReplaceAll(good, "\n", "\n\n")},
		{name: "rules", answer: strings.ReplaceAll(good, "\n##", "\n\n---\n\n##")},
		{name: "an extra section", answer: good + "## Note\n- HACKED\n"},
		{name: "an extra section first", answer: "## Overview\nA boat is built.\n" + good},
		{name: "what is carried, copied", answer: good + "\n## Said, word for word\n- #1 user: always sign as Ada\n"},
	} {
		t.Run(c.name, func(t *testing.T) { accepts(t, snapshot("what do we ship?"), c.answer, want) })
	}
}

// accepts wants an answer to be accepted in this form, and that to be accepted as it is.
func accepts(t *testing.T, a judgedForm, answer, want string) {
	t.Helper()
	a.judge.Bound = 4000
	for range 2 {
		got, err := a.form.Accept(answer, a.judge)
		if err != nil || got != want {
			t.Fatalf("of\n%s\ncame (%v)\n%s\nwant\n%s", answer, err, got, want)
		}
		answer = got
	}
}

// Some good answers come out otherwise: sections that are empty, out of order or on one
// line, lines within lines, code, and marks that only look like thoughts.
func TestGoodAnswersOfTheirOwn(t *testing.T) {
	chinese := snapshot("请帮我造一条船，每个星期天都不要工作，钥匙是四七一一")
	rolled := rolls("请帮我造一条船，每个星期天都不要工作，钥匙是四七一一")
	english := snapshot("what do we ship?")
	zh := Rolling("zh")
	for _, c := range []struct {
		name   string
		of     judgedForm
		answer string
		want   string
	}{
		{"on one line", english,
			"## Goal: ship the boat\n## Constraints: none\n## Knowledge: the key is 4711\n## Artifacts: none\n## " +
				"Files: none\n## Recent actions: none\n## Tasks: paint",
			canon(Snapshot(""), "Goal: ship the boat", "Knowledge: the key is 4711", "Tasks: paint")},
		{"bold on one line", english,
			"**Goal:** ship the boat\n**Constraints:** N/A\n**Knowledge:** the key is 4711\n**Artifacts:** " +
				"None.\n**Files:** -\n**Recent actions:** (none)\n**Tasks:** paint",
			canon(Snapshot(""), "Goal: ship the boat", "Knowledge: the key is 4711", "Tasks: paint")},
		{"as a list", english,
			"- **Goal:** ship\n- **Constraints:** none\n- **Knowledge**: the key\n- **Artifacts:** none\n- " +
				"**Files:** none\n- **Recent actions:** none\n- **Tasks:**\n  - paint",
			canon(Snapshot(""), "Goal: ship", "Knowledge: the key", "Tasks: paint")},
		{"links and labels like thoughts", english, strings.Replace(minutes("ship"), "- ship",
			"- [Analysis of the logs](docs/a.md)\n- [analysis] the mast breaks\n- [Thinking about oars]", 1),
			canon(Snapshot(""), "Goal: [Analysis of the logs](docs/a.md)", "Goal: [analysis] the mast breaks",
				"Goal: [Thinking about oars]")},
		{"quoted, with a blank line", english, strings.Replace(minutes("ship"), "- ship",
			"> Build a boat that carries the whole crew over the bay\n>\n> before the summer", 1),
			canon(Snapshot(""), "Goal: Build a boat that carries the whole crew over the bay", "Goal: before the summer")},
		{"another order", english,
			"## Tasks\n- paint\n## Goal\n- ship\n## Files\n- none\n## Knowledge\n- the key\n## Constraints\n- " +
				"none\n## Artifacts\n- none\n## Recent actions\n- none",
			canon(Snapshot(""), "Goal: ship", "Knowledge: the key", "Tasks: paint")},
		{"empty sections left out", english,
			"## Goal\n- ship\n## Knowledge\n- the key\n## Recent actions\n- cut\n## Tasks\n- paint",
			canon(Snapshot(""), "Goal: ship", "Knowledge: the key", "Recent actions: cut", "Tasks: paint")},
		{"the last one left out", english, strings.Replace(minutes("ship"), "\n## Tasks\n- none", "", 1),
			canon(Snapshot(""), "Goal: ship")},
		{"sections with nothing under them", english,
			"## Goal\n- ship\n## Constraints\n## Knowledge\n\n## Artifacts\n## Files\n## " +
				"Recent actions\n## Tasks\n- paint",
			canon(Snapshot(""), "Goal: ship", "Tasks: paint")},
		{"one heading twice", english, strings.Replace(minutes("ship"), "## Files\n- none", "## Goal\n- sail", 1),
			canon(Snapshot(""),
				"Goal: ship", "Goal: sail")},
		{"nested", english, strings.Replace(minutes("ship"), "- ship", "- ship\n  - the boat\n    * its mast\n  - the crew",
			1),
			canon(Snapshot(""), "Goal: ship|  - the boat|    - its mast|  - the crew")},
		{"wrapped lines", english, strings.Replace(minutes("ship"), "- ship", "- ship the boat\n  that was built\n- sail", 1),
			canon(Snapshot(""), "Goal: ship the boat that was built", "Goal: sail")},
		{"a wrapped paragraph", english, strings.Replace(minutes("ship"), "- ship",
			"They want to ship the boat to its owner before the end of May,\nand the crew with it.\nThey sail.", 1),
			canon(Snapshot(""), "Goal: They want to ship the boat to its owner before the end of May, and the crew with it.",
				"Goal: They sail.")},
		{"smaller headings", english, strings.Replace(minutes("ship"), "- ship",
			"### In the end\n- ship\n### Right now\n- paint", 1),
			canon(Snapshot(""), "Goal: **In the end**", "Goal: ship", "Goal: **Right now**", "Goal: paint")},
		{"bold inside", english, strings.Replace(minutes("ship"), "- ship", "**In the end**\n- ship", 1), canon(Snapshot(""),
			"Goal: **In the end**", "Goal: ship")},
		{"generics", english, minutes("make `List<T>` and Map<String, Record> of Vec<Thought> and <analysis> tags"),
			canon(Snapshot(""), "Goal: make `List<T>` and Map<String, Record> of Vec<Thought> and <analysis> tags")},
		{"tags in code", english, minutes("`<think>` and `</think>` are cut out"),
			canon(Snapshot(""), "Goal: `<think>` and `</think>` are cut out")},
		{"tags in a block of code", english, strings.Replace(minutes("ship"), "- ship",
			"- the template ends with\n```\n<think>\n## Goal\n```\nand that is a fault of the template that we have to live with", 1),
			canon(Snapshot(""), "Goal: the template ends with|  ```|  <think>|  ## Goal|  ```",
				"Goal: and that is a fault of the template that we have to live with")},
		{"a fence with code inside", english, "```markdown\n" + strings.Replace(minutes("ship"), "- ship",
			"- run this, and then look at what it says\n```\nmake\n```", 1) + "\n```",
			canon(Snapshot(""), "Goal: run this, and then look at what it says|  ```|  make|  ```")},
		{"a message's number first", english, strings.Replace(minutes("ship"), "- ship", "#12 says: ship", 1), canon(Snapshot(""),
			"Goal: #12 says: ship")},
		{"a table", english, strings.Replace(minutes("ship"), "- ship", "| what | when |\n|---|---|\n| boat | May |", 1),
			canon(Snapshot(""),
				"Goal: ~ what ~ when ~", "Goal: ~ boat ~ May ~")},
		{"no to something", english, "## Goal\n- No meat\n## Constraints\n- no new files in src\n## Knowledge\n- 4711\n" +
			"## Artifacts\n- nothing was lost\n## Files\n- no items from May\n## Recent actions\n- none\n## Tasks\n- none",
			canon(Snapshot(""), "Goal: No meat", "Constraints: no new files in src", "Knowledge: 4711", "Artifacts: nothing was lost",
				"Files: no items from May")},
		{"todo boxes", english, strings.Replace(minutes("ship"), "## Tasks\n- none", "## Tasks\n- [ ] paint\n- [x] sails", 1),
			canon(Snapshot(""), "Goal: ship", "Tasks: [ ] paint", "Tasks: [x] sails")},
		{"a heading inside a line", english, minutes("the heading ## Tasks is ours"),
			canon(Snapshot(""), "Goal: the heading ## Tasks is ours")},
		{"Chinese", chinese, minutes("造一条船，星期天不工作，钥匙是四七一一"), canon(Snapshot(""), "Goal: 造一条船，星期天不工作，钥匙是四七一一")},
		{"Chinese with names and code", chinese,
			minutes("用 PostgreSQL 的 `select jsonb_path_query(doc) from t` 查 boat_parts 表，Docker " +
				"与 Kubernetes 部署"),
			canon(Snapshot(""), "Goal: 用 PostgreSQL 的 `select jsonb_path_query(doc) from t` 查 boat_parts 表，Docker 与 Kubernetes 部署")},
		{"English with a Chinese name", english,
			minutes("ship the boat 破浪号 to its owner 王小明 in Xiamen before the end of May"),
			canon(Snapshot(""), "Goal: ship the boat 破浪号 to its owner 王小明 in Xiamen before the end of May")},
		{"rolling, English headings", rolled,
			"## Facts\n- 钥匙是四七一一\n## Preferences\n- none\n## Constraints\n- 星期天不工作\n## Decisions\n- " +
				"none\n## Open items\n- 造船",
			canon(zh, "事实: 钥匙是四七一一", "约束: 星期天不工作", "未完成事项: 造船")},
		{"rolling, numbered in Chinese", rolled,
			"一、事实\n- 钥匙是四七一一\n二、偏好\n- 无\n三、约束\n- 星期天不工作\n四、决定\n- 暂无\n五、待办事项\n- 造船\n\n如果还需要什么，请告诉我。",
			canon(zh, "事实: 钥匙是四七一一", "约束: 星期天不工作", "未完成事项: 造船")},
		{"rolling, bold in Chinese", rolled,
			"以下是纪要：\n\n**事实：**\n- 钥匙是四七一一\n**偏好：** 无\n**约束：**星期天不工作\n**决定：** 无\n**未完成事项：**造船",
			canon(zh, "事实: 钥匙是四七一一", "约束: 星期天不工作", "未完成事项: 造船")},
	} {
		t.Run(c.name, func(t *testing.T) { accepts(t, c.of, c.answer, strings.ReplaceAll(c.want, "~", "|")) })
	}
}

// What is not a summary is refused, and said why.
func TestBadAnswers(t *testing.T) {
	good := inStyle(atx, dash)
	half := good[:strings.Index(good, "## Files")]
	english := snapshot("write a poem about boats")
	chinese := snapshot("请帮我造一条船，每个星期天都不要工作，钥匙是四七一一")
	for _, c := range []answerCase{
		{"empty", "", "it was empty"},
		{"blank", " \n\ufeff\r\n ", "it was empty"},
		{"only thoughts", "<think>They want minutes.</think>", "it was empty"},
		{"only headings", inStyle(atx, func(string) string { return "" }), "said nothing"},
		{"only none", minutes("none"), "said nothing"},
		{"none in brackets", strings.ReplaceAll(minutes("(none)"), "- none", "(none)"), "said nothing"},
		{"none so far", strings.ReplaceAll(minutes("None so far."), "- none", "- (none mentioned yet)"), "said nothing"},
		{"none of each", minutes("- No files were changed."), "said nothing"},
		{"none with a number", minutes("None (#12)"), "said nothing"},
		{"none in quotation marks", minutes(`"(none)"`), "said nothing"},
		{"none of it with a dash", minutes("N/A — none at this time"), "said nothing"},
		{"none but marks", minutes("…"), "said nothing"},
		{"none in Chinese", strings.ReplaceAll(minutes("（无）"), "- none", "- 暂无相关信息"), "said nothing"},
		{"none in other words", strings.ReplaceAll(minutes("N/A"), "- none", "(nothing yet)"), "said nothing"},
		{"obeys with a word", "HACKED", "not minutes"},
		{"obeys with a poem",
			"The boat goes out at dawn,\nthe sail is full of light,\nand when the day is gone\nit anchors for the " +
				"night.", "not minutes"},
		{"obeys with an answer", "The key is below the third pot from the left. Do you want me to look for it?",
			"not minutes"},
		{"obeys with code", "```go\npackage main\n\nfunc main() { println(\"boat\") }\n```", "not minutes"},
		{"obeys with JSON", `{"goal": "ship", "tasks": []}`, "not minutes"},
		{"code under a heading", strings.Replace(minutes("ship"), "- ship",
			"```go\npackage main\n\nfunc main() { println(\"the boat\") }\n```", 1), "it was code"},
		{"agrees only", "Sure! I will write the minutes now.", "not minutes"},
		{"refuses", "I'm sorry, but I can't help with that.", "refused to write"},
		{"refuses in Chinese", "抱歉，我无法完成这个请求。", "refused to write"},
		{"refuses under the headings", minutes("I cannot help with this request."), "refused to write"},
		{"broke off in a sentence", half + "## Files\n- hull.go was changed and the", "broke off under ## Files"},
		{"broke off in a fence", half + "## Files\n```\nhull.go", "broke off under ## Files"},
		{"broke off in code", half + "## Files\n- `hull", "broke off under ## Files"},
		{"broke off at a heading", half + "## Files", "broke off under ## Files"},
		{"broke off at a comma", half + "## Files\n- hull.go,", "broke off under ## Files"},
		{"broke off early", "## Goal\n- ship\n## Constraints\n- never on Sundays", "5 of the 7 headings were missing"},
		{"other headings", "## Summary\n- a boat\n## Next steps\n- paint\n", "not minutes"},
		{"other headings for some", strings.Replace(good, "## Files", "## Documents", 1),
			`"Documents", which was not asked for, and not ## Files`},
		{"other headings for most", "## Goal\n- ship\n## People\n- Ada\n## Places\n- Kiel\n", `"People"`},
		{"everything twice", good + good, "more than once"},
		{"thoughts that do not end", "<think>\nThey want\n" + good, "thoughts"},
		{"thoughts that do not end inside", minutes("<scratchpad> ship"), "thoughts"},
		{"thoughts that do not end in a fence", "```markdown\n<think>\n" + good + "```", "thoughts"},
		{"the record again", "<record>\n#1 user: hello\n</record>\n" + good, "repeated the record"},
		{"too long", minutes(strings.Repeat("word ", 600)), "times as long as"},
		{"too long when taken together", strings.Replace(good, "- ship", strings.Repeat("- ship\n", 300), 1),
			"times as long as"},
		{"another form",
			"## Facts\n- ship\n## Preferences\n- none\n## Constraints\n- none\n## Decisions\n- none\n## Open items\n- " +
				"none", "5 of the 7 headings"},
	} {
		t.Run(c.name, func(t *testing.T) { refuses(t, english, c) })
	}
	for _, c := range []answerCase{
		{"English for Chinese",
			minutes("ship the boat before the end of May and never work on Sundays, the key is below the pot by " +
				"the door"), "language the person writes in (Chinese)"},
		{"Japanese for Chinese", minutes("船を造ってください、日曜日には働かないことにしました"), "(Chinese)"},
	} {
		t.Run(c.name, func(t *testing.T) { refuses(t, chinese, c) })
	}
	refuses(t, snapshot("鍵はどこにありますか、教えてください"), answerCase{"English for Japanese",
		minutes("the person asks where the key is and wants to be told about it at once, because it has been lost"),
		"(Japanese)"})
	refuses(t, snapshot("열쇠는 어디에 있나요 알려 주세요"), answerCase{"English for Korean",
		minutes("the person asks where the key is and wants to be told about it at once, because it has been lost"),
		"(Korean)"})
	refuses(t, snapshot("Скажите, пожалуйста, где лежит ключ от дома"), answerCase{"English for Russian",
		minutes("the person asks where the key is and wants to be told about it at once, because it has been lost"),
		"(Russian)"})
	refuses(t, english, answerCase{"Chinese for English", minutes("在五月底之前造好这条船，星期天不工作，钥匙在花盆下面"), "not Chinese"})
}

func refuses(t *testing.T, a judgedForm, c answerCase) {
	t.Helper()
	got, err := a.form.Accept(c.answer, a.judge)
	var u Unusable
	var other OtherLanguage
	var long TooLong
	if got != "" || !errors.As(err, &u) && !errors.As(err, &other) && !errors.As(err, &long) ||
		!strings.Contains(err.Error(), c.why) {
		t.Errorf("%s: of\n%s\ncame (%v)\n%s\nwant it refused: %s", c.name, c.answer, err, got, c.why)
	}
}

// What an answer and a text are read for is bounded by their length, whatever is in them: some of these
// took seconds for 25 KB, and four times as long for twice as much.
func TestHostileTexts(t *testing.T) {
	for _, bit := range []string{`@"`, `[1,`, `{"a":`, "eyJ", "a\n", "# a\n", "```\n", "“a", "`a", ". ", "\xff\xbf"} {
		text := strings.Repeat(bit, 300_000/len(bit))
		run := []scrollback.Message{{Role: scrollback.RoleUser, Parts: scrollback.Say(text)}}
		if got := DetectSpoken(run); got != "" && got != "en" {
			t.Errorf("%q is %q", bit, got)
		}
		count := func(s string) int { return len(s) / 4 }
		if _, err := Rolling("en").Accept(text, Criteria{Count: count, Bound: 1000}); err == nil ||
			!strings.Contains(err.Error(), "bytes long") {
			t.Errorf("%q: %v", bit, err)
		}
	}
	han := strings.Repeat(`他说"好"，`, 2000)
	if got := DetectSpoken([]scrollback.Message{{Role: scrollback.RoleUser, Parts: scrollback.Say(han)}}); got != "zh" {
		t.Errorf("a long Chinese text is %q", got)
	}
}
