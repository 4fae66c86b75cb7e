// Package crush reads the conversations of crush, which keeps a database in each project.
//
// Words it adds: row (a message as the database has it: its parts are one JSON list).
//
// Invariants: rows are in the order of their time and then of their insertion, since a whole
// turn shares one second; what a tool returned is without the mark of its folder that the tool
// appends; a row is complete when it says how it ended.
//
// It may not know the store, the network or the file system.
package crush

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "crush"
	metaKey = "crush"
)

// known says which versions the tables are known of.
const known = "crush 0.62 to 0.90"

// database is what the tool calls its database.
const database = "crush.db"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: the folders of data that the tool has noted, and those
// of the working folders that are known.
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	if m.FS != nil {
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Join(globalFolder(m), "projects.json")), "/")
		for _, p := range listProjects(m.FS, name) {
			out = append(out, filepath.FromSlash(p.DataDir))
		}
	}
	for _, folder := range m.Folders {
		if home := filepath.Join(folder, ".crush"); !slices.Contains(out, home) {
			out = append(out, home)
		}
	}
	return out
}

// globalFolder returns where the tool keeps what is not a project's.
func globalFolder(m transcript.Machine) string {
	for _, v := range []string{"CRUSH_GLOBAL_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"} {
		at := m.Getenv(v)
		switch {
		case at == "", v == "LOCALAPPDATA" && m.System != "windows":
		case v == "CRUSH_GLOBAL_DATA":
			return at
		default:
			return filepath.Join(at, "crush")
		}
	}
	if m.System == "windows" {
		return filepath.Join(m.Home, "AppData", "Local", "crush")
	}
	return filepath.Join(m.Home, ".local", "share", "crush")
}

// project is where the tool was used.
type project struct {
	Path    string `json:"path"`
	DataDir string `json:"data_dir"`
}

// listProjects returns those that the tool has noted; none if the file cannot be read.
func listProjects(files fs.FS, name string) []project {
	var all struct {
		Projects []project `json:"projects"`
	}
	info, err := fs.Stat(files, name)
	if err != nil || info.Size() > transcript.MaxLine {
		return nil
	}
	raw, err := fs.ReadFile(files, name)
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all.Projects, func(p project) bool { return p.DataDir == "" })
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	return path.Base(name) == database && bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
}

// listDatabases returns those of a place: the file, the tool's folder, or a project with one.
func listDatabases(p transcript.Place) ([]string, error) {
	if p.Path == "" {
		return nil, nil // it was uploaded: databases are read where they are
	}
	at := path.Clean(p.Name)
	info, err := fs.Stat(p.FS, at)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{at}, nil
	}
	var out []string
	for _, name := range []string{path.Join(at, database), path.Join(at, ".crush", database)} {
		if info, err := fs.Stat(p.FS, name); err == nil && info.Mode().IsRegular() {
			out = append(out, name)
		}
	}
	return out, nil
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		names, err := listDatabases(p)
		for _, name := range names {
			var all []transcript.Session
			if all, err = listSessions(ctx, p, name); err != nil {
				break
			}
			for _, s := range all {
				if !yield(s, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
		}
	}
}
