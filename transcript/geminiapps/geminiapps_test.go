package geminiapps_test

import (
	"flag"
	"os"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/geminiapps"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are by samples and descriptions: no account was at hand.
var fixtures = tooltest.Case{Tool: geminiapps.Tool{}, FS: os.DirFS("testdata/place")}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

func FuzzRead(f *testing.F) {
	tooltest.FuzzTool(f, geminiapps.Tool{}, fixtures.FS, "MyActivity.json")
}
