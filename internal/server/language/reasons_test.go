package language_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/server/language"
)

// Why something of a file was skipped is said in Chinese, with its values.
func TestReasons(t *testing.T) {
	for english, want := range map[string]string{
		"3 NUL bytes were dropped": "丢弃了 3 个 NUL 字节",
		`malformed JSON: a record of which only a part is there, 12 bytes that begin with "{\"a\""`:// its values stay
		`JSON 格式错误：一条记录只剩一部分，共 12 字节，开头为 "{\"a\""`,
		"malformed JSON: invalid character 'x'":                          "JSON 格式错误：invalid character 'x'",
		"the file ends early: of its last record only 7 bytes are there": "文件不完整：最后一条记录只有 7 字节",
		"chats.db: a row is larger than 64 MB, and is not read":          "chats.db：有一行超过 64 MB，未读取",
		`unknown role "x"`:                                             `未知的角色 "x"`,
		"message 3: content: not UTF-8":                                "消息 3：内容：不是 UTF-8",
		"something that no sentence of ours says":                      "something that no sentence of ours says",
		"the summary was 900 tokens long, and at most 400 are allowed": "摘要长达 900 个 token，最多允许 400 个",
		"what turn t1 sent to its model was not stored":                "没有保存回合 t1 发送给模型的内容", // a sentence of an error
	} {
		if got := language.Chinese.Reason(english); got != want {
			t.Errorf("%s is said %s, not %s", english, got, want)
		}
		if got := language.English.Reason(english); got != english {
			t.Errorf("in English %s is said %s", english, got)
		}
	}
}

// Everything that a person reads of why a summary was not used has its Chinese.
func TestWhySummariesAreNotUsed(t *testing.T) {
	shown := regexp.MustCompile(`(?:shown[A-Z]\w+ +=|Shown:|Unusable\{"[^"]*",|fmt\.Sprintf\() ?"((?:the|no) [^"]*)"`)
	found := 0
	for _, name := range []string{"../../../compact/summary/judge.go", "../../../compact/summarize.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(source), -1) {
			english := strings.NewReplacer("%d", "7", "%s", "x").Replace(m[1])
			if found++; language.Chinese.Reason(english) == english {
				t.Errorf("%s: no Chinese for %q", name, m[1])
			}
		}
	}
	if found < 11 {
		t.Errorf("only %d reasons were found", found)
	}
}
