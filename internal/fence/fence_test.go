package fence

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// rooms is the fence: what the files of a folder, tests apart, may import.
//
//	rooms   of ours, separated by spaces; a/* is any one folder in a
//	libs    outside libraries, by the beginning of their import path
//	not     packages of the standard library it may not use, besides those
//	        that only rooms which name them in net may use
//	net     the room may speak to the network (net and its subpackages)
//
// A folder takes the entry of its own name, else that of its parent with /*.
// What is listed and no file imports is a fault too: TestNoPermissionIsIdle.
var rooms = map[string]entry{
	".": {not: "database/sql os io/fs math/rand math/rand/v2 log log/slog"},

	"window": {rooms: ". internal/clip internal/marks internal/same",
		not: "context time io os io/fs bufio database/sql log log/slog math/rand math/rand/v2"},
	"compact": {rooms: ". compact/minutes compact/work internal/clip internal/cue internal/marks internal/nearest internal/same " +
		"internal/standing internal/terms internal/toolcall model window", not: "io os io/fs database/sql log log/slog math/rand math/rand/v2"},
	"compact/minutes": {rooms: ". internal/clip", not: "context io os io/fs time database/sql log log/slog math/rand math/rand/v2"},
	"compact/work": {rooms: ". internal/clip internal/toolcall window",
		not: "context io os io/fs time database/sql log log/slog math/rand math/rand/v2"},
	"title": {rooms: ". internal/clip internal/marks model window",
		not: "time io os io/fs bufio database/sql log log/slog math/rand math/rand/v2"},
	"token":       {rooms: "token/o200k", libs: "charm.land/catwalk", not: "context os database/sql"},
	"token/o200k": {libs: "github.com/klauspost/compress/zstd", not: "context os database/sql"},

	"archive": {rooms: ". internal/listing",
		libs: "gocloud.dev/blob gocloud.dev/gcerrors github.com/grafana/regexp github.com/google/renameio/v2",
		not:  "database/sql"},
	"workspace": {rooms: ". internal/marks", libs: "github.com/go-git/go-git/v5 github.com/go-playground/locales " +
		"golang.org/x/text/language golang.org/x/text/unicode/norm",
		not: "database/sql"},
	"workspace/foldertest": {not: "context database/sql"},
	"workspace/reference":  {rooms: ". workspace", not: "database/sql os time"},

	"store": {rooms: ". store/claims store/driver store/feed store/index store/keyring store/payload store/search",
		libs: "github.com/google/uuid",
		not:  "database/sql os"},
	"store/claims":        {rooms: ". store/driver", not: "database/sql os"},
	"store/payload":       {rooms: ".", not: "context database/sql os time"},
	"store/keyring":       {rooms: ". store/driver", not: "database/sql os"},
	"store/index":         {rooms: ". internal/terms store/claims store/driver", not: "database/sql os"},
	"store/search":        {rooms: ". internal/standing internal/terms store/driver store/index", not: "database/sql os"},
	"store/feed":          {rooms: ". store/driver", not: "database/sql os io"},
	"store/feed/feedtest": {rooms: ". store/driver", not: "database/sql os"},
	"store/driver":        {rooms: ".", not: "database/sql os io"},
	"store/memdriver":     {rooms: ". store/driver store/memdriver/memaccess", not: "database/sql os time"},
	"store/sqldriver": {rooms: ". store/driver store/sqldriver/sqlaccess store/sqldriver/sqlaudit store/sqldriver/sqlclaim " +
		"store/sqldriver/sqlfeed store/sqldriver/sqlindex store/sqldriver/sqlorigin store/sqldriver/sqlrow",
		libs: "github.com/pressly/goose/v3", not: "os"},
	"store/drivertest": {rooms: ". store/driver store/drivertest/claimtest store/drivertest/keytest store/drivertest/limittest",
		libs: "github.com/google/go-cmp", not: "database/sql os"},
	"store/drivertest/keytest":  {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os time"},
	"store/memdriver/memaccess": {rooms: ". store/driver", not: "database/sql os time"},
	"store/sqldriver/sqlrow":    {rooms: ". store/driver", not: "os time"},
	"store/sqldriver/sqlaccess": {rooms: ". store/driver store/sqldriver/sqlrow", not: "os time"},
	"store/sqldriver/sqlaudit":  {rooms: ". internal/postings store/driver store/sqldriver/sqlrow", not: "os"},
	"store/sqldriver/sqlindex": {rooms: ". internal/postings store/driver store/sqldriver/sqlrow",
		not: "os"},
	"store/sqldriver/sqlclaim":     {rooms: "store/driver store/sqldriver/sqlrow", not: "os time"},
	"store/sqldriver/sqlorigin":    {rooms: ". store/driver store/sqldriver/sqlrow", not: "os time"},
	"store/sqldriver/sqlfeed":      {rooms: ". store/driver store/sqldriver/sqlrow", not: "os time"},
	"store/drivertest/sourcetest":  {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os time"},
	"store/drivertest/shapetest":   {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os"},
	"store/drivertest/viewtest":    {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os time"},
	"store/drivertest/projecttest": {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os"},
	"store/drivertest/origintest":  {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os time"},
	"store/drivertest/faulttest":   {rooms: ". store/driver", not: "database/sql os"},
	"store/drivertest/indextest":   {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os time"},
	"store/drivertest/claimtest":   {rooms: ". store/driver", not: "database/sql os"},
	"store/drivertest/hashtest":    {rooms: ". store/driver", not: "database/sql os time"},
	"store/drivertest/limittest":   {rooms: ". store/driver", libs: "github.com/google/go-cmp", not: "database/sql os"},
	"store/sqldriver/sqlmove":      {rooms: ". store/sqldriver store/sqldriver/sqlindex store/sqldriver/sqlrow", not: "os"},
	"store/sqldriver/sqlite": {rooms: ". store/driver store/sqldriver store/sqldriver/sqlaudit store/sqldriver/sqlindex " +
		"store/sqldriver/sqlmove store/sqldriver/sqlrow",
		libs: "modernc.org/sqlite github.com/gofrs/flock github.com/pressly/goose/v3"},
	"store/sqldriver/postgres": {rooms: ". store/driver store/sqldriver store/sqldriver/sqlaccess store/sqldriver/sqlaudit " +
		"store/sqldriver/postgres/pgmove store/sqldriver/sqlfeed store/sqldriver/sqlindex store/sqldriver/sqlmove store/sqldriver/sqlrow",
		libs: "github.com/jackc/pgx/v5 github.com/pressly/goose/v3", net: true},
	"store/sqldriver/postgres/pgmove":       {rooms: "store/sqldriver/sqlmove store/sqldriver/sqlrow", not: "os time"},
	"store/sqldriver/postgres/postgrestest": {libs: "github.com/jackc/pgx/v5", not: "database/sql", net: true},

	"model":           {rooms: ".", not: "database/sql os"},
	"model/modeltest": {rooms: ". internal/testlength model wire", not: "database/sql", net: true},
	"model/offline":   {rooms: ". model internal/terms", not: "database/sql os"},
	"model/remote":    {rooms: ". model internal/redact", net: true, not: "database/sql os"},
	"model/lessons":   {rooms: ". model token", not: "database/sql os"},
	"model/all":       {rooms: ". model model/*", not: "database/sql os"},
	"model/*":         {rooms: ". model model/remote window wire", not: "database/sql os"},
	"wire":            {not: "context os database/sql"},

	"websearch":           {rooms: ". internal/clip internal/redact model/remote", net: true, not: "database/sql os"},
	"websearch/searxtest": {net: true, not: "context os database/sql"},

	"model/modeltest/*": {rooms: ". model model/modeltest wire", net: true, not: "database/sql"},

	"transcript": {rooms: ".", not: "os database/sql",
		libs: "golang.org/x/text/encoding golang.org/x/text/encoding/unicode golang.org/x/text/transform"},
	"transcript/all": {rooms: "transcript transcript/*"},
	"transcript/*":   {rooms: ". transcript transcript/exported transcript/foreign transcript/tree", not: "os database/sql"},

	"transcript/foreign":             {libs: "modernc.org/sqlite"},
	"transcript/foreign/foreigntest": {rooms: "transcript", libs: "modernc.org/sqlite"},
	"transcript/mask":                {rooms: ". internal/secrets transcript", not: "context os database/sql time"},
	"internal/secrets":               {not: "context os database/sql time"},
	"transcript/codex": {rooms: ". transcript transcript/foreign transcript/tree", libs: "github.com/klauspost/compress/zstd",
		not: "os database/sql"},

	"transcript/tooltest":     {rooms: ". internal/testlength transcript", not: "database/sql"},
	"transcript/notebooktest": {rooms: ". transcript transcript/cell", not: "os database/sql"},

	"transcript/cell":  {rooms: ". internal/splice transcript wire", not: "context os database/sql time"},
	"transcript/mtm":   {rooms: ". internal/splice transcript transcript/cell wire", not: "context os database/sql"},
	"transcript/ipynb": {rooms: ". internal/splice transcript transcript/cell", not: "context os database/sql time"},
	"internal/splice":  {not: "context os database/sql time"},
	"notebook": {rooms: ". transcript transcript/cell transcript/ipynb transcript/mtm workspace",
		libs: "github.com/gofrs/flock github.com/google/uuid", not: "context database/sql"},

	"bundle": {rooms: ".", libs: "github.com/klauspost/compress", not: "context os database/sql time"},

	"recall": {rooms: ". archive internal/clip internal/marks store store/search token", not: "database/sql os"},
	"intake": {rooms: ". archive intake/picture internal/clip internal/marks internal/toolcall store window workspace/reference",
		libs: "github.com/gabriel-vasile/mimetype", not: "database/sql os"},
	"intake/picture": {rooms: ".", libs: "github.com/gabriel-vasile/mimetype golang.org/x/image", not: "database/sql os"},
	"engine": {rooms: ". archive compact engine/agent engine/allowance engine/calls engine/fold engine/follow engine/naming engine/setting " +
		"engine/sight engine/watch intake internal/turnstile model recall store title token window workspace",
		not: "database/sql os"},
	"functions":     {rooms: ". engine", libs: "github.com/google/jsonschema-go/jsonschema", not: "database/sql os"},
	"engine/naming": {rooms: ". engine/setting engine/watch store title", not: "database/sql os"},
	"engine/fold": {rooms: ". archive compact engine/setting engine/watch internal/turnstile model store store/claims token window",
		not: "database/sql os"},
	"engine/sight":     {rooms: ". archive compact engine/fold engine/setting intake store token window", not: "database/sql os"},
	"engine/follow":    {rooms: ". store", not: "database/sql os"},
	"engine/watch":     {rooms: ". model", libs: "go.opentelemetry.io/otel", not: "database/sql os"},
	"engine/agent":     {rooms: ". internal/clip recall token workspace", not: "database/sql os"},
	"engine/calls":     {rooms: ". engine/agent engine/watch model recall store", not: "database/sql os"},
	"engine/setting":   {rooms: ". compact engine/agent intake model model/lessons recall store token window", not: "database/sql os"},
	"engine/allowance": {rooms: ". store", not: "database/sql os"},
	"engine/enginetest": {rooms: ". archive engine engine/agent engine/allowance engine/watch model model/modeltest recall store " +
		"store/driver store/memdriver token transcript transcript/all transfer window workspace", libs: "gocloud.dev/blob",
		not: "database/sql os"},
	"transfer": {rooms: ". archive bundle engine internal/clip store title transcript transcript/archived transcript/mask " +
		"transcript/zipped transfer/bundles",
		libs: "github.com/google/uuid", not: "database/sql os"},
	"transfer/bundles": {rooms: ". archive bundle engine store", not: "database/sql os"},

	"collect": {rooms: ". collect/registered engine transcript transcript/zipped transfer", libs: "github.com/fsnotify/fsnotify",
		not: "database/sql"},
	"collect/registered": {rooms: "transcript", libs: "github.com/pelletier/go-toml/v2 github.com/tailscale/hujson go.yaml.in/yaml/v3",
		not: "context database/sql time"},

	"local": {rooms: ". archive bundle engine local/objects model model/all model/offline model/remote store store/driver store/memdriver " +
		"store/sqldriver/postgres store/sqldriver/sqlite token transcript/all transfer websearch", not: "database/sql"},
	"local/objects": {rooms: ". internal/listing", libs: "gocloud.dev/blob gocloud.dev/gcerrors gocloud.dev/gcp " +
		"github.com/aws/aws-sdk-go-v2/service/s3 github.com/aws/smithy-go cloud.google.com/go/storage " +
		"github.com/Azure/azure-sdk-for-go google.golang.org/api/googleapi",
		not: "database/sql", net: true},
	"local/objects/objectstest": {libs: "github.com/aws/aws-sdk-go-v2 github.com/johannesboyne/gofakes3", not: "database/sql", net: true},

	"local/moving": {rooms: ". internal/listing local/objects store/sqldriver/postgres store/sqldriver/sqlite store/sqldriver/sqlmove",
		libs: "gocloud.dev/blob", not: "database/sql"},

	"doctor": {rooms: ". archive store", not: "database/sql os"},

	"server":        {rooms: ". engine internal/redact server/* store/keyring transfer", not: "database/sql", net: true},
	"server/status": {rooms: ".", not: "context os database/sql", net: true}, // the one table of HTTP statuses, for every face
	"server/metrics": {rooms: ". server/access",
		libs: "github.com/felixge/httpsnoop github.com/prometheus/client_golang go.opentelemetry.io", not: "database/sql os",
		net: true},
	"server/access": {rooms: ". store/keyring", not: "database/sql os", net: true},
	"server/restapi": {rooms: ". engine internal/nearest recall server/access server/language server/markdown server/restapi/shown " +
		"server/restapi/spec server/status server/tour transfer",
		libs: "github.com/danielgtaylor/huma/v2", not: "database/sql", net: true},
	"server/markdown": {rooms: "internal/guarded internal/highlight internal/maths server/markdown/formula",
		libs: "github.com/yuin/goldmark github.com/alecthomas/chroma/v2 " +
			"github.com/microcosm-cc/bluemonday", not: "context os database/sql"},
	"server/markdown/formula": {not: "context os database/sql time"},
	"server/restapi/shown":    {rooms: ". engine server/markdown", not: "context os database/sql time"},
	"server/restapi/spec":     {rooms: ".", libs: "github.com/danielgtaylor/huma/v2", not: "context os database/sql", net: true},
	"server/tour":             {not: "context os database/sql"},
	"server/webui":            {not: "database/sql os", net: true},
	"recall/catchup":          {rooms: ". compact/work internal/clip recall token transcript", not: "context database/sql os"},
	"server/mcpapi": {rooms: ". engine internal/clip recall recall/catchup", libs: "github.com/modelcontextprotocol/go-sdk",
		not: "database/sql", net: true},
	"server/language": {rooms: ".", libs: "golang.org/x/text/language", not: "context os database/sql time"},

	"terminal": {rooms: ". engine internal/nearest terminal/columns terminal/markdown terminal/words title", not: "database/sql",
		libs: "charm.land/bubbletea/v2 charm.land/bubbles/v2 charm.land/lipgloss/v2 github.com/charmbracelet/x/term"},
	"terminal/columns": {libs: "github.com/clipperhouse/displaywidth github.com/rivo/uniseg", not: "context os database/sql"},
	"terminal/markdown": {rooms: "internal/guarded internal/highlight internal/maths terminal/columns",
		libs: "github.com/alecthomas/chroma/v2 github.com/yuin/goldmark",
		not:  "context io os database/sql time"},
	"terminal/words": {rooms: ". server/language terminal/columns", not: "context io os database/sql time"},
	"cmd/*": {rooms: ". cmd/scrollback/* doctor engine engine/allowance engine/watch " +
		"local notebook server server/* terminal terminal/* title transcript/geminicli transfer workspace",
		libs: "github.com/alecthomas/kong", not: "database/sql"},
	"cmd/scrollback/console": {rooms: "terminal terminal/markdown", not: "context database/sql"},
	"cmd/scrollback/find":    {rooms: ". engine", not: "os io database/sql"},
	"cmd/scrollback/gather": {rooms: ". cmd/scrollback/config cmd/scrollback/home collect engine terminal terminal/columns transcript " +
		"transcript/all transcript/geminicli transfer", not: "database/sql"},
	"cmd/scrollback/home":    {rooms: ".", not: "context database/sql"},
	"cmd/scrollback/numbers": {rooms: ".", libs: "golang.org/x/sys/unix", not: "context database/sql"},
	"cmd/scrollback/upkeep":  {rooms: ".", not: "os database/sql", net: true},
	"cmd/scrollback/tidy":    {rooms: ". archive local", not: "os io database/sql"},
	"cmd/scrollback/edition": {not: "context os io database/sql"},
	"cmd/scrollback/migrate": {rooms: ". local/moving terminal terminal/columns", not: "database/sql"},
	"cmd/scrollback/usage": {rooms: ". cmd/scrollback/manual internal/nearest server/language terminal/columns",
		libs: "github.com/alecthomas/kong", not: "context os database/sql"},
	"cmd/scrollback/complete": {libs: "github.com/alecthomas/kong", not: "context os database/sql"},
	"cmd/scrollback/manual":   {not: "context os io database/sql"},
	"cmd/scrollback/tied": {rooms: ". engine local notebook terminal terminal/columns terminal/words transcript transfer",
		not: "database/sql os"},
	"cmd/scrollback/config": {rooms: ". compact engine engine/agent model model/all server/access server/restapi terminal token",
		libs: "github.com/knadh/koanf/v2 github.com/knadh/koanf/parsers/toml/v2", not: "database/sql"},

	"tools/deploy": {libs: "github.com/compose-spec/compose-go/v2 github.com/moby/buildkit k8s.io", not: "database/sql time"},

	"bench": {rooms: ". archive engine transfer model model/all model/offline model/remote store store/sqldriver/sqlite token " +
		"transcript/all internal/* workspace workspace/reference", net: true,
		libs: "gocloud.dev/blob modernc.org/sqlite"},
	"bench/recall": {rooms: ". archive engine internal/standing internal/terms recall model store store/index store/search " +
		"store/sqldriver/sqlite token transcript transcript/claudecode transfer",
		libs: "gocloud.dev/blob"},

	"bench/servers": {rooms: ". local store", libs: "github.com/jackc/pgx/v5", not: "database/sql"},
	"bench/fulltext": {rooms: ". internal/terms store/driver store/sqldriver/postgres", libs: "github.com/jackc/pgx/v5",
		not: "database/sql"},
	"bench/scale":     {not: "context database/sql time math/rand"},
	"bench/importing": {not: "database/sql", net: true},

	"bench/page": {rooms: ". engine local model server transfer internal/sample", net: true,
		libs: "github.com/chromedp/chromedp github.com/chromedp/cdproto"},

	"internal/postings": {not: "context os database/sql time math/rand math/rand/v2"},
	"internal/terms": {libs: "github.com/blevesearch/snowballstem golang.org/x/text/unicode/norm",
		not: "context os database/sql time"},
	"internal/marks":           {libs: "golang.org/x/text/unicode/norm", not: "context os database/sql time"},
	"internal/marks/markstest": {libs: "golang.org/x/text/unicode/norm", not: "context os database/sql time"},
	"internal/cue":             {not: "context os database/sql time"},
	"internal/guarded":         {not: "context io os database/sql"},
	"internal/highlight":       {libs: "github.com/alecthomas/chroma/v2", not: "context io os database/sql"},
	"internal/standing":        {not: "context io os io/fs time database/sql log log/slog math/rand math/rand/v2"},
	"internal/toolcall":        {rooms: "internal/clip", not: "context os database/sql time"},
	"internal/maths":           {libs: "github.com/yuin/goldmark", not: "context os database/sql time"},
	"internal/listing":         {libs: "gocloud.dev/blob", not: "os database/sql time"},
	"internal/*":               {not: "database/sql"},
}

// exceptions are imports of one file that its room as a whole may not have.
var exceptions = map[string]string{}

// suites are what only tests import besides.
var suites = []string{"pgregory.net/rapid", "github.com/dlclark/regexp2/v2", "github.com/tiktoken-go/tokenizer",
	"github.com/rogpeppe/go-internal", "github.com/creack/pty", "github.com/charmbracelet/x/vt",
	"golang.org/x/net/html"}

// entry is a row of the table.
type entry struct {
	rooms, libs, not string
	net              bool
}

// entryOf is the name of the entry that a folder takes.
func entryOf(folder string, table map[string]entry) (name string, ok bool) {
	if _, ok = table[folder]; ok {
		return folder, true
	}
	name = path.Dir(folder) + "/*"
	_, ok = table[name]
	return name, ok
}

// breach says why a file may not import what it imports, or nothing.
func breach(s source, name string) string {
	row, ok := entryOf(s.room, rooms)
	if !ok {
		return "the room is not in the table"
	}
	r := rooms[row]
	if _, ok := exceptions[s.path+" "+name]; ok {
		return ""
	}
	if within(name, module) {
		if isSuite(ourRoom(name)) && !isSuite(s.room) {
			return "a room for tests"
		}
		if !listed(r.rooms, ourRoom(name)) {
			return "a room it may not know"
		}
		return ""
	}
	if outside(name) {
		if !slices.ContainsFunc(strings.Fields(r.libs), func(lib string) bool { return within(name, lib) }) {
			return "a library that is not this room's"
		}
		return ""
	}
	if isNet(name) && !r.net {
		return "the network"
	}
	if slices.Contains(strings.Fields(r.not), name) {
		return "not for this room"
	}
	return ""
}

// isSuite says whether a room is there for tests, which alone may import it: its name,
// or that of a room around it, ends in "test".
func isSuite(room string) bool {
	return slices.ContainsFunc(strings.Split(room, "/"), func(name string) bool { return strings.HasSuffix(name, "test") })
}

// isNet says whether a package of the standard library speaks to the network.
func isNet(name string) bool {
	return (within(name, "net") || name == "crypto/tls") && name != "net/url"
}

// ourRoom is the room behind an import path of ours.
func ourRoom(name string) string {
	return path.Join(".", strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))
}

// within says whether an import path is that one or below it.
func within(name, lib string) bool { return name == lib || strings.HasPrefix(name, lib+"/") }

// outside says whether an import is of a library that is not ours.
func outside(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".") && !within(name, module)
}

// inSomeRoom says whether a library is one that some room may import.
func inSomeRoom(name string, table map[string]entry) bool {
	for _, e := range table {
		if slices.ContainsFunc(strings.Fields(e.libs), func(lib string) bool { return within(name, lib) }) {
			return true
		}
	}
	return false
}

// listed says whether one of the patterns names the room.
func listed(patterns, room string) bool {
	for _, p := range strings.Fields(patterns) {
		if p == room || strings.HasSuffix(p, "/*") && path.Dir(room) == strings.TrimSuffix(p, "/*") {
			return true
		}
	}
	return false
}

func TestFence(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if _, ok := entryOf(s.room, rooms); !ok {
			t.Errorf("%s: the room %s is not in the table of internal/fence", s.path, s.room)
			continue
		}
		for _, name := range s.imports() {
			if s.test {
				continue
			}
			if _, ok := exceptions[s.path+" "+name]; ok {
				used[s.path+" "+name] = true
			}
			// A suite is a test that other rooms run.
			if name == "testing" && !strings.HasSuffix(s.room, "test") {
				t.Errorf("%s imports testing: only a suite may", s.path)
			}
			if why := breach(s, name); why != "" {
				t.Errorf("%s may not import %s: %s", s.path, name, why)
			}
		}
	}
	for e := range exceptions {
		if !used[e] {
			t.Errorf("the exception %q is needed no more", e)
		}
	}
}

// Outside libraries that only tests use are few and named.
func TestFenceOfTests(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range s.imports() {
			if !s.test || !outside(name) || inSomeRoom(name, rooms) { // a test may use any library that some room does
				continue
			}
			if !slices.ContainsFunc(suites, func(lib string) bool { return within(name, lib) }) {
				t.Errorf("%s imports %s, which no room has and no suite is", s.path, name)
			}
		}
	}
}

// The clock is for those who are given one: compact writes dates, and the root knows the days
// of time zones, but neither asks what time it is.
func TestNoClock(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && (s.room == "." || s.room == "window" || s.room == "compact" || s.room == "store/memdriver") {
			for _, call := range calls(s, "time", "Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick", "AfterFunc") {
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
const door = "engine/view.go head"

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
			// The door's own Head takes the access that is needed too, and Reader's is behind a door.
			if !ok || sel.Sel.Name != "Head" || len(call.Args) != 2 {
				return true
			}
			if of, ok := sel.X.(*ast.SelectorExpr); !ok || of.Sel.Name != "door" {
				out = append(out, fmt.Sprintf("line %d reads a head", s.line(call.Pos())))
			}
			return true
		})
	}
	return out
}

// A conversation is opened for a caller, at one door. Beside it only the store itself
// reads heads, the doctor, who sees all, tests and benchmarks.
func TestOneDoor(t *testing.T) {
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.room, "/")
		if s.test || isSuite(s.room) || top == "store" || top == "bench" || top == "doctor" {
			continue
		}
		for _, at := range heads(s) {
			t.Errorf("%s: %s past the door (%s)", s.path, at, door)
		}
	}
	bad := parse(t, "transfer/bad.go", "package transfer\nfunc (t *Transfer) f() { t.store.Head(ctx, id); t.view.Bulk().Head(ctx, id, "+
		"need); e.store.Read.Head(ctx, id); log().Head(ctx, id); r.door.Head(ctx, id) }\n")
	if got := heads(bad); len(got) != 3 {
		t.Errorf("planted heads were found as %q", got)
	}
	good := parse(t, "engine/view.go", "package engine\nfunc (d door) head() { d.store.Head(ctx, id) }\n")
	if got := heads(good); len(got) != 0 {
		t.Errorf("the door itself was found: %q", got)
	}
}

