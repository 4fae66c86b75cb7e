package editor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// server is what is inserted.
var server = editor.Object{{Key: "command", Value: `/opt/it's "here"/scrollback`},
	{Key: "args", Value: []any{"mcp", "--root", "."}}, {Key: "timeout", Value: 300}, {Key: "enabled", Value: true}}

// corpus are settings as people have them.
var corpus = map[editor.Format][]string{
	editor.JSON: {
		"", "\n", "\uFEFF", "{}", "{}\n", "{ }", "{\n}\n", `{"a":1}`, `{"a": 1, "b": [1, {"c": 2}]}` + "\n",
		"{\n  \"a\": 1\n}\n", "{\r\n    \"a\": 1,\r\n    \"b\": {}\r\n}", "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n",
		"\uFEFF{\r\n\t\"servers\": {\r\n\t\t\"other\": {\"command\": \"x\"}\r\n\t}\r\n}\r\n",
		"{\n  \"servers\": {}\n}\n", `{"servers": {}}`, `{"servers": {"other": {}}}`, "{ \"a\": 1,\n  \"servers\": {\"x\": 1 } }",
		"{\"servers\": {\"deep\": {\"scrollback\": 1}}, \"x\": \"}\\\"{\"}\n", "  {\"a\": \"\\u00e9\\\\\"}  ",
		"{\n    \"a\":   [\"Bash(ls:*)\"]\n}\n",
	},
	editor.JSONC: {
		"// only a comment\n", "// only a comment", "/* a */\n\n", "{\n  // mine\n}\n", "{ /* mine */ }", "{\n  \"a\": 1 // one\n}\n",
		"{\n  \"a\": 1, // one\n}\n", "{\n  \"a\": 1, /* one */ // two\n  // last\n}\n", "{\n  \"a\": 1 /* x */\n}\n",
		"{\n  \"a\": 1\n  // \"b\": 2,\n}\n", "{\"a\": 1, /* x */}", "{\"a\": 1 // x\n}", "// head\r\n{\r\n  \"servers\": {\r\n    // none\r\n  },\r\n}\r\n",
		"{\n  // mine\n    \"security\": {\"auth\": {\"selectedType\": \"key\"}},\n    \"servers\": {\"a\": {},}, // tail\n}",
		"{\n  \"a\": 1 /* two\n lines */\n}\n", "{\n  \"a\": \"// no comment /* \",\n}\n",
	},
	editor.JSON5: {
		"{a: 1}", "{\n  a: 'it\\'s',\n  'b': +.5, c: 0xFF, d: Infinity, // x\n}\n", "{$a_1: \"two\\\nlines\", servers: {b: NaN}}\n",
		"/* h */{\n\tservers: {\n\t\tother: {command: 'x', args: ['a',]},\n\t},\n}",
	},
	editor.TOML: {
		"", "\n", "# only a comment\n", "# only a comment", "a = 1", "a = 1\n", "a = 1\r\nb = '''x\r\ny'''\r\n",
		"# mine\nmodel = \"m\"   # keep\n[servers.other]\ncommand = \"x\"\n\n[projects.\"/a b\"]\ntrust = 'yes' # tail",
		"\uFEFFa = [1, # one\n  2,\n]\n\n\n", "[[list]]\nx = 1\n[list.in]\ny = {a = 1, b = [\"]\"]}\n[[list]]\n",
		"servers.other.command = 'x'\n", "a = \"\"\"\n[servers.scrollback]\n\"\"\"\n", "d = 1979-05-27T07:32:00Z\nf = nan\n",
		"[servers]\n", "[servers] # mine\n  other = {a = 1}\n",
	},
	editor.YAML: {
		"", "\n", "# only a comment\n", "a: 1", "a: 1\n", "---\na: 1\n", "a: 1\r\nservers:\r\n  other: {b: 1}\r\n",
		"servers:\n  other:\n    cmd: x # y\n  # last\nz: |\n  text\n  more\n", "servers: {}\n", "servers: {other: {a: 1}} # x\n",
		"servers: # none\n\n    # mine\n    other:\n        a: [1, 2]\n", "é: 1\nservers:\n  \"o: \": 'it''s'\n", "{a: 1, servers: {b: 2}}\n",
		"{}\n", "a: &x {b: 1}\nc: *x\nd: .nan\n", "a:\n- 1\n- 2\n",
	},
}

