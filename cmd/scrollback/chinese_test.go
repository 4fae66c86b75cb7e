package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// international is what stands in a Chinese line as it is: names of files, flags and commands, ids,
// quoted values, and the words of the list below.
var (
	international = regexp.MustCompile("`[^`…]*[`…]|\"[^\"]*\"|scrollback( [a-z-]+)*|--cursor \\S+|--[a-z-]+|[a-z]+://\\S*|\\S*/\\S*|" +
		`\S+\.(jsonl|json|bundle|ipynb|mtm|db)\b|history:\S+|[0-9a-f]{8}-[0-9a-f-]+|sbk_\S+|<\w+>|\.[a-z]+\b`)
	english = regexp.MustCompile(`[A-Za-z][A-Za-z_-]{2,}`)
	allowed = append(collect.ToolNames(all.Tools()), strings.Fields(`offline default segments token tokens jsonl MCP ref JSON UTF latest laptop plan
		USD UTC TOML OPENAI_API_KEY API_KEY OPENAI API KEY Authorization Bearer KEY URL lst system user assistant tool`)...)
)

// englishIn lists the words of a text that are neither Chinese nor a name.
func englishIn(text string) (out []string) {
	for _, word := range english.FindAllString(international.ReplaceAllString(text, " "), -1) {
		if !slices.Contains(allowed, word) {
			out = append(out, word)
		}
	}
	return out
}

