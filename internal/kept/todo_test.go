package kept

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A to-do leaves when a later sentence says that it is done.
func TestTodoIsDone(t *testing.T) {
	for _, c := range []struct{ open, done string }{
		{"- [ ] translate the manual", "- [x] translate the manual"},
		{"[ ] translate the manual", "1. [X] Translate the manual."},
		{"- [ ] translate the manual", "✅ translate the manual"}, {"- [ ] translate the manual", "~~translate the manual~~"},
		{"TODO: water the plants.", "Done: water the plants."}, {"TODO: water the plants.", "I watered the plants."},
		{"TODO: water the plants.", "I have already watered the plants."},
		{"TODO: water the plants.", "water the plants: done"},
		{"todo: write the report", "The report is written."}, {"todo: write the report", "I wrote the report."},
		{"todo: deploy version 1.2", "Version 1.2 deployed"},
		{"todo: the slides", "We've finished the slides, next is the poster."},
		{"TODO: fix the login bug", "Fixed the login bug."}, {"To-do: call Bob", "I called Bob."},
		{"待办：部署服务", "部署服务完成了。"}, {"待办：部署服务", "已完成部署服务"}, {"待办：部署服务", "部署服务，搞定"}, {"待办：部署服务", "部署服务搞定了！"},
		{"待办：写报告", "报告写完了。"}, {"待办：写报告", "我已经写完报告了"}, {"待办：写报告", "报告写好了，接下来做幻灯片"}, {"- [ ] 写报告", "- [x] 写报告"},
		{"待办：给小明发邮件", "已给小明发邮件"}, {"待办：完成报告", "报告已完成"}, {"待办事项：更新 README", "README 已更新"}, {"待办：备份数据库", "完成：备份数据库"},
	} {
		var open Todos
		open.Add(c.open, 3)
		if got := open.Closed(scrollback.RoleUser, c.done); len(got) != 1 || got[0] != 3 || len(open.open) != 0 {
			t.Errorf("%q does not end %q: key %q and news %q", c.done, c.open, TodoKey(c.open), newsIn(c.done, ""))
		}
	}
}

// What only resembles a to-do, or is not done, leaves it open.
func TestTodoStays(t *testing.T) {
	for _, c := range []struct{ open, said string }{
		{"- [ ] write the tests", "- [x] write the tests for the parser"}, {"- [ ] write the tests for the parser",
			"- [x] write the tests"},
		{"- [ ] write the tests", "- [ ] write the tests"}, {"TODO: call Bob", "I called Ada."}, {"TODO: call Bob",
			"I called Bob's mother."},
		{"TODO: deploy version 1.2", "Deployed version 1.3."}, {"TODO: edit a.go", "Done: edit b.go"},
		{"TODO: water the plants", "Is watering the plants done?"}, {"TODO: water the plants", "The plants are not watered."},
		{"TODO: water the plants", "Water the plants when you are done."},
		{"TODO: water the plants", "Please get the plants watered."},
		{"TODO: water the plants", "I have not watered the plants, done or not."}, {"TODO: water the plants", "Done."},
		{"TODO: fix the failed tests", "Fix the failed tests."},
		{"TODO: write the report", "The report is done except the charts."},
		{"TODO: write the report", "The report is written, but not the charts."}, {"TODO: write the report",
			"Once I wrote the report, I will rest."},
		{"TODO: complete the report", "Complete the report."},
		{"TODO: water the plants and feed the cat", "I watered the plants."},
		{"待办：部署服务", "还没完成部署服务"}, {"待办：部署服务", "部署服务完成了吗？"}, {"待办：部署服务", "请完成部署服务"}, {"待办：部署服务", "完成部署服务"},
		{"待办：部署服务", "部署网关完成了"}, {"待办：部署服务", "等部署服务完成了再说"}, {"待办：部署服务", "好的，部署服务"}, {"待办：部署服务", "部署服务未完成"},
		{"待办：给小明发邮件", "已给小红发邮件"}, {"待办：发布 1.2 版", "1.3 版发布完成了"}, {"待办：写报告", "好了，写报告"}, {"待办：写报告", "写好报告"},
		{"待办：写报告", "报告写完了一半"}, {"待办：写报告和总结", "报告写完了"},
	} {
		var open Todos
		open.Add(c.open, 3)
		if got := open.Closed(scrollback.RoleUser, c.said); len(got) != 0 || len(open.open) != 1 {
			t.Errorf("%q ends %q: key %q and news %q", c.said, c.open, TodoKey(c.open), newsIn(c.said, ""))
		}
	}
}

// It is open again when it is said again.
func TestTodoAgain(t *testing.T) {
	var open Todos
	open.Add("- [ ] water the plants", 1)
	open.Add("TODO: Water the plants!", 2)
	if got := open.Closed(scrollback.RoleUser, "- [x] water the plants"); len(got) != 2 {
		t.Errorf("places %v", got)
	}
	open.Add("- [ ] water the plants", 4)
	if got := open.Closed(scrollback.RoleUser, "The plants are watered."); len(got) != 1 || got[0] != 4 {
		t.Errorf("places %v", got)
	}
	if open.Add("TODO", 5); len(open.open) != 0 {
		t.Error("a to-do that says nothing is kept")
	}
}
