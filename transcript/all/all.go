// Package all is the table of formats: to add one, add a line.
package all

import (
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/aider"
	"github.com/scrollback-ai/scrollback/transcript/antigravity"
	"github.com/scrollback-ai/scrollback/transcript/chatgpt"
	"github.com/scrollback-ai/scrollback/transcript/chatserver"
	"github.com/scrollback-ai/scrollback/transcript/cherrystudio"
	"github.com/scrollback-ai/scrollback/transcript/claude"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
	"github.com/scrollback-ai/scrollback/transcript/cline"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/copilotcli"
	"github.com/scrollback-ai/scrollback/transcript/crush"
	"github.com/scrollback-ai/scrollback/transcript/cursor"
	"github.com/scrollback-ai/scrollback/transcript/deepseek"
	"github.com/scrollback-ai/scrollback/transcript/fullcopy"
	"github.com/scrollback-ai/scrollback/transcript/geminiapps"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
	"github.com/scrollback-ai/scrollback/transcript/goose"
	"github.com/scrollback-ai/scrollback/transcript/grok"
	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/jan"
	"github.com/scrollback-ai/scrollback/transcript/jsonl"
	"github.com/scrollback-ai/scrollback/transcript/kimicli"
	"github.com/scrollback-ai/scrollback/transcript/librechat"
	"github.com/scrollback-ai/scrollback/transcript/lmstudio"
	"github.com/scrollback-ai/scrollback/transcript/mtm"
	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/openwebui"
	"github.com/scrollback-ai/scrollback/transcript/pi"
	"github.com/scrollback-ai/scrollback/transcript/qwencode"
	"github.com/scrollback-ai/scrollback/transcript/sillytavern"
	"github.com/scrollback-ai/scrollback/transcript/vscodechat"
)

// Importers lists what can be read, in the order they are tried.
func Importers() []transcript.Importer {
	return []transcript.Importer{fullcopy.Format{}, geminicli.Format{}, chatserver.Format{}, mtm.Format{}, ipynb.Format{},
		jsonl.Format{}}
}

// Tools lists the programs whose conversations can be read where they keep them, in the
// order they are tried.
func Tools() []transcript.Tool {
	return []transcript.Tool{
		claudecode.Tool{},
		claudecode.Cowork(),
		codex.Tool{},
		codex.TraeX(),
		opencode.Tool{},
		crush.Tool{},
		goose.Tool{},
		cline.Tool{},
		aider.Tool{},
		geminicli.Tool{},
		pi.Tool{},
		pi.OpenClaw(),
		qwencode.Tool{},
		copilotcli.Tool{},
		opencode.Kilo(),
		opencode.MiMoCode(),
		vscodechat.Tool{},
		cursor.Tool{},
		kimicli.Tool{},
		deepseek.Tool{},
		grok.Tool{},
		antigravity.Tool{},
		jan.Tool{},
		sillytavern.Tool{},
		cherrystudio.Tool{},
		geminiapps.Tool{},
		lmstudio.Tool{},
		chatgpt.Tool{},
		claude.Tool{},
		librechat.Tool{},
		openwebui.Tool{},
	}
}

// Exporters lists what can be written.
func Exporters() []transcript.Exporter {
	return []transcript.Exporter{jsonl.Format{}, geminicli.Format{}, mtm.Format{}, ipynb.Format{}, claudecode.Format{},
		codex.Tool{}, opencode.Tool{}, pi.Tool{}, qwencode.Tool{}}
}
