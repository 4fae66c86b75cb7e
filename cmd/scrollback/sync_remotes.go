package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/vault"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// isVault reports whether machines meet through a remote, and not at it.
func isVault(remote string) bool {
	scheme, _, ok := strings.Cut(remote, "://")
	return !ok || scheme != "ssh" && scheme != "https" && scheme != "http"
}

// openObjects opens the folder or the bucket of a remote.
func (g *globals) openObjects(remote string) (vault.Objects, func(), error) {
	if !isVault(remote) {
		return nil, nil, scrollback.ParamErrorf("scrollback", "remote", i18n.SyncIsNoVault, remote)
	}
	if strings.Contains(remote, "://") && !strings.HasPrefix(remote, "file://") {
		place, err := objects.ParsePlace("", remote, cloud.Buckets())
		if err != nil {
			return nil, nil, err
		}
		if place.IsMemory() {
			return nil, nil, scrollback.ParamErrorf("scrollback", "remote", i18n.ObjectsIsURL)
		}
		s, err := objects.Open(g.ctx, place, false)
		if err != nil {
			return nil, nil, err
		}
		return vault.NewBucket(s.Bucket, s.ExplainError), func() { _ = s.Bucket.Close() }, nil
	}
	folder, err := folderOf(remote)
	if err != nil {
		return nil, nil, err
	}
	o, err := vault.NewFolder(folder, 0)
	return o, func() {}, err
}

// folderOf returns the folder that a remote names, as a path, as a file:// URL or below ~.
func folderOf(remote string) (string, error) {
	folder := remote
	if strings.HasPrefix(remote, "file://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", scrollback.ParamErrorf("scrollback", "remote", i18n.SyncIsNoVault, remote)
		}
		folder = filepath.FromSlash(u.Path)
	}
	if below, ok := strings.CutPrefix(folder, "~/"); ok {
		own, err := os.UserHomeDir()
		if err != nil {
			return "", scrollback.Wrap(scrollback.Invalid, "scrollback", err)
		}
		folder = filepath.Join(own, below)
	}
	folder, err := filepath.Abs(folder)
	return folder, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
}

// dialRemote connects to the store behind an address.
func (g *globals) dialRemote(remote string) (meet.Peer, func(), error) {
	if strings.HasPrefix(remote, "ssh://") {
		target, err := meet.ParseTarget(remote)
		if err != nil {
			return nil, nil, err
		}
		p, c, err := meet.DialSSH(g.ctx, target, meet.SSH{Program: g.set.Sync.RemoteProgram, Stderr: g.stderr})
		if err != nil {
			return nil, nil, err
		}
		return p, func() { _ = c.Close() }, nil
	}
	u, err := url.Parse(remote)
	if err != nil {
		return nil, nil, scrollback.ParamErrorf("scrollback", "remote", i18n.SyncIsNoVault, remote)
	}
	key := g.set.Env("SCROLLBACK_SYNC_KEY")
	if name := g.set.Sync.KeyEnv[remote]; name != "" {
		key = g.set.Env(name)
	}
	p, err := meet.Dial(&http.Client{}, u, key)
	return p, func() {}, err
}

// remotePlace returns where this store keeps what it knows of a remote.
func (g *globals) remotePlace(remote string) (relay.Place, error) {
	dir, err := g.dataDir()
	if err != nil {
		return relay.Place{}, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if isVault(remote) && (!strings.Contains(remote, "://") || strings.HasPrefix(remote, "file://")) {
		if remote, err = folderOf(remote); err != nil {
			return relay.Place{}, err
		}
	}
	sum := sha256.Sum256([]byte(remote))
	return relay.Place{Dir: filepath.Join(dir, "sync", hex.EncodeToString(sum[:8]))}, nil
}

// holdRemote sees to it that one process at a time meets a remote from here; another one waits.
func (g *globals) holdRemote(remote string) (relay.Place, func(), error) {
	place, err := g.remotePlace(remote)
	if err != nil {
		return place, nil, err
	}
	if err := os.MkdirAll(place.Dir, 0o700); err != nil {
		return place, nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	lock := flock.New(filepath.Join(place.Dir, "lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(g.ctx, lockPause); err != nil {
		return place, nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	return place, func() { _ = lock.Unlock() }, nil
}

const lockPause = 100 * time.Millisecond

// listRemotes returns how this store stands with the remotes that it has met.
func (g *globals) listRemotes() ([]relay.Standing, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	return relay.List(filepath.Join(dir, "sync"))
}

// drawRemotes says when each remote was last met, and what waits there.
func (g *globals) drawRemotes(w io.Writer, all []relay.Standing) error {
	t := g.localeTexts()
	for _, s := range all {
		line := t.Say(i18n.SyncNeverMet, columns.StripControls(s.Remote))
		if s.LastMet > 0 {
			line = t.Say(i18n.SyncLastMet, columns.StripControls(s.Remote), columns.FormatTime(s.LastMet, g.zone))
		}
		if s.Waiting > 0 {
			line += "; " + t.Say(i18n.SyncFilesToCome, s.Waiting)
		}
		if s.Error != "" {
			line += "; " + columns.StripControls(s.Error)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
