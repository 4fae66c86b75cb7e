package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/vault"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// syncCmd meets other stores of the same person.
type syncCmd struct {
	Run      syncRunCmd      `cmd:"" default:"withargs" help:"meet-other-machines"`
	Init     syncInitCmd     `cmd:"" help:"make-or-join-remote"`
	Machines syncMachinesCmd `cmd:"" help:"list-machines-of-remote"`
	Add      syncAddCmd      `cmd:"" help:"let-machine-into-remote"`
	Remove   syncRemoveCmd   `cmd:"" help:"take-machine-out-of-remote"`
}

type syncRunCmd struct {
	Remotes      []string `arg:"" optional:"" name:"remote" help:"remotes-to-meet"`
	Pull         bool     `help:"only-take"`
	Push         bool     `help:"only-give"`
	Project      string   `help:"only-of-project" placeholder:"NAME"`
	DryRun       bool     `help:"say-what-sync-would-move"`
	AcceptPurges bool     `help:"take-all-purges"`
	Watch        bool     `help:"sync-again-and-again"`
}

// synced is what one meeting came to.
type synced struct {
	Remote  string        `json:"remote"`
	Pulled  merge.Outcome `json:"pulled"`
	Pushed  syncPushed    `json:"pushed"`
	ToCome  int           `json:"to_come,omitempty"`
	Older   bool          `json:"older,omitempty"`
	Refused []string      `json:"refused_objects,omitempty"`
	Ignored []string      `json:"ignored,omitempty"`
	DryRun  bool          `json:"dry_run,omitempty"`
	Denied  merge.Denied  `json:"denied,omitzero"`
	Missed  []string      `json:"missed,omitempty"` // records that could not be carried
	Error   string        `json:"error,omitempty"`
}

// syncPushed is what the other side was given.
type syncPushed struct {
	Conversations int   `json:"conversations"`
	Messages      int64 `json:"messages"`
	Bytes         int64 `json:"bytes,omitempty"`
}

// Run implements the command.
func (c *syncRunCmd) Run(g *globals) error {
	remotes := c.Remotes
	if len(remotes) == 0 {
		remotes = g.set.Sync.Remotes
	}
	if len(remotes) == 0 {
		return scrollback.ParamErrorf("scrollback", "remote", i18n.SyncNamesNoRemote)
	}
	if c.Watch {
		return c.watch(g, remotes)
	}
	return g.withApp(func(a *app) error {
		var first error
		var all []synced
		for _, remote := range remotes {
			one, err := c.meetOnce(g, a, remote)
			if err != nil && g.ctx.Err() != nil {
				return err
			}
			if err != nil {
				one.Error = explainError(err)
				if first == nil {
					first = err
				}
			}
			all = append(all, one)
			if g.JSON {
				continue
			}
			if err := g.printSynced(one, len(remotes) > 1); err != nil {
				return err
			}
			if err != nil && len(remotes) > 1 {
				fmt.Fprintln(g.stderr, "scrollback:", columns.StripControls(explainError(err)))
			}
		}
		if g.JSON {
			if err := g.printResult(map[string]any{"remotes": all}, nil); err != nil {
				return err
			}
		}
		if first != nil {
			return first
		}
		return c.judge(all)
	})
}

// judge says how a sync ended in which everything was met.
func (c *syncRunCmd) judge(all []synced) error {
	var left, coming int
	for _, s := range all {
		left += len(s.Pulled.Refused) + len(s.Pulled.Held) + len(s.Refused) + len(s.Missed)
		coming += s.ToCome + len(s.Pulled.Waiting)
	}
	if left > 0 {
		return scrollback.Errorf(scrollback.Refused, "scrollback", i18n.SyncLeftOut, left)
	}
	if coming > 0 {
		return scrollback.Errorf(scrollback.Unavailable, "scrollback", i18n.SyncToCome, coming)
	}
	return nil
}

// terms are how records are taken on both sides.
func (c *syncRunCmd) terms() merge.Terms { return merge.Terms{Look: c.DryRun, Purges: c.AcceptPurges} }

