package collect

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// stampedSession is what is here of a session, or of several that share a file.
type stampedSession struct {
	stamp string // of all of them; empty if they differ, or something is to be read again
	gone  bool
}

// knownOrigins are the origins of what is here, as far as a sweep needs them.
type knownOrigins struct {
	byID    map[[2]string]stampedSession // tool and id
	byName  map[[3]string]stampedSession // tool, place and name; without what is gone
	folders map[string]bool              // that were worked in
}

// originsPage is how many origins are read at once; maxOrigins bounds those that are
// looked at, maxFolders the working folders that are remembered.
const (
	originsPage = 5_000
	maxOrigins  = 1_000_000
	maxFolders  = 10_000
)

// eachOrigin calls visit for each origin that the caller may see.
func (c *Collector) eachOrigin(ctx context.Context, q transfer.OriginQuery, visit func(scrollback.Origin)) error {
	q.Limit = originsPage
	for n := 0; n < maxOrigins; {
		page, err := c.transfer.Origins(ctx, c.view, q)
		if err != nil {
			return err
		}
		for _, o := range page {
			visit(o)
		}
		if n += len(page); len(page) < originsPage {
			return nil
		}
		q.After = page[len(page)-1]
	}
	return nil
}

// readKnown reads what is here.
func (c *Collector) readKnown(ctx context.Context) (*knownOrigins, error) {
	k := &knownOrigins{byID: map[[2]string]stampedSession{}, byName: map[[3]string]stampedSession{},
		folders: map[string]bool{}}
	for _, f := range c.o.Machine.Folders {
		k.folders[f] = true
	}
	wanted := ToolNames(c.tools)
	put := func(o scrollback.Origin) {
		if o.Tool != scrollback.OriginRepository { // which is no folder of this machine
			k.addFolder(o.Folder)
		}
		if slices.Contains(wanted, o.Tool) {
			k.addOrigin(o)
		}
	}
	if err := c.eachOrigin(ctx, transfer.OriginQuery{Trash: true}, put); err != nil {
		return k, err
	}
	trashed := k.byName // of a file that has others too it says nothing
	k.byName = map[[3]string]stampedSession{}
	err := c.eachOrigin(ctx, transfer.OriginQuery{}, put)
	maps.Copy(trashed, k.byName)
	k.byName = trashed
	return k, err
}

// addOrigin takes an origin.
func (k *knownOrigins) addOrigin(o scrollback.Origin) {
	id := [2]string{o.Tool, o.ID}
	if _, known := k.byID[id]; !known || o.Place != "" { // an upload says nothing about a place
		k.byID[id] = stampedSession{o.Stamp, o.GoneAt != 0}
	}
	if o.GoneAt != 0 {
		return // its file need not have it
	}
	name := [3]string{o.Tool, o.Place, o.Name}
	if was, more := k.byName[name]; more && was.stamp != o.Stamp {
		o.Stamp = ""
	}
	k.byName[name] = stampedSession{stamp: o.Stamp}
}

// noteImported notes that all of a session is here.
func (k *knownOrigins) noteImported(s session, stamp string, shares bool) {
	if shares {
		k.byID[[2]string{s.tool, s.id}] = stampedSession{stamp: stamp}
		return
	}
	k.byName[[3]string{s.tool, s.place, s.name}] = stampedSession{stamp: stamp}
}

// addFolder remembers a folder.
func (k *knownOrigins) addFolder(folder string) {
	if folder != "" && len(k.folders) < maxFolders {
		k.folders[folder] = true
	}
}

// listPlaces returns the folders as a machine has them, in order.
func (k *knownOrigins) listPlaces() []string { return slices.Sorted(maps.Keys(k.folders)) }

// sessionState is what a session is to what is here.
type sessionState int

const (
	isNew sessionState = iota
	isChanged
	isKnown
)

// stateOf compares a session with what is here; shares says that its file has others.
func (k *knownOrigins) stateOf(s session, stamp string, shares bool) sessionState {
	var was stampedSession
	here := false
	if !shares { // all that its file has, whatever that is called
		was, here = k.byName[[3]string{s.tool, s.place, s.name}]
	}
	if !here { // or it has been moved
		was, here = k.byID[[2]string{s.tool, s.id}]
	}
	switch {
	case !here:
		return isNew
	case was.stamp == "" || was.stamp != stamp || was.gone:
		return isChanged
	}
	return isKnown
}
