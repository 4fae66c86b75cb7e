package openwebui_test

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

var place = os.DirFS("testdata/place")

// fixtures are exports that grow where they are JSON.
var fixtures = tooltest.Case{Tool: openwebui.Tool{}, FS: place, Grows: func(name string) bool {
	return strings.HasPrefix(path.Ext(name), ".json")
}}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func FuzzRead(f *testing.F) {
	tooltest.FuzzTool(f, openwebui.Tool{}, place, "chat-export-1767000000000.json")
}
