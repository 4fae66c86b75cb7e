// Package registered finds out whether other tools know this program as an MCP server, from
// the settings that they keep.
//
// Words it adds: server (an MCP server as a tool's settings name it).
//
// Invariants: settings are only read, and nothing of them but the names of servers is
// returned: what stands beside those may be a key.
//
// It may not know conversations or the network.
package registered

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/transcript"
)

// program is what this program is called, and the name that it is registered under.
const program = "scrollback"

// Registration is what a tool's settings say.
type Registration struct {
	Files      []string `json:"files"`              // that were read
	Servers    []string `json:"servers"`            // their names
	Registered bool     `json:"registered"`         // one of them is this program
	How        string   `json:"how"`                // a command to register it, or what to write
	Where      string   `json:"where,omitempty"`    // the file to write that into
	Problems   []string `json:"problems,omitempty"` // files that could not be read
}

// Find returns what the settings of a tool say of servers: those of the person, and those of
// a folder. ok is false for a tool that takes no servers.
func Find(tool string, on transcript.Machine, folder string) (r Registration, ok bool) {
	a, _ := agents.Find(tool)
	s := a.Servers
	if s == nil || a.Name != tool { // a service has the name that an agent's program has
		return r, false
	}
	files := a.ServerFiles(agents.Machine{System: on.System, Home: on.Home, Working: folder, Getenv: on.Getenv})
	r = Registration{Files: []string{}, Servers: []string{}, How: s.How}
	if s.Write {
		r.Where = files[0]
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		all, err := readSettings(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.Problems = append(r.Problems, name+": "+explainReadError(err))
			continue
		}
		if r.Files = append(r.Files, name); s.Write && len(r.Files) == 1 {
			r.Where = name
		}
		for _, at := range [][]string{s.At, s.More} {
			r.addServers(all, at)
		}
	}
	slices.Sort(r.Servers)
	r.Servers = slices.Compact(r.Servers)
	return r, true
}

// addServers adds the servers of the tables that a path leads to.
func (r *Registration) addServers(v any, at []string) {
	table, _ := v.(map[string]any)
	switch {
	case at == nil || table == nil:
	case len(at) == 0:
		for _, name := range slices.Sorted(maps.Keys(table)) {
			r.Servers = append(r.Servers, name)
			r.Registered = r.Registered || isOurServer(name, table[name])
		}
	case at[0] == "*":
		for _, inner := range table {
			r.addServers(inner, at[1:])
		}
	default:
		r.addServers(table[at[0]], at[1:])
	}
}

// isOurServer reports whether a server is this program, and is not switched off.
func isOurServer(name string, v any) bool {
	table, _ := v.(map[string]any)
	if table["disabled"] == true || table["enabled"] == false {
		return false
	}
	if strings.Contains(strings.ToLower(name), program) {
		return true
	}
	for _, key := range []string{"command", "cmd", "args"} {
		words, _ := table[key].([]any)
		for _, w := range append(words, table[key]) {
			text, _ := w.(string)
			base := path.Base(strings.ReplaceAll(text, `\`, "/"))
			if strings.TrimSuffix(strings.ToLower(base), ".exe") == program {
				return true
			}
		}
	}
	return false
}

// Bounds of a file of settings, in bytes. One in the current folder may be anybody's, and the libraries
// for all but plain JSON go a call deeper with each bracket: too deep a stack ends the program.
const (
	maxSettings = 64 << 20
	maxNested   = 256 << 10
)

var (
	errForm = errors.New("it is not in the form that is known")
	errSize = errors.New("it is too large")
)

// readSettings reads a file of settings. Errors show nothing of what is in it.
func readSettings(name string) (v any, err error) {
	// What is no file is not opened: a pipe that nobody writes into would hold the program up.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errForm
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSettings {
		return nil, errSize
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	table := map[string]any{}
	ext := filepath.Ext(name)
	if ext != ".toml" && ext != ".yaml" && json.Unmarshal(text, &table) == nil {
		return table, nil
	}
	if len(text) > maxNested {
		return nil, errSize
	}
	clear(table)
	switch ext {
	case ".toml":
		err = toml.Unmarshal(text, &table)
	case ".yaml":
		err = yaml.Unmarshal(text, &table)
	default:
		if text, err = hujson.Standardize(text); err == nil {
			err = json.Unmarshal(text, &table)
		}
	}
	if err != nil {
		return nil, errForm
	}
	return table, nil
}

// explainReadError returns why a file could not be read, without its name.
func explainReadError(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
