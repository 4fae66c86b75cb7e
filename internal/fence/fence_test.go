package fence

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers are the rooms from the top down. A room imports itself, what is inside it, and rooms of
// lines further down; rooms of one line do not know each other. Everyone may import internal, the
// internal, and suites (folders whose name ends in "test") are imported by tests and suites only.
var layers = []string{
	"cmd bench tools test",
	"internal/terminal", // takes its language from the server's table
	"internal/server cloud",
	"local internal/doctor functions",
	"internal/collect",
	"internal/transfer internal/notebook internal/door internal/handoff internal/standing",
	"engine",
	"internal/recall internal/intake internal/hook internal/exchange internal/meet",
	"internal/archive compact internal/title bundle internal/websearch",
	"internal/store model",
	"transcript internal/workspace internal/thoughts internal/merge window token",
	"internal/kept internal/stamp internal/ids internal/clients internal/install internal/identity clients",
	"internal/wire .",
	"internal",
}

// never is what the files of some rooms may not import. Both are lists of folders or import paths,
// each with all below it; "=" before a room means that folder alone, "*" every room.
type never struct{ rooms, except, imports, why string }

var nevers = []never{
	{
		"=.",
		"",
		"database/sql net os io/fs log math/rand",
		"the words need nothing but values; clock and ids arrive as arguments",
	},
	{"window", "", "context time io os bufio net database/sql log math/rand", "which items fit is arithmetic over values"},
	{"internal/merge", "", "io os bufio net database/sql log math/rand", "a merge is values in, values out"},
	{
		"compact internal/title",
		"",
		"internal/store internal/archive io os net database/sql log math/rand",
		"compact returns what the engine commits",
	},
	{"internal/store", "internal/store/sql", "net database/sql os", "the facade has no database of its own"},
	{
		"internal/store/sql",
		"internal/store/sql/postgres internal/store/sql/sqlite",
		"os net",
		"a statement knows no machine",
	},
	{
		"engine internal/recall internal/intake internal/transfer functions internal/doctor",
		"",
		"net/http database/sql os",
		"what a conversation is does not depend on a face or a database",
	},
	{
		"model transcript",
		"transcript/foreign transcript/tooltest",
		"os database/sql",
		"somebody else's format, and nothing else",
	},
	{"transcript", "", "net", "a reader of files makes no connection"},
	{"internal/server/restapi", "", "internal/server/mcpapi internal/server/webui", "faces do not know each other"},
	{"internal/server/mcpapi", "", "internal/server/restapi internal/server/webui", "faces do not know each other"},
	{"internal/server/webui", "", "internal/server/restapi internal/server/mcpapi", "faces do not know each other"},
	{
		"internal/terminal",
		"",
		"internal/server/restapi internal/server/mcpapi internal/server/webui",
		"faces do not know each other",
	},
	{
		"*",
		"internal/store local cloud bench",
		"internal/store/driver internal/store/sql",
		"only local and cloud open a database",
	},
	{
		"*",
		"model local cmd/scrollback/config bench",
		"model/all model/openai model/anthropic model/gemini model/ollama",
		"only local knows providers",
	},
}

// homes are the only rooms that import a large library. What is not listed is anyone's, but the
// root's, which has none.
var homes = map[string]string{
	"filippo.io/age":                         "internal/identity",
	"database/sql":                           "internal/store/sql internal/hook/ledger transcript/foreign bench",
	"modernc.org/sqlite":                     "internal/store/sql/sqlite internal/hook/ledger transcript/foreign bench",
	"github.com/jackc/pgx":                   "internal/store/sql/postgres bench",
	"gocloud.dev":                            "cloud",
	"github.com/aws":                         "cloud",
	"cloud.google.com":                       "cloud",
	"github.com/Azure":                       "cloud",
	"go.opentelemetry.io":                    "engine/watch internal/server/metrics",
	"github.com/prometheus":                  "internal/server/metrics",
	"github.com/danielgtaylor/huma":          "internal/server/restapi",
	"github.com/modelcontextprotocol/go-sdk": "internal/server/mcpapi",
	"charm.land/bubbletea":                   "internal/terminal",
	"github.com/knadh/koanf":                 "cmd/scrollback/config",
	"github.com/chromedp":                    "bench/page",
	"github.com/compose-spec/compose-go":     "tools",
}

