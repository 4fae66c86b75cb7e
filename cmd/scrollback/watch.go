package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/collect"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

type watchCmd struct {
	From string `help:"all (the default), or tools with commas, as import --from names them." placeholder:"TOOL"`
	collectFlags
	Project string `help:"Project to import into." placeholder:"P"`
	Poll    string `help:"Time between two looks at everything, which see what the system gave no notice of. Default: 60s." placeholder:"TIME"`
	Path    string `arg:"" optional:"" help:"Folder or file to follow. Default: what is found on this machine."`
}

// Run implements the command.
func (c *watchCmd) Run(g *globals) (err error) {
	o, err := c.collecting(g, c.From)
	if err != nil {
		return err
	}
	if c.Path != "" {
		if o.Path, err = absolute(c.Path); err != nil {
			return err
		}
	}
	if c.Project != "" {
		o.Import.Project, o.Import.ByFolder = c.Project, false
	}
	w := collect.WatchOptions{Poll: g.set.Import.Poll, Log: g.logger()}
	if c.Poll != "" {
		if w.Poll, err = time.ParseDuration(c.Poll); err != nil || w.Poll < time.Second {
			return scrollback.ParamErrorf("scrollback", "poll", "--poll is a time from 1s, such as 30s or 5m, not %q", c.Poll)
		}
	}
	o.Told = func(ch collect.Change) { g.brought(g.stdout, ch) }
	a, err := g.open(local.Make)
	if err != nil {
		return err
	}
	first := true
	w.Report = func(r collect.Report) {
		if first && !g.JSON {
			_ = g.drawFound(g.stdout, r, true) // a reader that went away ends nothing
			fmt.Fprintln(g.stdout, "following; end with Ctrl-C")
		}
		first = false
	}
	collector, err := collect.New(a.Transfer, a.View, o)
	if err == nil {
		err = collector.Watch(g.ctx, &w)
	}
	if closed := a.Close(); err == nil {
		err = closed
	}
	return err
}

// brought prints a line for a session that was read, if anything came of it.
func (g *globals) brought(w io.Writer, ch collect.Change) {
	n := ch.Messages()
	if ch.Err != nil || n == 0 {
		return // the log has what stands in the way
	}
	if g.JSON {
		line, err := json.Marshal(map[string]any{"time": time.Now().UnixMilli(), "tool": ch.Tool, "place": ch.Place, "session": ch.Session, "folder": ch.Folder,
			"messages": n, "conversations": ch.Conversations})
		if err == nil {
			fmt.Fprintf(w, "%s\n", line)
		}
		return
	}
	for _, one := range ch.Conversations {
		if one.Messages > 0 {
			fmt.Fprintf(w, "%s  %s  %s  %s  %s\n", time.Now().Format(time.TimeOnly), ch.Tool, one.ID, counted(int(one.Messages), "new message", "new messages"), columns.Plain(ch.Folder))
		}
	}
}

// follow watches what other tools keep, beside a server, until ctx ends.
func (g *globals) follow(ctx context.Context, a *app) error {
	o, err := collectFlags{}.collecting(g, "")
	if err != nil {
		return err
	}
	log := g.logger()
	o.Told = func(ch collect.Change) {
		if n := ch.Messages(); n > 0 {
			log.Info("imported", "tool", ch.Tool, "session", ch.Session, "messages", n)
		}
	}
	collector, err := collect.New(a.Transfer, a.View, o)
	if err != nil {
		return err
	}
	return collector.Watch(ctx, &collect.WatchOptions{Poll: g.set.Import.Poll, Log: log})
}