// The fence finds what it is there to find.
func TestFenceCanFail(t *testing.T) {
	for file, want := range map[string]string{
		"window/x.go context":                         "not for this room",
		"window/x.go net/http":                        "the network",
		"window/x.go " + module + "/store":            "a room it may not know",
		"compact/x.go " + module + "/store":           "a room it may not know",
		"engine/x.go " + module + "/server":           "a room it may not know",
		"engine/x.go " + module + "/store/driver":     "a room it may not know",
		"engine/x.go " + module + "/store/sqldriver":  "a room it may not know",
		"store/search/x.go " + module + "/store":      "a room it may not know",
		"store/sqldriver/x.go modernc.org/sqlite":     "a library that is not this room's",
		"engine/x.go net/http":                        "the network",
		"store/x.go database/sql":                     "not for this room",
		"store/memdriver/x.go modernc.org/sqlite":     "a library that is not this room's",
		"x.go github.com/google/uuid":                 "a library that is not this room's",
		"error.go net/http":                           "the network",
		"event.go net/http":                           "the network",
		"server/restapi/x.go " + module + "/store":    "a room it may not know",
		"server/webui/x.go " + module + "/server/api": "a room it may not know",
		"model/remote/x.go net/http":                  "",
		"model/anew/x.go net/http":                    "the network",
		"model/anew/x.go " + module + "/store":        "a room it may not know",
		"transcript/anew/x.go net/http":               "the network",
		"bench/x.go " + module + "/engine/enginetest": "a room for tests",
		"notion/x.go fmt":                             "the room is not in the table",
	} {
		at, name, _ := strings.Cut(file, " ")
		got := breach(source{path: at, room: path.Dir(at)}, name)
		if got != want {
			t.Errorf("%s importing %s: %q, want %q", at, name, got, want)
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