// breach returns why a file may not import a package, or nothing.
func breach(s source, name string) string {
	ours := within(name, module)
	if outside(name) && s.room == "." {
		return "the root has the standard library only"
	}
	if ours && s.room == "." && ourRoom(name) != "internal/i18n" {
		return "of all rooms the root knows the catalogue of sentences only"
	}
	for lib, rooms := range homes {
		if within(name, lib) && !isSuite(s.room) && !inRooms(s.room, rooms) {
			return "at home in " + rooms
		}
	}
	said := name
	if ours {
		said = ourRoom(name)
	}
	for _, n := range nevers {
		if name == "net/url" { // addresses as text
			break
		}
		if inRooms(s.room, n.rooms) && !inRooms(s.room, n.except) && !isSuite(s.room) && inRooms(said, n.imports) {
			return n.why
		}
	}
	if !ours {
		return ""
	}
	if isSuite(said) && !isSuite(s.room) {
		return "a room for tests"
	}
	from := layerOf(s.room)
	to := layerOf(said)
	if from < 0 || to < 0 {
		return "the room is in no layer"
	}
	if top(s.room) == top(said) || isSuite(s.room) || to > from {
		return ""
	}
	return "imports run down"
}

// layerOf returns the line of a room in layers, or -1.
func layerOf(room string) int {
	return slices.IndexFunc(layers, func(line string) bool { return slices.Contains(strings.Fields(line), top(room)) })
}

// top returns the first folder of a room.
func top(room string) string {
	first, rest, _ := strings.Cut(room, "/")
	if first != "internal" {
		return first
	}
	second, _, _ := strings.Cut(rest, "/")
	for _, line := range layers {
		if slices.Contains(strings.Fields(line), first+"/"+second) {
			return first + "/" + second
		}
	}
	return first
}

// inRooms reports whether a room, or an import, is one of those listed or below one.
func inRooms(name, rooms string) bool {
	return slices.ContainsFunc(strings.Fields(rooms), func(r string) bool {
		alone, isAlone := strings.CutPrefix(r, "=")
		return r == "*" || isAlone && name == alone || !isAlone && within(name, r)
	})
}

// isSuite reports whether a room is there for tests, which alone may import it: its name,
// or that of a room around it, ends in "test".
func isSuite(room string) bool {
	return slices.ContainsFunc(strings.Split(room, "/"), func(name string) bool { return strings.HasSuffix(name, "test") })
}

// ourRoom returns the room behind an import path of ours.
func ourRoom(name string) string {
	return path.Join(".", strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))
}

// within reports whether an import path is that one or below it.
func within(name, lib string) bool { return name == lib || strings.HasPrefix(name, lib+"/") }

// outside reports whether an import is of a library that is not ours.
func outside(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".") && !within(name, module)
}

func TestFence(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, name := range s.imports() {
			if name == "testing" && !isSuite(s.room) {
				t.Errorf("%s imports testing: only a suite may", s.path)
			}
			if why := breach(s, name); why != "" {
				t.Errorf("%s may not import %s: %s", s.path, name, why)
			}
		}
	}
}

// What the tables name is there: a rule about a room of before holds nothing.
func TestFenceNamesRooms(t *testing.T) {
	var all []string
	for _, s := range sources(t) {
		all = append(all, s.room)
	}
	named := strings.Join(layers, " ")
	for _, n := range nevers {
		named += " " + n.rooms + " " + n.except
	}
	for _, rooms := range homes {
		named += " " + rooms
	}
	for _, room := range strings.Fields(named) {
		room = strings.TrimPrefix(room, "=")
		if room != "*" && !slices.ContainsFunc(all, func(r string) bool { return within(r, room) }) {
			t.Errorf("there is no room %s", room)
		}
	}
}

// The clock is for those who are given one: compact writes dates, and the root knows the days
// of time zones, but neither asks what time it is.
func TestNoClock(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && (s.room == "." || s.room == "window" || s.room == "compact" ||
			s.room == "internal/merge" || s.room == "internal/store/drivertest/oracle") {
			for _, call := range calls(s, "time", "Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick",
				"AfterFunc") {
				t.Errorf("%s: %s", s.path, call)
			}
		}
	}
	bad := parse(t, "compact/bad.go", "package compact\nimport clock \"time\"\nvar x = clock.Now()\nvar f = clock.Since\n")
	if got := calls(bad, "time", "Now", "Since"); len(got) != 2 {
		t.Fatalf("a planted clock was found as %q", got)
	}
}

// door is the one function that reads the head of a conversation, for a caller.
const door = "engine/view.go openHead"

