package language_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/server/language"
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
		`unknown role "x"`: `unknown role "x"`,
	} {
		if got := language.Chinese.Reason(english); got != want {
			t.Errorf("%s is said %s, not %s", english, got, want)
		}
		if got := language.English.Reason(english); got != english {
			t.Errorf("in English %s is said %s", english, got)
		}
	}
}
