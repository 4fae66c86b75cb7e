package language_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/server/language"
)

func TestOf(t *testing.T) {
	for header, want := range map[string]string{
		"": "en", "en": "en", "zh": "zh-CN", "zh-CN": "zh-CN", "zh-TW,en;q=0.2": "zh-CN", "zh-Hant-HK": "zh-CN",
		"ZH":                    "zh-CN",
		"en;q=0.5, zh-CN;q=0.9": "zh-CN", "en, zh": "en", "en-GB,zh;q=0.8": "en", "fr, zh;q=0.3": "zh-CN", "fr": "en",
		"*":      "en",
		"zh;q=0": "en", "zh;q=0, en;q=0.1": "en", "zh;q=x": "en", ";;;,": "en", strings.Repeat("zh,", 5000): "en",
	} {
		if got := language.Of(header); got.Tag != want {
			t.Errorf("%.40q prefers %s, want %s", header, got.Tag, want)
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
		{scrollback.ParamErrorf("op", "p", "%q must be %s, not %.40q", "limit", scrollback.Phrase("a number"), "a number"),
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
		if got := language.English.Shown(c.err); got != c.english || scrollback.Shown(c.err) != got {
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

// behind are the rooms whose errors a server shows, by the beginning of their folder.
var behind = []string{".", "archive", "compact", "engine", "intake", "local/objects", "model", "recall", "server",
	"store",
	"transfer", "workspace"}

// unseen are the rooms among them whose errors people do not see: an MCP client's model
// reads them, or nobody but a test.
var unseen = []string{"server/mcpapi", "store/drivertest", "store/feed/feedtest", "model/modeltest",
	"engine/enginetest", "store/drivertest/oracle",
	"store/sql/audit"}

// internal are sentences that nobody who asks a server sees, and why.
var internal = map[string]string{
	"%q is not HOST:PORT": "serve", "%q: %s": "serve",
	"%s can be reached from other machines and there are no keys; use 127.0.0.1, or --insecure if you mean it": "serve",
	"segment %s is not in memory": "a program's fault",
	"a model has a name":          "a program's fault", "a store needs a driver and a token counter": "a program's fault",
	"no usage of model %s on day %d": "the doctor", "nothing is known of model %s": "the doctor",
	"another program began to write while the database was read; run it again": "the doctor",
	"there is already a file at %s":                                            "the doctor",
	"%s is not a scrollback database: %s; nothing was changed":                 "opening",
	"objects: %w": "opening",
	"this program has no client for %s:// object stores: open it with cloud.Open, or use file:///FOLDER":                     "opening",
	"this program has no client for PostgreSQL: open it with cloud.Open, or use sqlite:///PATH":                              "opening",
	"objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…], gs://BUCKET, azblob://CONTAINER, file:///FOLDER or memory:":      "opening",
	"this program was built without %s object stores: build it with go build -tags allclouds ./cmd/scrollback, or use s3://": "opening",
	"there is no database at %s":                 "opening",
	"there is nothing in the database at %s yet": "opening",
	"the database was written by a newer scrollback (schema %d, this program knows %d); nothing was changed": "opening",
	"the database was written by an older scrollback (schema %d, this program's is %d); any command that " +
		"writes brings it up to date": "opening",
	"%w": "a value", "%w%s": "values", "%s": "a value",
	"the limit of %d in a window of %d s is reached": "the store says it in other words",
}

// Every sentence that can reach people has its Chinese, with the same number of values.
func TestEverySentenceHasItsChinese(t *testing.T) {
	said := sentences(t)
	if len(said) < 150 {
		t.Fatalf("found only %d sentences", len(said))
	}
	for format, where := range said {
		if internal[format] == "" && !language.Chinese.Has(format) {
			t.Errorf("%s: %q has no Chinese", where, format)
		}
	}
	values := regexp.MustCompile(`%(?:\[\d+\])?[-+# 0-9.]*[a-zA-Z]`)
	han := regexp.MustCompile(`\p{Han}`)
	for english, chinese := range language.Chinese.Sentences() {
		if len(values.FindAllString(english, -1)) != len(values.FindAllString(chinese, -1)) {
			t.Errorf("%q has other values than %q", chinese, english)
		}
		if !han.MatchString(chinese) && english != "null" {
			t.Errorf("%q is not Chinese", chinese)
		}
		if strings.Contains(chinese, "%w") || strings.Contains(chinese, "%d") || strings.Contains(chinese, "%q") {
			t.Errorf("%q: values are written out already; use %%s", chinese)
		}
	}
}

// sentences are the formats of errors in the source, and where each is made.
func sentences(t *testing.T) map[string]string {
	const root = "../.."
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, _ := filepath.Rel(root, name)
		at = filepath.ToSlash(at)
		if first, _, _ := strings.Cut(at, "/"); d.IsDir() {
			if at != "." && (!slices.Contains(behind, first) || slices.Contains(unseen, at) || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if format, ok := formatOf(n, strings.HasPrefix(at, "model/") || strings.HasPrefix(at, "engine/")); ok {
				out[format] = fmt.Sprintf("%s:%d", at, files.Position(n.Pos()).Line)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// formatOf is the format of a call that makes an error whose text is shown. Those of
// internal and unavailable errors are not, unless they are of models.
func formatOf(n ast.Node, ofModels bool) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 {
		return "", false
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "scrollback" || f.Sel.Name == "refused") {
			name = f.Sel.Name
		}
	case *ast.Ident:
		name = f.Name
	}
	at, known := map[string]int{"ParamErrorf": 2, "Errorf": 2, "refused": 0, "over": 0, "taught": 1}[name]
	if !known {
		return "", false
	}
	code, ok := call.Args[0].(*ast.SelectorExpr)
	if ok && name == "Errorf" && (code.Sel.Name == "Internal" || code.Sel.Name == "Unavailable" && !ofModels) {
		return "", false
	}
	lit, ok := call.Args[at].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	format, err := strconv.Unquote(lit.Value)
	return format, err == nil
}

// What rooms outside the door say in words of their own has its Chinese too.
func TestWhatIsSaidElsewhereIsTranslated(t *testing.T) {
	_, _, badRef := scrollback.Ref("zz").Split()
	_, _, badID := scrollback.Ref("artifact:zz").Split()
	reading := scrollback.Caller{Access: scrollback.AccessAdmin}.Reading("this server was started with --read-only: it changes nothing")
	_, badNumber := compact.Named(compact.Rolling, false, map[string]float64{"keep_share": 7})
	for _, err := range []error{
		scrollback.ParamErrorf("op", "ref", "%w", badRef),
		scrollback.ParamErrorf("op", "artifact", "%w%s", badID, ""),
		reading.Lacks("op", scrollback.AccessWrite),
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
	source, err := os.ReadFile("../../transcript/unread.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\{"(an? [^"]+)", \[\]string`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 14 {
		t.Fatalf("only %d names were found", len(names))
	}
	for _, m := range names {
		if !language.Chinese.Has(m[1]) {
			t.Errorf("%q has no Chinese", m[1])
		}
	}
	said := scrollback.Errorf(scrollback.Invalid, "x", "the file looks like %s, which cannot be read",
		scrollback.Phrase("a chat of SillyTavern"))
	if got := language.Chinese.Shown(said); got != "此文件看起来是 SillyTavern 的聊天，无法读取" {
		t.Errorf("in Chinese it is %q", got)
	}
}
