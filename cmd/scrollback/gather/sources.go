package gather

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// ErrNothing is the reason of an error about a source without a conversation that could be read.
var ErrNothing = errors.New("there is no conversation in it")

// Place is a file or folder to be imported.
type Place struct {
	Name  string
	Found bool    // it was not named itself, but is in a folder that was
	Packs []Place // of a folder: the zips in it
	Loose []Place // of a folder in which no tool finds anything: files that may be of another format
	Deep  []Place // of the same: folders below it that a tool keeps its own in; see [Place.LookDeeper]
}

// Bounds of what is looked for in a folder.
const (
	maxPacks  = 10_000
	maxWalked = 500_000
	maxDepth  = 8
)

// passed are folders that hold no exports of conversations, and much else.
var passed = []string{".git", "node_modules"}

// looseEndings are those of files that may be a conversation of a format that is no tool's.
var looseEndings = []string{".jsonl", ".json", ".bundle"}

// ExpandPlace looks into a source: of a folder it finds what tools do not look for there themselves.
// What may not be read is passed over, and links are not followed.
func ExpandPlace(name string) Place {
	p := Place{Name: name}
	if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
		return p
	}
	root, err := filepath.EvalSymlinks(name) // the one that was named may be a link
	if err != nil {
		return p
	}
	walked := 0
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error { // what cannot be read has nothing
		if walked++; walked > maxWalked || len(p.Packs) >= maxPacks {
			return fs.SkipAll
		}
		rel, wrong := filepath.Rel(root, at)
		if err != nil || wrong != nil {
			return nil
		}
		at = filepath.Join(name, rel)
		if e.IsDir() {
			if slices.Contains(passed, e.Name()) || strings.Count(rel, string(filepath.Separator)) >= maxDepth {
				return fs.SkipDir
			}
			return nil
		}
		ending := strings.ToLower(filepath.Ext(at))
		switch {
		case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "."):
		case ending == ".zip":
			if _, zip, err := collect.RecognizeTool(nil, at); err == nil && zip {
				p.Packs = append(p.Packs, Place{Name: at, Found: true})
			}
		case rel == e.Name() && slices.Contains(looseEndings, ending) && len(p.Loose) < maxPacks:
			p.Loose = append(p.Loose, Place{Name: at, Found: true})
		}
		return nil
	})
	return p
}

// LookDeeper looks below a folder in which nothing was found for folders that tools keep
// conversations in: only those that --from names, if it does.
func (p *Place) LookDeeper(ctx context.Context, from string) {
	if info, err := os.Stat(p.Name); err != nil || !info.IsDir() {
		return
	}
	root, err := filepath.EvalSymlinks(p.Name) // the one that was named may be a link
	if err != nil {
		return
	}
	tools := all.Tools()
	if from != "" && from != Every {
		named := strings.Split(from, ",")
		tools = slices.DeleteFunc(tools, func(t transcript.Tool) bool { return !slices.Contains(named, t.Name()) })
	}
	for _, name := range collect.FindDeeper(ctx, tools, root) {
		if rel, err := filepath.Rel(root, name); err == nil {
			p.Deep = append(p.Deep, Place{Name: filepath.Join(p.Name, rel), Found: true})
		}
	}
}

// IsNothing reports whether an error only says that there was no conversation in a source. Of
// a file that nobody named, everything that is wrong with its content says so.
func (p Place) IsNothing(err error) bool {
	return errors.Is(err, ErrNothing) || p.Found && scrollback.CodeOf(err) == scrollback.Invalid &&
		!strings.EqualFold(filepath.Ext(p.Name), ".zip")
}
