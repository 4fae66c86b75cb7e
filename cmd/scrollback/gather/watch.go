package gather

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// Watch follows what tools keep.
type Watch struct {
	From string `help:"all-or-tools-commas-as-import-from" placeholder:"TOOL"`
	Flags
	Project string `help:"project-import-into" placeholder:"P"`
	Poll    string `help:"time-between-two-looks-at-everything-which" placeholder:"TIME"`
	Path    string `arg:"" optional:"" help:"folder-or-file-follow"`
}

// Follow follows until the program is told to end.
func (c *Watch) Follow(p Program) error {
	o, err := c.Options(p, c.From, c.Project)
	if err != nil {
		return err
	}
	if c.Path != "" {
		if o.Path, err = absolutePath(c.Path); err != nil {
			return err
		}
	}
	w := collect.WatchOptions{Poll: p.Set.Poll, Log: p.Log}
	if c.Poll != "" {
		if w.Poll, err = time.ParseDuration(c.Poll); err != nil || w.Poll < time.Second {
			return scrollback.ParamErrorf("scrollback", "poll", i18n.PollIsTime, c.Poll)
		}
	}
	o.Told = p.showChange
	first := true
	w.Report = func(r collect.Report) {
		if first && !p.JSON {
			_ = p.showFound(p.Stdout, r) // a reader that went away ends nothing
			fmt.Fprintln(p.Stdout, p.Texts.Say(i18n.ImportFollowing))
		}
		first = false
	}
	return p.Open(true, func(t *transfer.Transfer, v *engine.View) error {
		collector, err := collect.New(t, v, o)
		if err != nil {
			return err
		}
		return collector.Watch(p.Ctx, &w)
	})
}

// showChange prints a line for a session that was read, if anything came of it. The log has
// what stands in the way.
func (p Program) showChange(ch collect.Change) {
	n := ch.NewMessages()
	if ch.Err != nil || n == 0 {
		return
	}
	if p.JSON {
		line, err := json.Marshal(map[string]any{"time": time.Now().UnixMilli(), "tool": ch.Tool, "place": ch.Place,
			"session": ch.Session, "folder": ch.Folder,
			"messages": n, "conversations": ch.Conversations})
		if err == nil {
			fmt.Fprintf(p.Stdout, "%s\n", line)
		}
		return
	}
	for _, one := range ch.Conversations {
		if one.Messages > 0 {
			fmt.Fprintf(p.Stdout, "%s  %s  %s  %s  %s\n", time.Now().In(p.Zone).Format(time.TimeOnly), ch.Tool, one.ID,
				p.Texts.Count(one.Messages, i18n.CountOneNewMessage, i18n.CountNewMessages), columns.StripControls(ch.Folder))
		}
	}
}

// FollowBeside follows beside a server, by the config file, until the program is told to end.
func FollowBeside(p Program) {
	o, err := Flags{}.Options(p, "", "")
	o.Told = func(ch collect.Change) {
		if n := ch.NewMessages(); n > 0 {
			p.Log.Info("imported", "tool", ch.Tool, "session", ch.Session, "messages", n)
		}
	}
	if err == nil {
		err = p.Open(true, func(t *transfer.Transfer, v *engine.View) error {
			collector, err := collect.New(t, v, o)
			if err != nil {
				return err
			}
			return collector.Watch(p.Ctx, &collect.WatchOptions{Poll: p.Set.Poll, Log: p.Log})
		})
	}
	if err != nil {
		p.Log.Error("what other tools keep is not followed", "error", err)
	}
}