// meetOnce meets one remote.
func (c *syncRunCmd) meetOnce(g *globals, a *app, remote string) (out synced, err error) {
	out = synced{Remote: remote, DryRun: c.DryRun}
	place, release, err := g.holdRemote(remote)
	if err != nil {
		return out, err
	}
	defer release()
	ours := exchange.Side{Store: a.Store, Archive: a.Archive}.Peer(merge.Access{})
	if isVault(remote) {
		return out, c.meetVault(g, ours, place, &out)
	}
	return out, c.meetDirectly(g, ours, place, &out)
}

// meetVault meets the others through a folder or a bucket.
func (c *syncRunCmd) meetVault(g *globals, ours *exchange.Peer, place relay.Place, out *synced) error {
	o, done, err := g.openObjects(out.Remote)
	if err != nil {
		return err
	}
	defer done()
	state, err := place.Read()
	if err != nil {
		return err
	}
	state.Remote = out.Remote
	v, err := vault.Open(g.ctx, o, g.keys(), state.Vault, func(s vault.State) error {
		state.Vault = s
		return place.Write(state)
	})
	if err != nil {
		return err
	}
	both := c.Pull == c.Push
	m := &relay.Meeting{Vault: v, Ours: ours, Place: place, State: &state}
	got, err := m.Meet(g.ctx, relay.Options{Pull: c.Pull || both, Push: c.Push || both, Terms: c.terms(), Project: c.Project,
		Now: ours.Store.Now})
	out.Pulled = got.Pulled
	out.Pushed = syncPushed(got.Pushed)
	out.ToCome = got.ToCome
	out.Older = got.Older
	out.Ignored = got.Ignored
	for _, r := range got.Refused {
		out.Refused = append(out.Refused, r.Key+": "+explainError(r.Err))
	}
	return err
}

// meetDirectly meets one other store over ssh or HTTP.
func (c *syncRunCmd) meetDirectly(g *globals, ours *exchange.Peer, place relay.Place, out *synced) error {
	theirs, done, err := g.dialRemote(out.Remote)
	if err != nil {
		return err
	}
	defer done()
	o := meet.Options{Pull: c.Pull, Push: c.Push, Terms: c.terms()}
	if c.Project != "" {
		o.Projects = func(p string) bool { return p == c.Project }
	}
	if isTerminal(g.stderr) && !g.JSON {
		draw, wipe := terminal.DrawProgress(g.localeTexts(), g.stderr)
		defer wipe()
		o.Progress = func(p meet.Progress) { draw(out.Remote, int64(p.Done), int64(p.Total)) }
	}
	got, err := meet.Meet(g.ctx, ours, theirs, o)
	out.Pulled = got.Pulled
	out.Pushed = syncPushed{Conversations: got.Pushed.Conversations, Messages: got.Pushed.Messages}
	out.Denied = got.Pushed.Denied
	for _, r := range slices.Concat(got.Pushed.Refused) {
		out.Refused = append(out.Refused, string(r.Conversation)+" "+r.Record)
	}
	for _, u := range got.Uncarried {
		out.Missed = append(out.Missed, string(u.Conversation)+" "+u.Record)
	}
	if err != nil || c.DryRun {
		return err
	}
	state, err := place.Read()
	if err != nil {
		return err
	}
	state.Remote = out.Remote
	state.LastMet = ours.Store.Now()
	state.Waiting = len(got.Pulled.Waiting)
	return place.Write(state)
}

// watch syncs at once, and then again and again: what cannot be reached is tried the next time, and said once.
func (c *syncRunCmd) watch(g *globals, remotes []string) error {
	return g.withApp(func(a *app) error {
		said := map[string]string{}
		for {
			for _, remote := range remotes {
				one, err := c.meetOnce(g, a, remote)
				if g.ctx.Err() != nil {
					return nil
				}
				now := ""
				if err != nil {
					now = explainError(err)
				}
				if now != "" && now != said[remote] {
					fmt.Fprintln(g.stderr, "scrollback:", columns.StripControls(remote+": "+now))
				}
				said[remote] = now
				if moved := one.Pulled.Conversations + one.Pushed.Conversations + one.Pulled.Purged; moved > 0 && err == nil {
					if err := g.printSynced(one, true); err != nil {
						return err
					}
				}
			}
			if err := waitForChange(g, a); err != nil {
				return nil
			}
		}
	})
}

