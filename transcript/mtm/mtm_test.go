package mtm_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/mtm"
	"github.com/scrollback-ai/scrollback/transcript/notebooktest"
)

var kind = notebooktest.Kind{Importer: mtm.Format{}, Exporter: mtm.Format{}, Open: mtm.Open, New: mtm.New, List: "context"}

func TestNotebook(t *testing.T) { notebooktest.Run(t, kind) }
