// Package known keeps what is known about places that their folders do not say: which of them a person has joined or
// parted, and what repositories are known by on other machines.
//
// Words it adds: group (places that a person joined), parted (a place that is only itself, whatever its repository is
// known by).
//
// Invariants: it is one file in the data folder, replaced as a whole, by one program at a time; a place is in one
// group at most; two folders are never one because of their names. A file that cannot be read says nothing.
//
// It may not know conversations.
package known

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback/internal/place"
)

const (
	fileName  = "places.json"
	lockName  = "places.lock"
	mostBytes = 4 << 20
	// mostRepositories bounds how many are kept; then all are looked at again.
	mostRepositories = 10_000
	// lookAgain is after how long a repository without an answer is asked again: it may have got a remote, or a commit.
	lookAgain = 24 * time.Hour
)

// Places is what is known. It is read as it was when it was opened.
type Places struct {
	dir string
	mu  sync.Mutex
	v   content
}

// content is the file.
type content struct {
	Groups       [][]string            `json:"joined,omitempty"` // folders, each one of its place
	Parted       []string              `json:"parted,omitempty"`
	Repositories map[string]repository `json:"repositories,omitempty"` // by their common folders
}

type repository struct {
	place.Repository
	At int64 `json:"at"` // when it was looked at, in Unix s
}

// Open reads what is known in a data folder. There need be no file, nor a folder; an empty one knows nothing and keeps
// nothing.
func Open(dir string) *Places {
	p := &Places{dir: dir}
	p.v = read(dir)
	return p
}

func read(dir string) (v content) {
	if dir == "" {
		return v
	}
	name := filepath.Join(dir, fileName)
	if info, err := os.Stat(name); err != nil || info.Size() > mostBytes {
		return v
	}
	raw, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(raw, &v) != nil {
		return content{}
	}
	return v
}

// change changes the file as it is now.
func (p *Places) change(edit func(*content)) error {
	if p.dir == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.v.Repositories = maps.Clone(p.v.Repositories)
		edit(&p.v)
		return nil
	}
	lock := flock.New(filepath.Join(p.dir, lockName), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // it ends with the program, too
	v := read(p.dir)
	edit(&v)
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(p.dir, fileName+".*.draft")
	if err != nil {
		return err
	}
	_, err = draft.Write(append(raw, '\n'))
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), filepath.Join(p.dir, fileName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	p.mu.Lock()
	p.v = v
	p.mu.Unlock()
	return nil
}

func (p *Places) now() content {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.v
}

// Find returns the place of a folder, with what is known about it. It reads no history.
func (p *Places) Find(folder string) place.Place {
	v := p.now()
	here := v.find(folder)
	if here.Key() == "" {
		return here
	}
	if i := groupOf(v.Groups, here.Key()); i >= 0 {
		var others []place.Place
		for _, f := range v.Groups[i] {
			if o := v.find(f); o.Key() != here.Key() {
				others = append(others, o)
			}
		}
		here = here.Join(others...)
	}
	return here
}

// find returns the place of a folder by itself.
func (v content) find(folder string) place.Place {
	here := place.Find(folder)
	if here.Common == "" || isIn(v.Parted, here.Key()) {
		return here
	}
	return here.KnownAs(v.Repositories[here.Common].Repository)
}

// isIn reports whether one of some folders is of the place with a key.
func isIn(folders []string, key string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return place.Find(f).Key() == key })
}

// groupOf returns which group has the place with a key, or -1.
func groupOf(groups [][]string, key string) int {
	return slices.IndexFunc(groups, func(g []string) bool { return isIn(g, key) })
}

// Join makes the places of two folders one, with all that either was joined with.
func (p *Places) Join(a, b string) error {
	return p.change(func(v *content) {
		var group []string
		for _, folder := range []string{a, b} {
			key := place.Find(folder).Key()
			v.Parted = slices.DeleteFunc(v.Parted, func(f string) bool { return place.Find(f).Key() == key })
			if i := groupOf(v.Groups, key); i >= 0 {
				group = append(group, v.Groups[i]...)
				v.Groups = slices.Delete(v.Groups, i, i+1)
			} else if !isIn(group, key) {
				group = append(group, folder)
			}
		}
		v.Groups = append(v.Groups, group)
	})
}

// Part makes the place of a folder only itself: it leaves those that it was joined with, and is no longer known by its
// repository.
func (p *Places) Part(folder string) error {
	return p.change(func(v *content) {
		key := place.Find(folder).Key()
		if i := groupOf(v.Groups, key); i >= 0 {
			v.Groups[i] = slices.DeleteFunc(v.Groups[i], func(f string) bool { return place.Find(f).Key() == key })
			if len(v.Groups[i]) < 2 {
				v.Groups = slices.Delete(v.Groups, i, i+1)
			}
		}
		if !isIn(v.Parted, key) {
			v.Parted = append(v.Parted, folder)
		}
	})
}

// Listed is a place as it is listed: Folders are those that were joined, or the one of a place by itself.
type Listed struct {
	Folders    []string `json:"folders"`
	Repository string   `json:"repository,omitempty"` // its remote
	Parted     bool     `json:"parted,omitempty"`
}

// List lists what is known: groups, what was parted, and repositories.
func (p *Places) List() []Listed {
	v := p.now()
	out := []Listed{}
	for _, g := range v.Groups {
		out = append(out, Listed{Folders: slices.Clone(g)})
	}
	for _, f := range v.Parted {
		out = append(out, Listed{Folders: []string{f}, Parted: true})
	}
	var repositories []Listed
	for common, r := range v.Repositories {
		if r.IsKnown() {
			top := common
			if filepath.Base(common) == ".git" {
				top = filepath.Dir(common)
			}
			repositories = append(repositories, Listed{Folders: []string{top}, Repository: r.Remote})
		}
	}
	slices.SortFunc(repositories, func(a, b Listed) int { return slices.Compare(a.Folders, b.Folders) })
	return append(out, repositories...)
}

// FindRepository returns what the repository that a folder is in is known by on other machines; the zero value for
// none, for one that was parted, and for a folder that is not there. What is not known yet is read from its
// history, which takes a while, and kept.
func (p *Places) FindRepository(ctx context.Context, folder string) place.Repository {
	if _, err := os.Stat(folder); err != nil {
		return place.Repository{}
	}
	here := place.Find(folder)
	v := p.now()
	if here.Common == "" || isIn(v.Parted, here.Key()) {
		return place.Repository{}
	}
	known, ok := v.Repositories[here.Common]
	if ok && (known.IsKnown() || time.Since(time.Unix(known.At, 0)) < lookAgain) {
		return known.Repository
	}
	found := repository{place.ReadRepository(ctx, here.Common), time.Now().Unix()}
	if ctx.Err() != nil {
		return place.Repository{}
	}
	_ = p.change(func(v *content) { // else it is read again
		if v.Repositories == nil || len(v.Repositories) >= mostRepositories {
			v.Repositories = map[string]repository{}
		}
		v.Repositories[here.Common] = found
	})
	return found.Repository
}
