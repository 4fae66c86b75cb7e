package words

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// The first locale that is not empty decides, and results of compactions have words of their own.
func TestTexts(t *testing.T) {
	for _, r := range []scrollback.CompactionResult{scrollback.ResultCompacted, scrollback.ResultNoop,
		scrollback.ResultInflated,
		scrollback.ResultEmptySummary, scrollback.ResultModelError, scrollback.ResultConflict} {
		if a, b := English.Result(r), Chinese.Result(r); a == string(r) && r != scrollback.ResultCompacted ||
			b == string(r) || a == b {
			t.Errorf("%s: %q and %q", r, a, b)
		}
	}
	for _, c := range []struct {
		locales []string
		want    Texts
	}{{[]string{"", "", "zh_CN.UTF-8"}, Chinese}, {[]string{"en_US.UTF-8", "zh_CN", "zh_CN"}, English},
		{[]string{"", "zh-Hans", "C"}, Chinese}, {nil, English}} {
		if got := Of(c.locales...); got != c.want {
			t.Errorf("%q speaks %q", c.locales, got)
		}
	}
}

// A compaction without a model's summary says what stands in its place, and why.
func TestExtracted(t *testing.T) {
	r := scrollback.Receipt{Result: scrollback.ResultCompacted, SummaryBy: scrollback.SummaryExtractive,
		SummaryResult: scrollback.ResultEmptySummary, SummaryWhy: "the answer was empty"}
	for want, texts := range map[string]Texts{
		"extracts of the messages stand for them: the model gave no usable summary: the answer was empty": English,
		"改用消息原文的摘录：模型没有给出可用的摘要：回答为空":                                                                      Chinese,
	} {
		if got := texts.Extracted(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r.SummaryResult = ""
	r.SummaryWhy = "beside a summary the request would not fit"
	for want, texts := range map[string]Texts{
		"extracts of the messages stand for them: beside a summary the request would not fit": English,
		"改用消息原文的摘录：加上摘要，请求就放不下了":                                                              Chinese,
	} {
		if got := texts.Extracted(r); got != want {
			t.Errorf("where none was asked: %q, want %q", got, want)
		}
	}
	if got := English.Extracted(scrollback.Receipt{SummaryBy: scrollback.SummaryExtractive}); got != "" {
		t.Errorf("where there is nothing to say: %q", got)
	}
}

// example returns a sentence with values.
func example(s string) string {
	return strings.NewReplacer("%d", "7", "%02x", "ff", "%s", "x").Replace(s)
}

// What is stored with references has Chinese for all of it.
func TestReferencesInChinese(t *testing.T) {
	made := regexp.MustCompile(`(?:errors\.New|fmt\.Errorf|fmt\.Sprintf)\("([^"]* [^"]*)"|(?:Error|Note) = "([^"]+)"`)
	files, err := filepath.Glob("../../workspace/reference/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, "../../workspace/folders.go") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range made.FindAllStringSubmatch(string(source), -1) {
			for s := range strings.SplitSeq(strings.ReplaceAll(m[1]+m[2], "%w", "%s"), "; ") {
				known := Chinese.Reference(example(s)) != example(s)
				if s != "more than %d" && s != "too far" && !known { // a part, and what is never said
					t.Errorf("%s: no Chinese for %q", name, s)
				}
			}
		}
	}
}

// Why a turn failed is said in Chinese, also where the sentence has values.
func TestFailureInChinese(t *testing.T) {
	err := scrollback.Errorf(scrollback.Refused, "x", "%s declines this request because of its rules on content", "custom")
	said := scrollback.SentenceOf(err)
	f := scrollback.Failure{Code: scrollback.Refused, Message: said.String(), Said: &said}
	if got := Chinese.Failure(f, "", Ways{})[0]; got != "custom 因其内容规则拒绝了此请求" {
		t.Errorf("in Chinese it is %q", got)
	}
	if got := English.Failure(f, "", Ways{})[0]; got != f.Message {
		t.Errorf("in English it is %q", got)
	}
}