// What doctor finds is said in Chinese, with what it is about.
func TestFindingsInChinese(t *testing.T) {
	var b strings.Builder
	found := doctor.Checkup{Problems: []doctor.Problem{
		{Kind: "head", Where: "branch 01a21f12-a2e1-73f8-9689-862b72efefd7", Detail: "it counts 3 messages, its branch 4"},
		{Kind: "index", Where: "the search index", Detail: "it cannot be read: the artifact's bytes"},
		{Kind: "artifact", Where: "artifact 0a1b", Detail: "it has 3 bytes instead of 4", Repaired: true}}}
	if err := drawCheckup(&b, words.Chinese, found); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"问题    末尾  分支 01a21f12", "它计为 3 条消息，其分支为 4 条", "搜索索引", "已修复", "它有 3 字节，应为 4 字节", "2 个问题"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// Whatever a command says where the locale is Chinese is Chinese: headings, lines and errors.
func TestCommandsInChinese(t *testing.T) {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "SCROLLBACK_DATA", "OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("LANG", "zh_CN.UTF-8")
	t.Setenv("SCROLLBACK_MODEL", "offline")
	folder := t.TempDir()
	t.Setenv("HOME", folder)
	t.Chdir(folder)
	file := "t.jsonl"
	content := `{"role":"user","content":"你好"}` + "\nnot json\n" + `{"role":"wizard","content":"x"}` + "\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(folder, "data")
	for _, line := range []struct{ command, says string }{
		{"list", "还没有对话"}, {"search 钥匙", "没有找到"}, {"keys", "没有密钥"}, {"usage", "还没有调用过模型"},
		{"run 备用钥匙在第三个系缆桩下面。", "（对话"}, {"run 第二个问题", "（对话"},
		{"list", "序号"}, {"show latest", "用户"}, {"show latest --after 0 --limit 1", "还有更多"},
		{"list --max 1", "还有更多"}, {"search 钥匙", "用户"},
		{"keys add --name laptop --role write --expires 90d", "只显示这一次"}, {"keys", "最近使用"},
		{"keys limit laptop --chats 100/h --tokens-per-day 500000", "每日 token"}, {"keys revoke laptop", "已撤销"},
		{"models", "窗口"}, {"doctor", "一切正常"}, {"doctor agents", "未找到"}, {"branches latest", "更改时间"},
		{"context latest", "策略"}, {"context list latest", "没有压缩的内容"}, {"context receipts latest", "还没有压缩过"},
		{"context grep latest 问题", "共"}, {"compact latest", "没有变化"}, {"pin latest 1", "用户"},
		{"usage", "调用"}, {"usage --by purpose", "用途"}, {"projects", "保存时间"}, {"projects set plan --title 计划", "版本"},
		{"projects show default", "未保存"}, {"projects delete plan", "已全部删除"},
		{"import " + file + " " + file, "个来源"},
		{"migrate --from sqlite://" + data + "/scrollback.db --to sqlite://" + folder + "/b.db", "已比较"},
		{"import " + file, "新增"}, {"import --dry-run " + file, "没有导入任何内容"}, {"archive latest", "字节"},
		{"rename latest 新", "新"}, {"fork latest", "副本"}, {"rewind latest 1", "副本"}, {"clear latest", "个 token"},
		{"context receipts latest", "重新开始"}, {"uncompact latest", "个 token"},
		{"notebook new plan.ipynb", "已写入"}, {"notebook show plan.ipynb", "尚未运行"},
		{"notebook run plan.ipynb --cell new 你好", "（对话"}, {"notebook show plan.ipynb", "对话"},
		// What goes wrong.
		{"show --foo", "未知的选项"}, {"lst", "您是指"}, {"run", "消息为空"}, {"run --model openai/gpt-5 好", "需要密钥"},
		{"search", "缺少"}, {"trash latest", "不是完整的 id"}, {"list --project 无", "没有对话"}, {"rewind latest 99", "没有第 99 条"},
		{"pin latest 99", "没有第 99 条"}, {"keys revoke 无", "密钥"}, {"usage --from 2020-01-02 --to 2020-01-01", "晚于"},
		{"usage --from 1", "不是日期"}, {"watch --poll 1", "一段时间"}, {"import 无", "不存在"}, {"health --addr x", "端口"},
		{"export latest -o x.foo", "不能导出"}, {"projects show 无", "没有项目"}, {"context read history:zz", "不是引用"},
		{"migrate --from x", "请指定"}, {"serve --addr x", "端口"},
		{"notebook run plan.ipynb --cell 9", "没有第 9 个单元格"}, {"keys add --name x --role write --expires 1", "一段时间"},
	} {
		_, out, errs := inside(t, data, strings.Fields(line.command)...)
		said := out + errs
		if !strings.Contains(said, line.says) {
			t.Errorf("scrollback %s does not say %q:\n%s", line.command, line.says, said)
		}
		for row := range strings.Lines(said) {
			if words := englishIn(row); len(words) > 0 {
				t.Errorf("scrollback %s: %q in %q", line.command, words, row)
			}
		}
	}
}

// fileDamages are what may happen to the text of a file.
var fileDamages = []func(string) string{
	func(s string) string { return s[:len(s)*2/3] },
	regexpReplace(`("(?:version|nbformat)": ?)\d+`, `${1}99`),
	regexpReplace(`("(?:role|sender|type)": ?)"[a-z_]+"`, `${1}"robot"`),
	regexpReplace(`("(?:content|parts|text|timestamp|created_at)": ?)"[^"]*"`, `${1}[7]`),
	regexpReplace(`": ?["\[{]`, `":e`),
	regexpReplace(`[aeiou]{2}`, "\xff\x00"),
}

func regexpReplace(pattern, with string) func(string) string {
	of := regexp.MustCompile(pattern)
	return func(s string) string { return of.ReplaceAllString(s, with) }
}

// What an import says of a file that is damaged or of a later version is Chinese, whatever program wrote the file.
func TestDamagedFilesInChinese(t *testing.T) {
	testlength.SkipShort(t)
	for _, name := range []string{"LC_MESSAGES", "SCROLLBACK_DATA", "OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	t.Setenv("SCROLLBACK_MODEL", "offline")
	folder := t.TempDir()
	t.Setenv("HOME", folder)
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|第 1 行是：.*`)
	sentence := regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)
	skipped := map[string]bool{}
	each := testlength.Choose(3, 1, 1)
	for i, file := range importedFiles(t) {
		if i%each != 0 {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, damage := range fileDamages {
			at := filepath.Join(folder, fmt.Sprint(i), fmt.Sprint(n), filepath.Base(file))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(damage(string(content))), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, errs := inside(t, filepath.Join(folder, "data"), "import", "--dry-run", at)
			for row := range strings.Lines(errs) {
				skipped[row] = true
				if words := sentence.FindString(quoted.ReplaceAllString(row, "")); words != "" {
					t.Errorf("%s, damage %d: %q in %q", file, n, words, row)
				}
			}
		}
	}
	if len(skipped) < testlength.Choose(20, 100, 100) {
		t.Errorf("only %d lines were said", len(skipped))
	}
}

// importedFiles returns the biggest files of each kind in the testdata of each importer.
func importedFiles(t *testing.T) (out []string) {
	t.Helper()
	const root = "../../transcript"
	biggest := map[string]string{} // by folder and ending
	size := map[string]int64{}
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		importer, rest, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(name), root+"/"), "/")
		ending := filepath.Ext(name)
		if !strings.HasPrefix(rest, "testdata/") || !slices.Contains([]string{".json", ".jsonl", ".md", ".mtm", ".ipynb"}, ending) {
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Size() > size[importer+ending] {
			size[importer+ending] = info.Size()
			biggest[importer+ending] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Sorted(maps.Keys(biggest)) {
		out = append(out, biggest[kind])
	}
	return out
}