var path = []string{"servers", "scrollback"}

// What is inserted is read, is undone to the byte, and is taken out again without a record; what was there means the
// same all the time.
func TestRoundTrip(t *testing.T) {
	for format, texts := range corpus {
		for i, text := range texts {
			t.Run(fmt.Sprintf("%s %d", format, i), func(t *testing.T) {
				c := roundTrip(t, format, text)
				again, err := editor.Remove(c.Text, format, path)
				if err != nil {
					t.Fatalf("cannot be removed: %v\n%s", err, c.Text)
				}
				if c.Made == 0 && string(again.Text) != text && !strings.Contains(squeeze(text), `servers":{}`) &&
					!strings.HasPrefix(text, "servers: # none") {
					t.Errorf("%q was\n%q and is\n%q", text, c.Text, again.Text)
				}
			})
		}
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// roundTrip inserts and undoes.
func roundTrip(t *testing.T, format editor.Format, text string) editor.Change {
	t.Helper()
	c, err := editor.Insert([]byte(text), format, path, server)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	v, ok, err := editor.Lookup(c.Text, format, path...)
	if err != nil || !ok || !editor.Same(v, server) {
		t.Fatalf("%q became %q: %v, %v", text, c.Text, v, err)
	}
	if back, ok := editor.Undo(c.Text, c.Edits); !ok || string(back) != text {
		t.Errorf("%q became %q, and then %q", text, c.Text, back)
	}
	if lf := strings.Count(string(c.Text), "\n"); strings.Contains(text, "\r\n") &&
		lf != strings.Count(string(c.Text), "\r\n") {
		t.Errorf("%q became %q, with two ends of lines", text, c.Text)
	}
	if _, err := editor.Insert(c.Text, format, path, server); err == nil {
		t.Errorf("%q: it is inserted twice", text)
	}
	moved := append(editor.Object{{Key: "command", Value: "/else/where"}}, server[1:]...)
	r, err := editor.Replace(c.Text, format, path, moved)
	if err != nil {
		t.Fatalf("cannot be replaced: %v\n%s", err, c.Text)
	}
	if r, err = editor.Replace(r.Text, format, path, server); err != nil || string(r.Text) != string(c.Text) {
		t.Errorf("replaced there and back it is\n%q, not\n%q, %v", r.Text, c.Text, err)
	}
	return c
}

// It looks as a person would have written it.
func TestForm(t *testing.T) {
	short := editor.Object{{Key: "command", Value: "x"}, {Key: "args", Value: []any{"mcp"}}}
	for _, c := range []struct {
		format    editor.Format
		was, want string
	}{
		{editor.JSON, "", "{\n  \"servers\": {\n    \"scrollback\": {\n      \"command\": \"x\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"},
		{editor.JSON, `{"a":1}`, `{"a":1, "servers": {"scrollback": {"command": "x", "args": ["mcp"]}}}`},
		{editor.JSON, "{\n\t\"servers\": {\n\t\t\"a\": 1\n\t}\n}",
			"{\n\t\"servers\": {\n\t\t\"a\": 1,\n\t\t\"scrollback\": {\n\t\t\t\"command\": \"x\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}"},
		{editor.JSONC, "{\n  \"servers\": {\n    \"a\": 1 // one\n    // two\n  },\n}",
			"{\n  \"servers\": {\n    \"a\": 1, // one\n    \"scrollback\": {\n      \"command\": \"x\",\n      \"args\": [\"mcp\"]\n    }\n    // two\n  },\n}"},
		{editor.TOML, "a = 1\n", "a = 1\n\n[servers.scrollback]\ncommand = \"x\"\nargs = [\"mcp\"]\n"},
		{editor.TOML, "a = 1", "a = 1\n\n[servers.scrollback]\ncommand = \"x\"\nargs = [\"mcp\"]"},
		{editor.YAML, "a: 1\nservers:\n    b: {}\n", "a: 1\nservers:\n    scrollback:\n      command: x\n      args: [mcp]\n    b: {}\n"},
		{editor.YAML, "a: 1\n", "a: 1\nservers:\n  scrollback:\n    command: x\n    args: [mcp]\n"},
	} {
		got, err := editor.Insert([]byte(c.was), c.format, path, short)
		if err != nil || string(got.Text) != c.want {
			t.Errorf("%q became\n%s\nwant\n%s\n%v", c.was, got.Text, c.want, err)
		}
	}
}

// What cannot be read, or would change its meaning, is refused with the line.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		format editor.Format
		text   string
		line   int
		says   string
	}{
		{editor.JSON, "{\n  // mine\n  \"a\": 1\n}", 2, "comment"},
		{editor.JSON, "{\n  \"a\": 1,\n}", 2, "comma"},
		{editor.JSON, "{\n  \"a\": 1\n  \"b\": 2\n}", 3, "comma"},
		{editor.JSON, "{\n  \"a\": tru\n}", 2, "value"},
		{editor.JSON, "{\n  \"a\": \"x\n}", 2, "text"},
		{editor.JSON, "[]", 1, "object"},
		{editor.JSON, "{}\n{}", 2, "behind"},
		{editor.JSON, "{\n\"servers\": []}", 2, "table"},
		{editor.JSON, "{\n\"servers\": null}", 2, "table"},
		{editor.JSON, "{\n\"servers\": {},\n\"servers\": {}}", 3, "twice"},
		{editor.JSON, "{\n\"servers\": {\n\"scrollback\": 1}}", 3, "already"},
		{editor.JSON, strings.Repeat("[", 1<<20), 1, "deep"},
		{editor.JSON, "{\"a\": \"" + strings.Repeat("a", 17<<20) + "\"}", 1, "large"},
		{editor.JSONC, "{\n/* x\n}", 2, "comment"},
		{editor.JSON, "\xff\xfe{\x00}\x00", 1, "value"},
		{editor.JSON5, "{\na: '\\xZZ'}", 2, "escape"},
		{editor.TOML, "a = 1\na = 2\n", 2, "TOML"},
		{editor.TOML, "a = 1\nservers = {a = {}}\n", 2, "without changing more"},
		{editor.TOML, "a = 1\n[servers]\nscrollback.command = 1\n", 3, "already"},
		{editor.TOML, "[[servers]]\na = 1\n", 1, ""},
		{editor.YAML, "a: 1\n b: 2\n", 2, "YAML"},
		{editor.YAML, "- 1\n", 1, "table"},
		{editor.YAML, "a: 1\n---\nb: 1\n", 2, "document"},
		{editor.YAML, "a: 1\nservers: [1]\n", 2, "table"},
		{editor.YAML, "x: &a\n  b: 1\nservers: *a\n", 3, "table"},
		{editor.YAML, "a: 1\n...\n", 1, ""},
	} {
		out, err := editor.Insert([]byte(c.text), c.format, path, server)
		var fault *splice.Fault
		if !errors.As(err, &fault) || c.says != "" && fault.Line != c.line || !strings.Contains(fault.Reason, c.says) ||
			out.Text != nil {
			t.Errorf("%s %.40q: %v, want line %d with %q\n%s", c.format, c.text, err, c.line, c.says, out.Text)
		}
	}
}

