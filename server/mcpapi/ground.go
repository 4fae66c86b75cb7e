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

// asker is the sender of a request, with what it may read from where it works.
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
	if len(a.ground.Folders) == 0 {
		a.ground.Folders = f.started
	}
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
	if s != nil {
		if known, ok := f.known.Load(s); ok {
			return known.([]string)
		}
	}
	if !f.askable(s) || asksInside(s) {
		return f.roots
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	said, err := s.ListRoots(ctx, nil) //nolint:staticcheck // what clients have
	if err != nil {
		f.log.Debug("the client did not say where it works", "error", err)
	}
	return f.heard(s, said)
}

// askable reports whether a client is to be asked where it works.
func (f *face) askable(s *mcp.ServerSession) bool {
	if len(f.roots) > 0 || s == nil || !f.asks || f.only != "" {
		return false
	}
	if _, known := f.known.Load(s); known {
		return false
	}
	p := s.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.RootsV2 != nil //nolint:staticcheck // what clients have
}

// asksInside reports whether the protocol of a client has no requests by the server: what it
// wants to know is the result of the client's request, which then comes again.
func asksInside(s *mcp.ServerSession) bool {
	return s.InitializeParams().ProtocolVersion >= "2026-07-28"
}

// rootsAsked names what a client of such a protocol is asked.
const rootsAsked = "roots"

// ask is what such a client is to be asked before its request is done, or nil.
func (f *face) ask(s *mcp.ServerSession, said mcp.InputResponseMap) mcp.InputRequestMap {
	if !f.askable(s) || !asksInside(s) {
		return nil
	}
	if got, ok := said[rootsAsked]; ok {
		roots, _ := got.(*mcp.ListRootsResult) //nolint:staticcheck // what clients have
		f.heard(s, roots)
		return nil
	}
	return mcp.InputRequestMap{rootsAsked: &mcp.ListRootsParams{}} //nolint:staticcheck // the same
}

// heard keeps what a client says about where it works; nil is nothing.
func (f *face) heard(s *mcp.ServerSession,
	said *mcp.ListRootsResult) (out []string) { //nolint:staticcheck // what clients have
	if said != nil {
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
	if strings.HasPrefix(name, `\\`) {
		return []string{name} // on another machine, which nobody asks
	}
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
