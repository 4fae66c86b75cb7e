// Package gather is what the command line does with other tools' conversations: importing
// what is found on this machine, following it, and saying how much of it is here.
//
// Words it adds: program (what the commands need of the rest of the program).
//
// It knows the environment's folders, and of the store only what collect brings there.
package gather

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/standing"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// Program is what the commands need of the rest of the program.
type Program struct {
	Ctx            context.Context
	Set            config.Import
	Roots          []string // folders that may hold what some tools keep where is worked
	JSON           bool
	Stdout, Stderr io.Writer
	Log            *slog.Logger
	Open           func(write bool, do func(t *transfer.Transfer, v *engine.View) error) error
	Print          func(v any, human func(w io.Writer) error) error
	Explain        func(err error) string
	Texts          words.Texts
	Zone           *time.Location // of the times that are shown
	Addr           string         // where a server of this program listens, as HOST:PORT
	// Standing returns how agents are set up, and what their hooks did.
	Standing func() ([]standing.MachineAgent, error)
	// HookServer returns whether a server looks things up for the hooks of this machine, and whether they need one.
	HookServer func() HookServer
	// Responds returns who responds at the address of a server, as clients have it.
	Responds func(ctx context.Context, address string) string
}

// HookServer says who looks things up for hooks: a server, or else each by itself. Needed says that they find nothing
// without one.
type HookServer struct {
	Answers bool `json:"answers"`
	Needed  bool `json:"needed"`
}

// Flags say what is brought from other tools, and how. The config file says the rest.
type Flags struct {
	Mask      bool     `help:"replace-what-looks-like-key-token-or"`
	Exclude   []string `help:"leave-out-tool-or-what-was-worked" placeholder:"X" sep:"none"`
	ProjectBy string   `name:"project-by" help:"give-each-working-folder-project-own" placeholder:"folder"`
}

// Every stands for all tools in --from.
const Every = "all"

// NameTools returns what --from says with the names of tools in place of others that they have.
func NameTools(from string) string {
	names := strings.Split(from, ",")
	for i, name := range names {
		names[i] = collect.ToolName(all.Tools(), name)
	}
	return strings.Join(names, ",")
}

// nameExcluded returns the tool that is left out by another of its names. A folder that is called so goes before.
func nameExcluded(tools []transcript.Tool, x string) string {
	if _, err := os.Stat(x); err == nil {
		return x
	}
	return collect.ToolName(tools, x)
}

// Options returns what a collector is asked for: the flags of a command over the config file.
func (f Flags) Options(p Program, from, project string) (collect.Options, error) {
	o := collect.Options{Tools: all.Tools(), From: p.Set.From}
	by := cmp.Or(f.ProjectBy, p.Set.ProjectBy)
	if by != "" && by != "folder" {
		return o, scrollback.ParamErrorf("scrollback", "project_by", i18n.ProjectByIsFolder, by)
	}
	o.Import = transfer.ImportRequest{Project: project, ByFolder: by != "" && project == "", Mask: f.Mask || p.Set.Mask}
	if from != "" {
		o.From = strings.Split(from, ",")
	}
	if slices.Contains(o.From, Every) {
		o.From = nil
	}
	for _, x := range slices.Concat(p.Set.Exclude, f.Exclude) {
		x = nameExcluded(o.Tools, x)
		if !slices.Contains(collect.ToolNames(o.Tools), x) {
			dir, err := absolutePath(x)
			if err != nil {
				return o, err
			}
			if _, err := os.Stat(dir); err != nil && !strings.ContainsRune(x, filepath.Separator) {
				return o, scrollback.ParamErrorf("scrollback", "exclude", i18n.NeitherToolNorFolderThere, x,
					toolNames(o))
			}
			x = dir
		}
		o.Exclude = append(o.Exclude, x)
	}
	var err error
	o.Machine, err = thisMachine(p.Roots)
	return o, err
}

func toolNames(o collect.Options) string { return strings.Join(collect.ToolNames(o.Tools), ", ") }

// thisMachine returns where other tools may have left their files.
func thisMachine(roots []string) (m transcript.Machine, err error) {
	own, err := home.HomeFolder()
	if err != nil {
		return m, scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	var folders []string
	if here, err := os.Getwd(); err == nil {
		folders = append(folders, here)
	}
	for _, root := range roots {
		if dir, err := filepath.Abs(root); err == nil {
			folders = append(folders, dir)
		}
	}
	return collect.ThisMachine(own, folders...), nil
}

// absolutePath returns a file's whole name.
func absolutePath(name string) (string, error) {
	name, err := filepath.Abs(name)
	return name, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
}

// statSource returns what a file is that a person named.
func statSource(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, scrollback.ParamErrorf("scrollback", "file", i18n.IsNotThere, name)
	case err != nil:
		return nil, scrollback.ParamErrorf("scrollback", "file", "%w", err)
	}
	return info, nil
}