// waitForChange waits until something was said here, or for the time between two meetings.
func waitForChange(g *globals, a *app) error {
	side := exchange.Side{Store: a.Store, Archive: a.Archive}
	was, err := side.Mark(g.ctx)
	if err != nil {
		return err
	}
	end := time.NewTimer(syncEvery)
	defer end.Stop()
	look := time.NewTicker(watchPause)
	defer look.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return g.ctx.Err()
		case <-end.C:
			return nil
		case <-look.C:
			if now, err := side.Mark(g.ctx); err == nil && now != was {
				return nil
			}
		}
	}
}

// A watching sync meets the others every minute, and looks every two seconds whether something was said here.
const (
	syncEvery  = time.Minute
	watchPause = 2 * time.Second
)

// printSynced says what a meeting came to.
func (g *globals) printSynced(s synced, named bool) error {
	t := g.localeTexts()
	if s.Error != "" {
		return nil
	}
	prefix := ""
	if named {
		prefix = columns.StripControls(s.Remote) + ": "
	}
	id := i18n.SyncMoved
	if s.DryRun {
		id = i18n.SyncWouldMove
	}
	_, err := fmt.Fprintln(g.stdout, prefix+t.Say(id, columns.FormatThousands(int64(s.Pulled.Conversations)),
		columns.FormatThousands(s.Pulled.Messages), columns.FormatThousands(int64(s.Pushed.Conversations)),
		columns.FormatThousands(s.Pushed.Messages)))
	say := func(id i18n.ID, args ...any) { fmt.Fprintln(g.stdout, t.Say(id, args...)) }
	if s.Pulled.Purged > 0 {
		say(i18n.SyncPurged, columns.FormatThousands(int64(s.Pulled.Purged)))
	}
	if s.Older {
		say(i18n.SyncOlder)
	}
	for _, r := range s.Pulled.Refused {
		g.printRefused(g.stdout, r)
	}
	for _, id := range s.Pulled.Held {
		say(i18n.SyncHeld, string(id))
	}
	for _, line := range s.Refused {
		say(i18n.SyncRefusedObject, columns.StripControls(line))
	}
	for _, line := range s.Missed {
		say(i18n.SyncMissed, columns.StripControls(line))
	}
	for _, name := range s.Ignored {
		say(i18n.SyncIgnored, columns.StripControls(name))
	}
	if d := s.Denied; d.Total() > 0 {
		say(i18n.SyncDenied, d.Conversations, d.Purges, d.Projects)
	}
	return err
}

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
	folder := remote
	if strings.HasPrefix(remote, "file://") {
		u, err := url.Parse(remote)
		if err != nil {
			return nil, nil, scrollback.ParamErrorf("scrollback", "remote", i18n.SyncIsNoVault, remote)
		}
		folder = filepath.FromSlash(u.Path)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	o, err := vault.NewFolder(folder, 0)
	return o, func() {}, err
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
	if isVault(remote) && !strings.Contains(remote, "://") {
		if remote, err = filepath.Abs(remote); err != nil {
			return relay.Place{}, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
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

// remoteArg names a folder or a bucket through which machines meet.
type remoteArg struct {
	Remote string `arg:"" help:"folder-or-bucket-to-meet-through"`
}

type syncInitCmd struct {
	remoteArg
	Phrase string `help:"recovery-phrase-to-join-with" placeholder:"-"`
	Name   string `help:"name-of-this-machine" placeholder:"NAME"`
}

// initialized is what became of a remote.
type initialized struct {
	Phrase    string `json:"phrase,omitempty"`
	Recipient string `json:"recipient"`
}

// Run implements the command.
func (c *syncInitCmd) Run(g *globals) error {
	phrase := c.Phrase
	if phrase == "-" {
		text, err := io.ReadAll(io.LimitReader(g.stdin, 4<<10))
		if err != nil {
			return scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
		}
		phrase = strings.TrimSpace(string(text))
	}
	own, err := g.keys().Make()
	if err != nil {
		return err
	}
	if own.Made {
		g.printNewIdentity(own)
	}
	place, release, err := g.holdRemote(c.Remote)
	if err != nil {
		return err
	}
	defer release()
	o, done, err := g.openObjects(c.Remote)
	if err != nil {
		return err
	}
	defer done()
	name := c.Name
	if name == "" {
		name, _ = os.Hostname() // without one, the recipient is the name
	}
	save := func(s vault.State) error { return place.Write(relay.State{Remote: c.Remote, Vault: s}) }
	out := initialized{Recipient: own.Recipient}
	if c.Phrase != "" {
		_, err = vault.Join(g.ctx, o, g.keys(), name, phrase, save)
	} else {
		_, out.Phrase, err = vault.Init(g.ctx, o, g.keys(), name, save)
	}
	if err != nil {
		return err
	}
	return g.printResult(out, func(w io.Writer) error {
		t := g.localeTexts()
		if out.Phrase == "" {
			_, err := fmt.Fprintln(w, t.Say(i18n.SyncJoined, name))
			return err
		}
		_, err := fmt.Fprintln(w, t.Say(i18n.SyncMade, out.Phrase))
		return err
	})
}

// withVault opens the vault of a remote.
func (g *globals) withVault(remote string, do func(context.Context, *vault.Vault) error) error {
	place, release, err := g.holdRemote(remote)
	if err != nil {
		return err
	}
	defer release()
	o, done, err := g.openObjects(remote)
	if err != nil {
		return err
	}
	defer done()
	state, err := place.Read()
	if err != nil {
		return err
	}
	v, err := vault.Open(g.ctx, o, g.keys(), state.Vault, func(s vault.State) error {
		state.Remote = remote
		state.Vault = s
		return place.Write(state)
	})
	if err != nil {
		return err
	}
	return do(g.ctx, v)
}

type syncMachinesCmd struct{ remoteArg }

// Run implements the command.
func (c *syncMachinesCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(_ context.Context, v *vault.Vault) error {
		all := v.Machines()
		return g.printResult(map[string]any{"machines": all}, func(w io.Writer) error {
			t := g.localeTexts()
			rows := [][]string{t.Head(i18n.ColumnMachine, i18n.ColumnRecipient)}
			for _, m := range all {
				name := m.Name
				if m.This {
					name = t.Say(i18n.SyncThisMachine, name)
				}
				rows = append(rows, []string{columns.StripControls(name), m.Recipient})
			}
			return columns.WriteTable(w, rows)
		})
	})
}

type syncAddCmd struct {
	remoteArg
	Recipient string `arg:"" help:"recipient-of-machine"`
	Name      string `help:"name-of-that-machine" placeholder:"NAME"`
}

// Run implements the command.
func (c *syncAddCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(ctx context.Context, v *vault.Vault) error {
		return v.Add(ctx, c.Recipient, c.Name)
	})
}

type syncRemoveCmd struct {
	remoteArg
	Name string `arg:"" help:"name-of-machine-to-remove"`
}

// Run implements the command.
func (c *syncRemoveCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(ctx context.Context, v *vault.Vault) error { return v.Remove(ctx, c.Name) })
}

// meetStore returns the store as another one meets it.
func (a *app) meetStore(may merge.Access) meet.Peer {
	return exchange.Side{Store: a.Store, Archive: a.Archive}.Peer(may)
}

// syncServeCmd is what ssh starts on the other machine.
type syncServeCmd struct{}

// Run implements the command.
func (c *syncServeCmd) Run(g *globals) error {
	return g.withApp(func(a *app) error {
		p := a.meetStore(merge.Access{})
		return meet.ServePipe(g.ctx, g.stdin, g.stdout, meet.Handler(func(*http.Request) (meet.Peer, error) { return p, nil }))
	})
}
