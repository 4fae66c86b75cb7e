package same

import (
	"strings"
	"testing"
)

// What is only written differently has one key.
func TestSameKey(t *testing.T) {
	for _, group := range [][]string{
		{"Always answer in French.", "always  answer in FRENCH", "Please always answer in French!",
			"Always answer in French, please.",
			"**Always answer in French.**", "Ａｌｗａｙｓ answer in French", "- Always answer in French"},
		{"以后请用中文回答。", "以后请用中文回答", "记住：以后请用中文回答！", "以后 请用中文 回答"},
		{"It's 5% of 1,000.", "it’s 5% of 1,000"},
		{"Run `go test ./...` first", "run go test ./... first."},
	} {
		for _, s := range group[1:] {
			if Key(s) != Key(group[0]) || Key(s) == "" {
				t.Errorf("%q has key %q, %q has %q", s, Key(s), group[0], Key(group[0]))
			}
		}
	}
}

// What differs in a fact has another key, and neither says less than the other.
func TestAnotherFact(t *testing.T) {
	for _, pair := range [][2]string{
		{"The port is 8080.", "The port is 8081."}, {"The port is 80.", "The port is 8080."}, {"It costs 5.", "It costs 5%."},
		{"Ask Ada.", "Ask Bob."}, {"Edit a.go.", "Edit a_test.go."}, {"Edit /etc/hosts", "Edit etc/hosts"},
		{"Edit .env", "Edit env"},
		{"Deploy on Friday.", "Do not deploy on Friday."}, {"Deploy on Friday.", "Deploy on Friday?"},
		{"It is -5", "It is 5"},
		{"Use tabs.", "Use tabs in Makefiles."}, {"Use tabs.", "Use tabs, but not in YAML."}, {"Use C", "Use C++"},
		{"Use C", "Use C#"},
		{"Deploy on Friday", "If it rains, deploy on Friday"}, {"发布版本 1.2", "发布版本 1.3"}, {"周五发布", "周五不发布"},
		{"周五发布", "如果下雨，周五发布"},
		{"版本是 1", "版本是 12"}, {"门禁码是 4711", "门禁码是 4712"}, {"问小明", "问小红"}, {"write the report", "write the report, done"},
		{"1.5", "15"}, {"v1", "v2"}, {"--force", "force"}, {"../a", "a"}, {"a:b", "a b"},
	} {
		a := Clauses(pair[0])
		b := Clauses(pair[1])
		if Key(pair[0]) == Key(pair[1]) || IsWithin(a, b) || IsWithin(b, a) {
			t.Errorf("%q and %q are taken for the same: %q, %q", pair[0], pair[1], a, b)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, pair := range [][2]string{
		{"Always answer in French.", "Always answer in French, and keep it short."}, {"以后用中文回答", "记住：以后用中文回答，要简短。"},
		{"Sign as Ada.", "The person said: sign as Ada (#12)."}, {"Use tabs", "Use tabs"},
	} {
		if !IsWithin(Clauses(pair[0]), Clauses(pair[1])) {
			t.Errorf("%q does not say less than %q: %q, %q", pair[0], pair[1], Clauses(pair[0]), Clauses(pair[1]))
		}
	}
	if IsWithin(nil, Clauses("x")) || NormalForm("... —") != "" || Key("please") != "" {
		t.Error("nothing says something")
	}
}

// Any text has a form, and it is stable: the form of a form is itself.
func FuzzForm(f *testing.F) {
	for _, s := range []string{"", "a.b,c", "中文 and English", "\xff\x00", "C++ - 5%", "'''", "....", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		form := NormalForm(s)
		if form != "" && (!strings.HasPrefix(form, " ") || !strings.HasSuffix(form, " ")) {
			t.Errorf("%q", form)
		}
		Key(s)
	})
}
