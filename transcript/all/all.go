// Package all is the table of formats: to add one, add a line.
package all

import (
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/archived"
	"github.com/scrollback-ai/scrollback/transcript/chatserver"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/crush"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
	"github.com/scrollback-ai/scrollback/transcript/goose"
	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/jsonl"
	"github.com/scrollback-ai/scrollback/transcript/mtm"
	"github.com/scrollback-ai/scrollback/transcript/opencode"
)

// Importers lists what can be read, in the order they are tried.
func Importers() []transcript.Importer {
	return []transcript.Importer{archived.Format{}, geminicli.Format{}, chatserver.Format{}, mtm.Format{}, ipynb.Format{}, jsonl.Format{}}
}

// Tools lists the programs whose conversations can be read where they keep them, in the
// order they are tried.
func Tools() []transcript.Tool {
	return []transcript.Tool{claudecode.Tool{}, opencode.Tool{}, crush.Tool{}, goose.Tool{}}
}

// Exporters lists what can be written.
func Exporters() []transcript.Exporter {
	return []transcript.Exporter{jsonl.Format{}, geminicli.Format{}, mtm.Format{}, ipynb.Format{}, claudecode.Format{}}
}
