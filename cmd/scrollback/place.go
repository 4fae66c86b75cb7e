package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	workplace "github.com/scrollback-ai/scrollback/internal/place"
	places "github.com/scrollback-ai/scrollback/internal/place/known"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// placeCmd has what people say about which folders are one place of work.
type placeCmd struct {
	List placeListCmd `cmd:"" default:"1" help:"list-places-joined-parted-known"`
	Join placeJoinCmd `cmd:"" help:"make-two-places-one"`
	Part placePartCmd `cmd:"" help:"make-place-only-itself"`
}

type placeListCmd struct{}

// Run implements the command.
func (placeListCmd) Run(g *globals) error {
	dir, err := g.dataDir()
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	all := places.Open(dir).List()
	return g.printResult(map[string]any{"places": all}, func(w io.Writer) error {
		w = columns.PlainWriter(w) // folders are named by others
		if len(all) == 0 {
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.PlacesNone))
			return err
		}
		for _, p := range all {
			line := g.localeTexts().Say(i18n.PlaceJoined, strings.Join(p.Folders, " + "))
			switch {
			case p.Parted:
				line = g.localeTexts().Say(i18n.PlaceParted, p.Folders[0])
			case p.Repository != "":
				line = g.localeTexts().Say(i18n.PlaceKnown, p.Folders[0], p.Repository)
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	})
}

type placeJoinCmd struct {
	Folders []string `arg:"" help:"folders-to-join" placeholder:"DIR"`
}

// Run implements the command.
func (c *placeJoinCmd) Run(g *globals) error {
	if len(c.Folders) != 2 {
		return scrollback.ParamErrorf("scrollback", "folders", i18n.PlaceJoinsTwo)
	}
	one, err := absoluteFolder(c.Folders[0])
	if err != nil {
		return err
	}
	other, err := absoluteFolder(c.Folders[1])
	if err != nil {
		return err
	}
	if workplace.Find(one).Key() == workplace.Find(other).Key() {
		return scrollback.ParamErrorf("scrollback", "folders", i18n.PlacesAreOne, one, other)
	}
	return g.changePlaces(one, func(p *places.Places) error { return p.Join(one, other) })
}

type placePartCmd struct {
	Folder string `arg:"" help:"folder-to-part" placeholder:"DIR"`
}

// Run implements the command.
func (c *placePartCmd) Run(g *globals) error {
	folder, err := absoluteFolder(c.Folder)
	if err != nil {
		return err
	}
	return g.changePlaces(folder, func(p *places.Places) error { return p.Part(folder) })
}

// changePlaces changes what is known about places, and prints which folders the place of one has then.
func (g *globals) changePlaces(folder string, change func(*places.Places) error) error {
	dir, err := g.dataDir()
	if err == nil {
		err = home.MakeDataFolder(dir)
	}
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	known := places.Open(dir)
	if err := change(known); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	now := known.Find(folder)
	own := slices.DeleteFunc(now.Folders, func(f string) bool { return f == now.Repository.Folder() })
	return g.printResult(map[string]any{"folder": folder, "folders": own}, func(w io.Writer) error {
		w = columns.PlainWriter(w)
		_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.PlaceIsNow, folder, strings.Join(own, ", ")))
		return err
	})
}

// absoluteFolder returns a folder as places have it. It need not be there: what was said in one that is gone is found
// by its name. A file is no folder.
func absoluteFolder(name string) (string, error) {
	folder, err := filepath.Abs(name)
	if err != nil {
		return "", scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return "", scrollback.ParamErrorf("scrollback", "folder", i18n.IsNotAFolder, name)
	}
	return folder, nil
}
