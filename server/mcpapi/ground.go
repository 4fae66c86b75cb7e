package mcpapi

import (
	"context"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/recall"
)

// rootsTime bounds the wait for a client that was asked where it works.
const rootsTime = 2 * time.Second

// asker is whoever sent a request, with what it may read from where it works.
type asker struct {
	*recall.Reader
	view   *engine.View
	ground recall.Ground
	only   bool // a list has only what was worked on in the ground's folders
}

// bounded says that there is more than the asker may see.
func (a asker) bounded() bool {
	return a.ground.Scope == recall.ScopeFolder || a.ground.Scope == scrollback.ScopeProject
}

// asker is the sender of a request of a session, or of one that names its folder.
func (f *face) asker(ctx context.Context, s *mcp.ServerSession) (asker, error) {
	a := asker{view: f.as(ctx)}
	if a.Reader = a.view.Recall(); f.only != "" {
		return a, nil
	}
	a.ground = recall.Ground{Folders: f.folders(ctx, s), Scope: f.scope}
	var err error
	a.Reader, err = a.On(ctx, a.ground)
	return a, err
}

// at is the asker where it says that it works; with an empty folder that is where it was. It
// sees no more than before.
func (a asker) at(folder string) (asker, error) {
	if folder == "" {
		return a, nil
	}
	name, err := recall.Folder(folder)
	if err == nil {
		a.ground.Folders = both(name)
		a.Reader, err = a.Named(a.ground.Folders)
	}
	return a, err
}

// folders are where the client of a session works: as the server was started, or else as the
// client says when it is asked for the first time. A client that cannot be asked, or says
// nothing that can be used, works nowhere.
func (f *face) folders(ctx context.Context, s *mcp.ServerSession) []string {
	if len(f.roots) > 0 || s == nil || !f.asks {
		return f.roots
	}
	if known, ok := f.known.Load(s); ok {
		return known.([]string)
	}
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil { //nolint:staticcheck // clients have it
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	var out []string
	said, err := s.ListRoots(ctx, nil) //nolint:staticcheck // the same
	if err != nil {
		f.log.Debug("the client did not say where it works", "error", err)
	} else {
		for _, r := range said.Roots {
			if name, err := recall.Folder(fromURI(r.URI)); err == nil {
				out = append(out, both(name)...)
			}
		}
	}
	f.known.Store(s, out)
	return out
}

// both are a folder as it is named and, if that goes over a link, where it is.
func both(name string) []string {
	if real, err := filepath.EvalSymlinks(name); err == nil && real != name && filepath.IsAbs(real) {
		return []string{name, real}
	}
	return []string{name}
}

// drive finds the letter of a disk in the path of an address.
var drive = regexp.MustCompile(`^/[A-Za-z]:`)

// fromURI is the folder that an address of the form file:// names, or empty.
func fromURI(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	if drive.MatchString(u.Path) {
		return strings.ReplaceAll(u.Path[1:], "/", `\`)
	}
	return u.Path
}
