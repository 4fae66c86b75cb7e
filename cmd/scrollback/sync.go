package main

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/vault"
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
	way := c.meetDirectly
	if isVault(remote) {
		way = c.meetVault
	}
	err = way(g, ours, place, &out)
	if err != nil && g.ctx.Err() == nil {
		noteFailure(place, remote, err)
	}
	return out, err
}

// noteFailure keeps why a remote that was met before could not be met, for the doctor.
func noteFailure(place relay.Place, remote string, why error) {
	state, err := place.Read()
	if err != nil || state.Remote == "" {
		return // nothing is known of it: the error itself says enough
	}
	state.Remote = remote
	state.Error = explainError(why)
	_ = place.Write(state) // the error itself is told in any case
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
	got, err := m.Meet(g.ctx, relay.Options{Pull: c.Pull || both, Push: c.Push || both, Terms: c.terms(),
		Project: c.Project,
		Now:     ours.Store.Now})
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
	state.Error = ""
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
	talks := func(n int) string { return t.Count(int64(n), i18n.CountOneConversation, i18n.CountConversations) }
	messages := func(n int64) string { return t.Count(n, i18n.CountOneMessage, i18n.CountMessages) }
	line := t.Say(i18n.SyncNothingNew)
	if s.Pulled.Conversations+s.Pushed.Conversations > 0 {
		line = t.Say(id, talks(s.Pulled.Conversations), messages(s.Pulled.Messages), talks(s.Pushed.Conversations),
			messages(s.Pushed.Messages))
	}
	_, err := fmt.Fprintln(g.stdout, prefix+line)
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
		ours := meet.Handler(func(*http.Request) (meet.Peer, error) { return p, nil })
		return meet.ServePipe(g.ctx, g.stdin, g.stdout, ours)
	})
}
