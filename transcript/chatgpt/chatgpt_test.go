package chatgpt_test

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/chatgpt"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

var place = os.DirFS("testdata/place")

// fixtures are exports that grow where they are JSON.
var fixtures = tooltest.Case{Tool: chatgpt.Tool{}, FS: place, Grows: func(name string) bool {
	return strings.HasPrefix(path.Ext(name), ".json")
}}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func FuzzRead(f *testing.F) {
	tooltest.FuzzTool(f, chatgpt.Tool{}, place, "export/conversations-000.json", "export/conversations-001.json")
}
