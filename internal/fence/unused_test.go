package fence

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// idle lists what the table of rooms permits and no file needs: an entry without a
// room, a room or library that nobody imports, the network.
func idle(files []source, table map[string]entry) []string {
	imports := map[string]map[string]bool{} // by entry, outside tests
	for _, s := range files {
		name, ok := entryOf(s.room, table)
		if !ok || s.test {
			continue
		}
		if imports[name] == nil {
			imports[name] = map[string]bool{}
		}
		for _, im := range s.imports() {
			imports[name][im] = true
		}
	}
	var out []string
	for name, e := range table {
		if imports[name] == nil {
			out = append(out, name+": there is no such room")
			continue
		}
		all := slices.Collect(maps.Keys(imports[name]))
		for _, room := range strings.Fields(e.rooms) {
			if !slices.ContainsFunc(all, func(im string) bool { return within(im, module) && listed(room, ourRoom(im)) }) {
				out = append(out, name+" does not import the room "+room)
			}
		}
		for _, lib := range strings.Fields(e.libs) {
			if !slices.ContainsFunc(all, func(im string) bool { return within(im, lib) }) {
				out = append(out, name+" does not import the library "+lib)
			}
		}
		if e.net && !slices.ContainsFunc(all, isNet) {
			out = append(out, name+" does not use the network")
		}
	}
	slices.Sort(out)
	return out
}

// idleSuites lists the libraries of tests that no test imports, or that a room has
// in any case.
func idleSuites(files []source, table map[string]entry, suites []string) []string {
	var out []string
	for _, lib := range suites {
		needed := slices.ContainsFunc(files, func(s source) bool {
			return s.test && slices.ContainsFunc(s.imports(), func(im string) bool { return within(im, lib) && !inSomeRoom(im, table) })
		})
		if !needed {
			out = append(out, "no test needs "+lib)
		}
	}
	return out
}

// A permission that nobody uses is a gap in the fence.
func TestNoPermissionIsIdle(t *testing.T) {
	all := sources(t)
	for _, what := range slices.Concat(idle(all, rooms), idleSuites(all, rooms, suites)) {
		t.Error(what)
	}
}

func TestNoPermissionIsIdleCanFail(t *testing.T) {
	ours := func(room string) string { return `import "` + path.Join(module, room) + "\"\n" }
	table := map[string]entry{
		"a":        {rooms: ". b c", libs: "example.com/used example.com/idle", net: true},
		"b":        {rooms: "a d/* e/*", net: true},
		"d/*":      {rooms: "a"},
		"notebook": {},
		"e/*":      {},
	}
	files := []source{
		parse(t, "a/a.go", "package a\n"+ours("")+ours("b")+"import \"example.com/used/part\"\n"),
		parse(t, "a/a_test.go", "package a\n"+ours("c")+
			"import \"example.com/idle\"\nimport \"net/http\"\nimport \"example.com/suite\"\nimport \"example.com/used\"\n"),
		parse(t, "b/b.go", "package b\n"+ours("a")+ours("d/one")+"import \"net/http\"\n"),
		parse(t, "b/e.go", "package b\n"+ours("e")+"import \"example.com/usedup\"\n"),
		parse(t, "d/one/one.go", "package one\n"),
		parse(t, "d/two/two.go", "package two\n"+ours("a")),
	}
	got := slices.Concat(idle(files, table), idleSuites(files, table, []string{"example.com/suite", "example.com/used", "example.com/none"}))
	want := []string{
		"a does not import the library example.com/idle",
		"a does not import the room c",
		"a does not use the network",
		"b does not import the room e/*",
		"e/*: there is no such room",
		"notebook: there is no such room",
		"no test needs example.com/used",
		"no test needs example.com/none",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
