package language_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/server/language"
)

func TestOf(t *testing.T) {
	for header, want := range map[string]string{
		"": "en", "en": "en", "zh": "zh-CN", "zh-CN": "zh-CN", "zh-TW,en;q=0.2": "zh-CN", "zh-Hant-HK": "zh-CN",
		"ZH":                    "zh-CN",
		"en;q=0.5, zh-CN;q=0.9": "zh-CN", "en, zh": "en", "en-GB,zh;q=0.8": "en", "fr, zh;q=0.3": "zh-CN", "fr": "en",
		"*":      "en",
		"zh;q=0": "en", "zh;q=0, en;q=0.1": "en", "zh;q=x": "en", ";;;,": "en", strings.Repeat("zh,", 5000): "en",
	} {
		if got := language.Of(header); string(got) != want {
			t.Errorf("%.40q prefers %s, want %s", header, string(got), want)
		}
	}
}

// Values come where the sentence of the language has them, and stand as they were given;
// words of ours among them are translated, and what somebody gave us is not.
func TestShown(t *testing.T) {
	deep := scrollback.Errorf(scrollback.NotFound, "engine.Secret", "no conversation %s", "x")
	for _, c := range []struct {
		err         error
		english, to string
	}{
		{deep, "no conversation x", "没有对话 x"},
		{scrollback.ParamErrorf("op", "p", "%q must be %s, not %.40q", "limit", scrollback.TextID("a number"), "a number"),
			`"limit" must be a number, not "a number"`, `"limit" 必须是数字，不能是 "a number"`},
		{scrollback.ParamErrorf("op", "p", "message %d: %w", 3, scrollback.ParamErrorf("op", "p", "the message is empty")),
			"message 3: the message is empty", "第 3 条消息：消息为空"},
		{scrollback.Errorf(scrollback.Internal, "op", "sk-123 %s", "/home/me"), "internal error; the log has the details",
			"内部错误，详情见日志"},
		{errors.New("sk-123"), "internal error; the log has the details", "内部错误，详情见日志"},
		{scrollback.Errorf(scrollback.Unavailable, "op", "disk at /home/me"), "the store cannot answer now; nothing was lost",
			"存储暂时无法响应，没有丢失任何内容"},
		{scrollback.ParamErrorf("op", "p", "nobody has translated %d of this", 7), "nobody has translated 7 of this",
			"请求有误：nobody has translated 7 of this"},
		{scrollback.ParamErrorf("op", "p", "100%% of %s", "%d"), "100% of %d", "请求有误：100% of %d"},
	} {
		if got := language.English.Shown(c.err); got != c.english || scrollback.PublicMessage(c.err) != got {
			t.Errorf("in English: %q, want %q", got, c.english)
		}
		if got := language.Chinese.Shown(c.err); got != c.to {
			t.Errorf("in Chinese: %q, want %q", got, c.to)
		}
		f := scrollback.FailureOf(c.err)
		if got := language.Chinese.Failure(*f); got.Message != c.to || got.Said != nil {
			t.Errorf("the failure is shown as %+v", got)
		}
		if got := language.Chinese.Shown(f.Err("op")); got != c.to && f.Code != scrollback.Internal &&
			f.Code != scrollback.Unavailable {
			t.Errorf("the failure as an error again: %q, want %q", got, c.to)
		}
	}
}

// What rooms outside the door say in words of their own has its Chinese too.
func TestWhatIsSaidElsewhereIsTranslated(t *testing.T) {
	_, _, badRef := scrollback.Ref("zz").Split()
	_, _, badID := scrollback.Ref("artifact:zz").Split()
	reading := scrollback.Caller{Access: scrollback.AccessAdmin}.RestrictToRead(
		"this server was started with --read-only: it changes nothing")
	_, badNumber := compact.FindPolicy(compact.Rolling, false, map[string]float64{"keep_share": 7})
	for _, err := range []error{
		scrollback.ParamErrorf("op", "ref", "%w", badRef),
		scrollback.ParamErrorf("op", "artifact", "%w%s", badID, ""),
		reading.AccessError("op", scrollback.AccessWrite),
		badNumber,
		&scrollback.Error{Code: scrollback.Unavailable, Err: scrollback.ErrDisplaced, Reason: scrollback.ErrDisplaced},
		&scrollback.Error{Code: scrollback.Unavailable, Err: scrollback.ErrMoving, Reason: scrollback.ErrMoving},
		&scrollback.Error{Code: scrollback.Unavailable, Err: scrollback.ErrNoRoom, Reason: scrollback.ErrNoRoom},
		scrollback.ParamErrorf("op", "q", "required query parameter is missing"),
	} {
		said := language.Chinese.Shown(err)
		for _, english := range []string{"：the", "：this", "is not a ref", "a number", "请求有误", "不允许", "暂时无法完成", "required"} {
			if strings.Contains(said, english) {
				t.Errorf("%v is said as %q", err, said)
			}
		}
	}
}

// What a file of another program is called has its Chinese, and stands within the sentence.
func TestFilesOfOtherProgramsInChinese(t *testing.T) {
	source, err := os.ReadFile("../../../transcript/unread.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\{"(an? [^"]+)", \[\]string`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 14 {
		t.Fatalf("only %d names were found", len(names))
	}
	for _, m := range names {
		if language.Chinese.Reason(m[1]) == m[1] {
			t.Errorf("%q has no Chinese", m[1])
		}
	}
	said := scrollback.Errorf(scrollback.Invalid, "x", "the file looks like %s, which cannot be read",
		scrollback.TextID("a chat of SillyTavern"))
	if got := language.Chinese.Shown(said); got != "此文件看起来是 SillyTavern 的聊天，无法读取" {
		t.Errorf("in Chinese it is %q", got)
	}
}
