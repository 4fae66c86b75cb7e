// Package collect finds the conversations that other programs keep on this machine, and
// brings them here: once, or whenever they change.
//
// Words it adds: sweep (one look at everything that was selected), known session (one whose
// stamp is that of its origin, so that all of it is here).
//
// Invariants: the files of other programs are only read, and no link leads out of the place
// that they are in; a known session costs its line in a listing; one session that fails is
// reported, and the rest go on; what vanished is marked only if all places of its tool
// could be listed to their end.
//
// What a session says comes here by [transfer.Transfer.ImportSession]. It may not know how any tool
// keeps its conversations, or the network.
package collect

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

const op = "collect"

// Options say what is collected, and how. The zero value finds nothing, because it has no
// tools.
type Options struct {
	Tools   []transcript.Tool  // those that are known
	Machine transcript.Machine // where they are looked for; see [ThisMachine]
	From    []string           // names of tools; empty for all
	Path    string             // a folder or file that was named; empty for where tools keep theirs
	// names of tools; folders, absolute: neither what was worked on there nor what is kept there
	Exclude []string
	Import  transfer.ImportRequest // of each session: Project, Mask, ByFolder
	Step    func(Step)             // is told how far a sweep has come; may be nil
	Told    func(Change)           // is told of each session that was read; may be nil
	Same    func(Change)           // is told of each session of which all is here, with its conversations; may be nil
	Now     func() time.Time       // nil is time.Now
}

// Step is how far a sweep has come in what it has found so far.
type Step struct {
	Tool     string
	Sessions int   // that are done
	Of       int   // that are to be read
	Messages int64 // of the session that is being read
	Bytes    int64 // of the sessions that are done
	OfBytes  int64
}

// Change is a session that was read, or could not be.
type Change struct {
	Tool    string
	Place   string // where it is kept
	Session string // its file there
	Folder  string // that was worked in, if the tool says so
	transfer.ImportResult
	Err error
}

// NewMessages counts those that are new here.
func (c Change) NewMessages() (n int64) {
	for _, k := range c.Conversations {
		n += k.Messages
	}
	return n
}

// Collector brings what other programs keep. Its methods are for one goroutine at a time.
type Collector struct {
	transfer *transfer.Transfer
	view     *engine.View
	o        Options
	tools    []transcript.Tool // that are selected
	folders  []string          // that are excluded
	judged   map[session]judgement
}

// session names a session within a tool.
type session struct{ tool, place, name, id string }

// judgement is what was found out about a session that its origin does not say.
type judgement struct {
	stamp string
	held  bool      // it is read again when it has settled, too
	again time.Time // when it is tried again; zero: only when it changes
	wait  time.Duration

	failed bool // it could not be read, and that was said
}

// ThisMachine returns this machine. Folders are working folders that are known.
func ThisMachine(home string, folders ...string) transcript.Machine {
	m := transcript.Machine{System: runtime.GOOS, Home: home, Getenv: os.Getenv, Folders: folders}
	if runtime.GOOS != "windows" { // no single folder holds all of such a machine
		m.FS = os.DirFS("/")
	}
	return m
}

// New makes a collector that works for the caller of a view. It is invalid if a tool that
// was named is not known, or what is excluded is neither a tool nor an absolute folder.
func New(t *transfer.Transfer, v *engine.View, o Options) (*Collector, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Collector{transfer: t, view: v, o: o, judged: map[session]judgement{}}
	o.From = slices.Clone(o.From)
	for i, name := range o.From {
		name = ToolName(o.Tools, name)
		o.From[i] = name
		if !slices.Contains(ToolNames(o.Tools), name) {
			return nil, scrollback.ParamErrorf(op, "from", i18n.UnknownTool, name, strings.Join(ToolNames(o.Tools), ", "))
		}
	}
	var without []string
	for _, x := range o.Exclude {
		switch {
		case slices.Contains(ToolNames(o.Tools), x):
			without = append(without, x)
		case filepath.IsAbs(x):
			c.folders = append(c.folders, filepath.Clean(x))
		default:
			return nil, scrollback.ParamErrorf(op, "exclude", i18n.NeitherToolNorAbsoluteFolder, x,
				strings.Join(ToolNames(o.Tools), ", "))
		}
	}
	for _, tool := range o.Tools {
		if name := tool.Name(); (len(o.From) == 0 || slices.Contains(o.From, name)) && !slices.Contains(without, name) {
			c.tools = append(c.tools, tool)
		}
	}
	return c, nil
}

// ToolNames returns the names of tools.
func ToolNames(tools []transcript.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name())
	}
	return names
}

// ToolName returns the name of the tool that a name means: its own, or another that the agent has. A word that means
// none stays as it is, and so does the name of a service that an agent's program shares.
func ToolName(tools []transcript.Tool, name string) string {
	known := ToolNames(tools)
	if also := agents.Resolve(name); !slices.Contains(known, name) && slices.Contains(known, also) {
		return also
	}
	return name
}

// isExcluded reports whether a folder is one of those that are left out, or below one.
func (c *Collector) isExcluded(folder string) bool {
	return folder != "" && slices.ContainsFunc(c.folders, func(out string) bool { return isBelow(out, folder) })
}

// isBelow reports whether a path is a folder, or in it.
func isBelow(folder, name string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(rel)
}
