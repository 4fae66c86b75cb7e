package highlight

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

var update = flag.Bool("update", false, "rewrite lexers.zip from chroma's lexers")

// standIns are languages whose lexers hide the rules that they are made of, so that nothing could
// stop them, and the language whose rules they get instead.
var standIns = map[string]string{
	"Common Lisp":      "Scheme",
	"EmacsLisp":        "Scheme",
	"ERB":              "HTML",
	"Go HTML Template": "HTML",
	"PHTML":            "PHP",
	"Raku":             "Perl", // it splits what stands inside it by code of its own
	"Svelte":           "HTML",
	"YAML+Jinja":       "YAML",
}

// httpRules are those of HTTP whose functions can be said by groups.
var httpRules = map[string]chroma.Emitter{
	`([^\s:]+)( *)(:)( *)([^\r\n]+)(\r?\n|\Z)`: chroma.ByGroups(chroma.Name, chroma.Text, chroma.Operator, chroma.Text,
		chroma.Literal, chroma.Text),
	`([\t ]+)([^\r\n]+)(\r?\n|\Z)`: chroma.ByGroups(chroma.Text, chroma.Literal, chroma.Text),
	`.+`:                           chroma.Generic,
}

// findRules returns the lexer whose rules a lexer uses, or nil. Two of chroma's wrap one to give parts of
// the text to others; those parts stay as they are here.
func findRules(l chroma.Lexer) *chroma.RegexLexer {
	if r, ok := l.(*chroma.RegexLexer); ok {
		return r
	}
	v := reflect.Indirect(reflect.ValueOf(l))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if inner := v.FieldByName("Lexer"); inner.IsValid() && inner.CanInterface() {
		r, _ := inner.Interface().(*chroma.RegexLexer)
		return r
	}
	return nil
}

// ownEmitter returns what a rule emits, as far as chroma made it: functions of a lexer's own may start lexers that
// are not guarded, and are replaced by plain text, or inside a group by what stands beside them.
func ownEmitter(e chroma.Emitter) chroma.Emitter {
	if e == nil {
		return nil
	}
	if _, ok := e.(chroma.SerialisableEmitter); !ok {
		return chroma.Text
	}
	group := groupsOf(e)
	beside := chroma.Emitter(chroma.Text)
	foreign := false
	for _, in := range group {
		if in == nil {
			foreign = true
			continue
		}
		if t, ok := in.(chroma.TokenType); ok {
			beside = t
		}
		if _, ok := in.(chroma.SerialisableEmitter); !ok {
			foreign = true
		}
	}
	if !foreign {
		return e
	}
	mended := make([]chroma.Emitter, len(group))
	for i, in := range group {
		mended[i] = in
		if in == nil {
			mended[i] = silent
		}
		if _, ok := in.(chroma.SerialisableEmitter); in != nil && !ok {
			mended[i] = beside
		}
	}
	return chroma.ByGroups(mended...)
}

// groupsOf returns a copy of what the groups of an emitter emit; nil if it has none.
func groupsOf(e chroma.Emitter) []chroma.Emitter {
	if e == nil {
		return nil
	}
	v := reflect.Indirect(reflect.ValueOf(e))
	if v.Kind() != reflect.Struct {
		return nil
	}
	field := v.FieldByName("Emitters")
	if !field.IsValid() || !field.CanInterface() {
		return nil
	}
	group, _ := field.Interface().(chroma.Emitters)
	return slices.Clone(group)
}

// silent stands for a group of which nothing is emitted: chroma stores none, and drops what this one emits.
const silent = chroma.Ignore

// storable returns chroma's lexers as they can be stored: without functions of their own, some of which start lexers
// that nothing could stop.
func storable(t *testing.T) (out []*chroma.RegexLexer) {
	t.Helper()
	named := map[string]chroma.Lexer{}
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		named[l.Config().Name] = l
	}
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		from := findRules(l)
		if other, ok := standIns[l.Config().Name]; ok {
			from = findRules(named[other])
		}
		if from == nil {
			continue
		}
		rules, err := from.Rules()
		if err != nil {
			t.Fatal(err)
		}
		own := chroma.Rules{}
		for state, list := range rules {
			for _, r := range list {
				if e := httpRules[r.Pattern]; e != nil && l.Config().Name == "HTTP" {
					r.Type = e
				}
				r.Type = ownEmitter(r.Type)
				if _, ok := r.Mutator.(chroma.SerialisableMutator); !ok {
					r.Mutator = nil
				}
				own[state] = append(own[state], r)
			}
		}
		settings := *l.Config()
		settings.Analyse = nil
		made, err := chroma.NewLexer(&settings, func() chroma.Rules { return own })
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, made)
	}
	return out
}

// TestStoredLexers compares the archive with chroma's lexers, and writes it with -update.
func TestStoredLexers(t *testing.T) {
	all := storable(t)
	var settings []chroma.Config
	texts := map[string][]byte{}
	for _, l := range all {
		settings = append(settings, *l.Config())
		text, err := chroma.Marshal(l)
		if err != nil {
			t.Fatalf("%s: %v", l.Config().Name, err)
		}
		if texts[fileOf(l.Config().Name)] != nil {
			t.Fatalf("two lexers are called %s", l.Config().Name)
		}
		texts[fileOf(l.Config().Name)] = text
	}
	list, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeStored(t, list, settings, texts)
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readStored(files, listName), list) || len(files.File) != len(texts)+1 {
		t.Error("other lexers: go test ./internal/highlight -run TestStoredLexers -update")
	}
	for _, l := range all {
		fresh, err := chroma.Unmarshal(texts[fileOf(l.Config().Name)])
		if err != nil {
			t.Fatal(err)
		}
		rules, err := fresh.Rules()
		if err != nil {
			t.Fatal(err)
		}
		again := readRules(files, l.Config().Name)
		if l.Config().Name == "Haxe" { // its function is no value to compare
			again = clearMutator(again)
			rules = clearMutator(rules)
		}
		if !reflect.DeepEqual(again, rules) {
			t.Errorf("%s has other rules", l.Config().Name)
		}
	}
}

// clearMutator returns rules without what follows a condition of Haxe.
func clearMutator(rules chroma.Rules) chroma.Rules {
	for _, list := range rules {
		for i := range list {
			if list[i].Pattern == haxeCondition {
				list[i].Mutator = nil
			}
		}
	}
	return rules
}

// writeStored writes the archive.
func writeStored(t *testing.T, list []byte, settings []chroma.Config, texts map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, text []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add(listName, list)
	for _, s := range settings {
		add(fileOf(s.Name), texts[fileOf(s.Name)])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lexers.zip", b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	archive = b.Bytes()
}

// TestConditions holds Haxe's conditions to chroma's.
func TestConditions(t *testing.T) {
	code := "class A {\n#if js\n  var a = 1;\n#elseif (sys && !debug)\n  var a:Int = 2;\n#else\n  function f() { }\n#end\n#error \"no\"\n}\n"
	from, err := lexers.Get("haxe").Tokenise(nil, code)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range storedLexers() {
		if l.Config().Name != "Haxe" {
			continue
		}
		stored, err := l.Tokenise(nil, code)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := from.Tokens(), stored.Tokens(); !reflect.DeepEqual(a, b) {
			t.Errorf("%v\n%v", a, b)
		}
	}
}
