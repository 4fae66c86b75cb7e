// Package cline reads the conversations of Cline, Roo Code and the older extension of Kilo, which keep a folder a task
// beside the settings of the editor, and of Cline on the command line, which keeps a folder
// a session.
//
// Words it adds: task (a folder with api_conversation_history.json, what was sent to the
// model), run (a session of the command line: <id>.messages.json), clock (the requests of
// ui_messages.json, which have the times that older tasks lack), spoken call (a call that an
// older assistant wrote into its text as XML).
//
// Invariants: files are rewritten whole, so one that ends early while it is live is read up
// to its last whole message; what surrounds the words of a person (details of the editor,
// tags, resumptions) is left out; results have the names of their calls; a message without
// a time waits, while the task is live, until the clock has it. Only the files named here
// are opened: never settings, where keys lie.
//
// It may not know the store or the network.
package cline

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/editors"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "cline"
	metaKey = "cline"
)

// The files that are read.
const (
	apiFile    = "api_conversation_history.json"
	uiFile     = "ui_messages.json"
	itemFile   = "history_item.json"
	modelsFile = "task_metadata.json"
	runSuffix  = ".messages.json"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// extensions are the folders of the extensions.
var extensions = []string{
	"saoudrizwan.claude-dev", "saoudrizwan.cline-nightly", "rooveterinaryinc.roo-cline",
	"rooveterinaryinc.roo-code-nightly", "kilocode.kilo-code",
}

// Homes implements transcript.Tool.
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	for _, user := range editors.UserFolders(m) {
		for _, e := range extensions {
			out = append(out, path.Join(user, "globalStorage", e))
		}
		if dir := customFolder(m.FS, path.Join(user, "settings.json")); dir != "" {
			out = append(out, dir)
		}
	}
	out = append(out, path.Join(m.Home, ".cline/data"))
	if dir := m.Getenv("CLINE_DIR"); dir != "" {
		out = append(out, path.Join(dir, "data"))
	}
	for _, name := range []string{"CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"} {
		if dir := m.Getenv(name); dir != "" {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// customFolder returns the folder that an editor's settings name for Roo. They may have comments, so
// that only the line of it is read.
func customFolder(files fs.FS, settings string) string {
	if files == nil {
		return ""
	}
	raw, err := readSmall(files, strings.TrimPrefix(settings, "/"))
	if err != nil {
		return ""
	}
	_, rest, found := strings.Cut(string(raw), `"roo-cline.customStoragePath"`)
	rest, colon := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), ":")
	var dir string
	if !found || !colon || json.NewDecoder(strings.NewReader(rest)).Decode(&dir) != nil {
		return ""
	}
	return dir
}

// Sniff implements transcript.Tool.
func (Tool) Sniff(name string, head []byte) bool {
	base := path.Base(name)
	if base == apiFile {
		return true
	}
	if !strings.HasSuffix(base, runSuffix) {
		return false
	}
	seen := transcript.HeadFields(head)
	return seen["sessionId"] || seen["version"] && (seen["agent"] || seen["messages"]) || seen["agent"] && seen["messages"]
}