// Lists grow at their end, and lose what was added, wherever it stands by then.
func TestLists(t *testing.T) {
	list := []string{"hooks", "SessionStart"}
	group := editor.Object{{Key: "hooks", Value: []any{server}}}
	for _, text := range []string{"", "{}", "{\"hooks\": {}}", "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n",
		"{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": []}\n    ],\n    \"Stop\": [1]\n  }\n}\n", "{\"hooks\": {\"SessionStart\": [1, 2]}}"} {
		c, err := editor.Append([]byte(text), editor.JSON, list, group)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if back, ok := editor.Undo(c.Text, c.Edits); !ok || string(back) != text {
			t.Errorf("%q became %q, and then %q", text, c.Text, back)
		}
		v, _, _ := editor.Lookup(c.Text, editor.JSON, list...)
		items, _ := v.([]any)
		if n := len(items); n == 0 || !editor.Same(items[n-1], group) {
			t.Fatalf("%q became %s", text, c.Text)
		}
		more, err := editor.Append(c.Text, editor.JSON, list, 3)
		if err != nil {
			t.Fatal(err)
		}
		less, err := editor.RemoveItem(more.Text, editor.JSON, list, len(items)-1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := editor.Append([]byte(text), editor.JSON, list, 3)
		if v, _, _ := editor.Lookup(less.Text, editor.JSON, list...); err != nil || !strings.Contains(fmt.Sprint(v), "3") ||
			len(items) > 1 && string(less.Text) != string(want.Text) {
			t.Errorf("%q became\n%s, not\n%s, %v", more.Text, less.Text, want.Text, err)
		}
	}
	for _, text := range []string{"{\n\"hooks\": 1}", "{\n\"hooks\": {\"SessionStart\": {}}}"} {
		_, err := editor.Append([]byte(text), editor.JSON, list, group)
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Others may have added to the file since: what they wrote stays.
func TestRemoveAmongOthers(t *testing.T) {
	for _, c := range []struct {
		format     editor.Format
		text, want string
	}{
		{editor.JSON, `{"servers": {"scrollback": {"a": 1}, "b": 2}}`, `{"servers": {"b": 2}}`},
		{editor.JSON, `{"servers": {"b": 2, "scrollback": {"a": 1}, "c": 3}}`, `{"servers": {"b": 2, "c": 3}}`},
		{editor.JSONC, "{\"servers\": {\n  \"b\": 2, // two\n  // ours\n  \"scrollback\": {}\n}}",
			"{\"servers\": {\n  \"b\": 2 // two\n  // ours\n}}"},
		{editor.JSONC, "{\"servers\": {\n  // ours\n  \"scrollback\": {} }}", "{\"servers\": {\n  // ours\n }}"},
		{editor.JSONC, "{\"servers\": {\"scrollback\": {} /* x */, \"b\": 1}}", "{\"servers\": { /* x */ \"b\": 1}}"},
		{editor.TOML, "a = 1\n\n[servers.scrollback]\ncommand = 'x'\n\n[servers.scrollback.tools.a]\nb = 1\n\n[z]\n", "a = 1\n\n[z]\n"},
		{editor.TOML, "[servers.scrollback]\r\ncommand = 'x' # y\r\n# mine\r\n[z]\r\n", "# mine\r\n[z]\r\n"},
		{editor.TOML, "[servers]\nscrollback = {command = 'x'}\nb = 1\n", "[servers]\nb = 1\n"},
		{editor.YAML, "servers:\n  a: 1\n  scrollback:\n    b: [1,\n      2]\n  # c\n  d: 1\n",
			"servers:\n  a: 1\n  # c\n  d: 1\n"},
		{editor.YAML, "servers:\n  a: 1\n  scrollback:\n    b: [1,\n    ]\n  d: 1\n", ""},
		{editor.YAML, "servers:\n  a: 1\n  scrollback: {b: 1}\n  # c\n  d: 1\n", "servers:\n  a: 1\n  # c\n  d: 1\n"},
		{editor.YAML, "servers: {scrollback: {b: '}'}, d: 1}\n", "servers: {d: 1}\n"},
		{editor.YAML, "servers: {d: 1, scrollback: {b: 1}}\n", "servers: {d: 1}\n"},
		{editor.YAML, "servers:\n  scrollback: {b: 1}\nc: 1\n", "servers: {}\nc: 1\n"},
	} {
		got, err := editor.Remove([]byte(c.text), c.format, path)
		if string(got.Text) != c.want || c.want == "" && err == nil {
			t.Errorf("%q became\n%q, want\n%q, %v", c.text, got.Text, c.want, err)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for format, texts := range corpus {
		for _, text := range texts {
			f.Add(string(format), text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		format := editor.Format(name)
		c, err := editor.Insert([]byte(text), format, path, server)
		if err != nil {
			var fault *splice.Fault
			if !errors.As(err, &fault) || fault.Line < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if back, ok := editor.Undo(c.Text, c.Edits); !ok || string(back) != text {
			t.Fatalf("%q became %q, and then %q", text, c.Text, back)
		}
		v, ok, err := editor.Lookup(c.Text, format, path...)
		if err != nil || !ok || !editor.Same(v, server) {
			t.Fatalf("%q became %q: %v, %v", text, c.Text, v, err)
		}
		if r, err := editor.Remove(c.Text, format, path); err == nil {
			if _, there, err := editor.Lookup(r.Text, format, path...); there || err != nil {
				t.Fatalf("%q became %q: %v", c.Text, r.Text, err)
			}
		}
	})
}

// Formats are told by names.
func TestFormatOf(t *testing.T) {
	for name, want := range map[string]editor.Format{"a.json": editor.JSON, "A.JSONC": editor.JSONC, "x.toml": editor.TOML,
		"x.yml": editor.YAML, "x.yaml": editor.YAML, "x.json5": editor.JSON5, "x": editor.JSON} {
		if got := editor.FormatOf(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}