// heads lists the calls of a file that read a head past the door.
func heads(s source) []string {
	var out []string
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || s.path+" "+f.Name.Name == door {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			// ReadHead is the store's, and the driver's.
			if ok && sel.Sel.Name == "ReadHead" {
				out = append(out, fmt.Sprintf("line %d reads a head", s.line(call.Pos())))
			}
			return true
		})
	}
	return out
}

// A conversation is opened for a caller, at one door. Beside it only the store itself
// reads heads, the doctor and the exchange of whole stores, who see all, tests and benchmarks.
func TestOneDoor(t *testing.T) {
	for _, s := range sources(t) {
		in := top(s.room)
		if s.test || isSuite(s.room) || in == "internal/store" || in == "bench" || in == "internal/doctor" ||
			in == "internal/exchange" {
			continue
		}
		for _, at := range heads(s) {
			t.Errorf("%s: %s past the door (%s)", s.path, at, door)
		}
	}
	bad := parse(
		t,
		"internal/transfer/bad.go",
		"package transfer\nfunc (t *Transfer) f() { t.store.ReadHead(ctx, id); t.view.Bulk().Head(ctx, id, "+
			"need); e.store.Read.ReadHead(ctx, id); log().ReadHead(ctx, id); r.access.Head(ctx, id) }\n",
	)
	if got := heads(bad); len(got) != 3 {
		t.Errorf("planted heads were found as %q", got)
	}
	good := parse(t, "engine/view.go", "package engine\nfunc (d access) openHead() { d.store.ReadHead(ctx, id) }\n")
	if got := heads(good); len(got) != 0 {
		t.Errorf("the door itself was found: %q", got)
	}
}

// The fence finds what it is there to find.
func TestFenceCanFail(t *testing.T) {
	for file, want := range map[string]bool{
		"window/x.go context":                                                false,
		"window/x.go net/http":                                               false,
		"window/x.go net/url":                                                true,
		"window/x.go " + module + "/token":                                   false,
		"window/x.go " + module + "/internal/clip":                           true,
		"compact/x.go " + module + "/internal/store":                         false,
		"compact/x.go " + module + "/window":                                 true,
		"engine/x.go " + module + "/internal/server":                         false,
		"engine/x.go " + module + "/internal/store":                          true,
		"engine/x.go " + module + "/internal/store/driver":                   false,
		"engine/x.go " + module + "/internal/store/sql":                      false,
		"engine/x.go " + module + "/model/openai":                            false,
		"engine/x.go net/http":                                               false,
		"internal/store/x.go database/sql":                                   false,
		"internal/store/sql/x.go database/sql":                               true,
		"internal/store/sql/x.go os":                                         false,
		"internal/store/sql/x.go modernc.org/sqlite":                         false,
		"internal/store/sql/sqlite/x.go os":                                  true,
		"x.go github.com/google/uuid":                                        false,
		"x.go net/http":                                                      false,
		"x.go " + module + "/internal/clip":                                  false,
		"internal/server/restapi/x.go " + module + "/engine":                 true,
		"internal/server/restapi/x.go " + module + "/internal/server/mcpapi": false,
		"internal/server/x.go " + module + "/internal/server/mcpapi":         true,
		"internal/terminal/x.go " + module + "/internal/server/restapi":      false,
		"internal/terminal/x.go " + module + "/cmd/scrollback":               false,
		"model/remote/x.go net/http":                                         true,
		"transcript/codex/x.go net/http":                                     false,
		"transcript/codex/x.go os":                                           false,
		"bench/x.go " + module + "/engine/enginetest":                        false,
		"engine/enginetest/x.go " + module + "/internal/transfer":            true,
		"notion/x.go " + module + "/internal/store":                          false,
		"notion/x.go fmt":                                                    true,
		"local/x.go gocloud.dev/blob":                                        false,
		"local/x.go " + module + "/cloud":                                    false,
		"internal/server/x.go " + module + "/cloud":                          false,
		"cloud/x.go " + module + "/internal/store/sql":                       true,
	} {
		at, name, _ := strings.Cut(file, " ")
		why := breach(source{path: at, room: path.Dir(at)}, name)
		if (why == "") != want {
			t.Errorf("%s importing %s: %q", at, name, why)
		}
	}
}

// calls lists the uses of some names of a package in a file.
func calls(s source, pkg string, names ...string) []string {
	var out []string
	for _, sel := range selectors(s, pkg) {
		if slices.Contains(names, sel.Sel.Name) {
			out = append(out, fmt.Sprintf("line %d uses %s.%s", s.line(sel.Pos()), pkg, sel.Sel.Name))
		}
	}
	return out
}
