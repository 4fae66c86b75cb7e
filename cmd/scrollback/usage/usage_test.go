package usage

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Every line that may reach a person from the log has its Chinese.
func TestLogInChinese(t *testing.T) {
	made := regexp.MustCompile(`(?i)log\.(?:Warn\(|Error\(|Log\(.*?failure\(\), )"([^"]+)"`)
	found := map[string]bool{}
	rooms := []string{"engine", "store", "model", "local", "cloud", "intake", "workspace", "title", "compact", "websearch",
		"tools", "recall"}
	for _, room := range rooms {
		folder := "../../../" + room
		if _, err := os.Stat(folder); err != nil {
			folder = "../../../internal/" + room
		}
		err := filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := os.ReadFile(name)
			for _, m := range made.FindAllStringSubmatch(string(source), -1) {
				found[m[1]] = true
				if i18n.Chinese.Translate(m[1]) == m[1] {
					t.Errorf("%s: no Chinese for %q", name, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d lines were found", len(found))
	}
}

// Errors appear in Chinese wherever they come from; what has no sentence keeps its English.
func TestSaid(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{scrollback.ParamErrorf("x", "title", "the new title is empty"), "新标题为空"},
		{scrollback.ParamErrorf("x", "f", "%s is a folder", "/a"), "/a 是文件夹"},
		{scrollback.ParamErrorf("x", "message", "the message is empty"), "消息为空"},
		{scrollback.ParamErrorf("x", "x", "something else"), "请求有误：something else"},
		{scrollback.Errorf(scrollback.Internal, "x", "%d of %d sessions could not be imported", 1, 12),
			"有 1 个会话（共 12 个）无法导入"},
		{scrollback.Errorf(scrollback.Unavailable, "x", "no server responds at %s", "h:1"), "h:1 没有服务器响应"},
		{scrollback.Errorf(scrollback.Unavailable, "x", "nothing listens at %s: is PostgreSQL running there?", "h:1"),
			"h:1 没有程序在监听：PostgreSQL 在那里运行吗？"},
		{scrollback.Errorf(scrollback.Internal, "x", "the disk is gone"), "内部错误：the disk is gone"},
		{scrollback.ParamErrorf("x", "id", "%s is ambiguous; ids that begin so:%s", "1a", "\n 1ab 题"),
			"1a 不唯一，以此开头的 id 有：\n 1ab 题"},
		{scrollback.ParamErrorf("x", "file", "%s: %w", "a.ipynb",
			scrollback.Errorf(scrollback.Invalid, "ipynb.Open", "the notebook cannot be read: %w", errors.New("line 3"))),
			"a.ipynb：无法读取笔记本：line 3"},
		{scrollback.ParamErrorf("x", "command", `--limit: expected a valid 64 bit int but got "abc"`),
			`--limit：应为整数，而不是 "abc"`},
		{scrollback.ParamErrorf("x", "command", "unexpected argument lst, did you mean \"list\"?"),
			`多余的参数 lst，您是指 "list" 吗？`},
		{scrollback.ParamErrorf("x", "command", "unknown command lst, did you mean \"list\"?"), `未知的命令 lst，您是指 "list" 吗？`},
		{scrollback.ParamErrorf("x", "command", "unknown command nope"), `未知的命令 nope`},
	} {
		known := c.err.(*scrollback.Error)
		if got := Said(c.err, strings.ReplaceAll(known.Err.Error(), "ipynb.Open: ", "")); got != c.want {
			t.Errorf("%v is said as %q, want %q", c.err, got, c.want)
		}
	}
}

// Nothing that a text holds is a request to troff.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{".a": `\&.a`, `a\b`: `a\eb`, "--x": `\-\-x`, "'q'": `\(aqq\(aq`} {
		if got := roff(in); got != want {
			t.Errorf("%q is set as %q, want %q", in, got, want)
		}
	}
}
