package mcpapi

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// rootsTime bounds the wait for a client that was asked where it works.
const rootsTime = 2 * time.Second

// requestSender is the sender of a request, with what it may read from where it works.
type requestSender struct {
	*recall.Reader
	view   *engine.View
	ground recall.WorkPlace
	place  func(folder string) []string // what is the same place of work; nil: nothing else
	only   bool                         // a list has only what was worked on in the ground's folders
}

// isBounded reports whether there is more than the asker may see.
func (a requestSender) isBounded() bool {
	return a.ground.Scope == recall.ScopeFolder || a.ground.Scope == scrollback.ScopeProject
}

// findSender returns the sender of a request of a session, or of one that names its folder.
func (f *mcpFace) findSender(ctx context.Context, s *mcp.ServerSession) (requestSender, error) {
	a := requestSender{view: f.as(ctx), place: f.place}
	if a.Reader = a.view.Recall(); f.only != "" {
		return a, nil
	}
	a.ground = recall.WorkPlace{Folders: f.clientFolders(ctx, s), Scope: f.scope}
	if len(a.ground.Folders) == 0 {
		a.ground.Folders = f.started
	}
	if !a.isBounded() {
		a.ground.Folders = a.withPlaces(a.ground.Folders)
	}
	var err error
	a.Reader, err = a.WithPlace(ctx, a.ground)
	return a, err
}

// atFolder returns the asker where it says that it works; with an empty folder that is where it was. It
// sees no more than before.
func (a requestSender) atFolder(folder string) (requestSender, error) {
	if folder == "" {
		return a, nil
	}
	name, err := recall.NormalizeFolder(folder)
	if err == nil {
		a.ground.Folders = a.withPlaces(folderForms(name))
		a.Reader, err = a.WithFolders(a.ground.Folders)
	}
	return a, err
}

// withPlaces returns folders with what is the same place of work as they are.
func (a requestSender) withPlaces(folders []string) []string {
	if a.place == nil {
		return folders
	}
	out := slices.Clone(folders)
	for _, f := range folders {
		for _, same := range a.place(f) {
			if same, err := recall.NormalizeFolder(same); err == nil && !slices.Contains(out, same) {
				out = append(out, same)
			}
		}
	}
	return out
}

// clientFolders returns where the client of a session works: as the server was started, or else as the
// client says when it is asked for the first time. A client that cannot be asked, or says
// nothing that can be used, works nowhere.
func (f *mcpFace) clientFolders(ctx context.Context, s *mcp.ServerSession) []string {
	if s != nil {
		if known, ok := f.known.Load(s); ok {
			return known.([]string)
		}
	}
	if !f.mayAsk(s) || asksWithinRequest(s) {
		return f.roots
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	said, err := s.ListRoots(ctx, nil) //nolint:staticcheck // what clients have
	if err != nil {
		f.log.Debug("the client did not say where it works", "error", err)
	}
	return f.keepRoots(s, said)
}

// mayAsk reports whether a client is to be asked where it works.
func (f *mcpFace) mayAsk(s *mcp.ServerSession) bool {
	if len(f.roots) > 0 || s == nil || !f.asks || f.only != "" {
		return false
	}
	if _, known := f.known.Load(s); known {
		return false
	}
	p := s.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.RootsV2 != nil //nolint:staticcheck // what clients have
}

// asksWithinRequest reports whether the protocol of a client has no requests by the server: what it
// wants to know is the result of the client's request, which then comes again.
func asksWithinRequest(s *mcp.ServerSession) bool {
	return s.InitializeParams().ProtocolVersion >= "2026-07-28"
}

// rootsAsked names what a client of such a protocol is asked.
const rootsAsked = "roots"

// askRoots returns what such a client is to be asked before its request is done, or nil.
func (f *mcpFace) askRoots(s *mcp.ServerSession, said mcp.InputResponseMap) mcp.InputRequestMap {
	if !f.mayAsk(s) || !asksWithinRequest(s) {
		return nil
	}
	if got, ok := said[rootsAsked]; ok {
		roots, _ := got.(*mcp.ListRootsResult) //nolint:staticcheck // what clients have
		f.keepRoots(s, roots)
		return nil
	}
	return mcp.InputRequestMap{rootsAsked: &mcp.ListRootsParams{}} //nolint:staticcheck // the same
}

// keepRoots keeps what a client says about where it works; nil is nothing.
func (f *mcpFace) keepRoots(s *mcp.ServerSession,
	said *mcp.ListRootsResult) (out []string) { //nolint:staticcheck // what clients have
	if said != nil {
		for _, r := range said.Roots {
			if name, err := recall.NormalizeFolder(folderFromURI(r.URI)); err == nil {
				out = append(out, folderForms(name)...)
			}
		}
	}
	f.known.Store(s, out)
	return out
}

// folderForms returns a folder as it is named and, if that goes over a link, where it is.
func folderForms(name string) []string {
	if strings.HasPrefix(name, `\\`) {
		return []string{name} // on another machine, which nobody asks
	}
	if real, err := filepath.EvalSymlinks(name); err == nil && real != name && filepath.IsAbs(real) {
		return []string{name, real}
	}
	return []string{name}
}

// drive finds the letter of a disk in the path of an address.
var drive = lazyregexp.New(`^/[A-Za-z]:`)

// folderFromURI returns the folder that an address of the form file:// names, or empty.
func folderFromURI(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	if drive().MatchString(u.Path) {
		return strings.ReplaceAll(u.Path[1:], "/", `\`)
	}
	return u.Path
}
