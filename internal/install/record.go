package install

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// record says what was written where. It is written before the files are: what it says of a file counts only if the
// file's hash is one of those that it names.
type record struct {
	Version int     `json:"version"`
	Entries []entry `json:"entries"`
}

// entry is a file that was written.
type entry struct {
	Agent   string   `json:"agent"`
	Path    string   `json:"path"`
	Program string   `json:"program"`
	Whole   bool     `json:"whole,omitempty"`   // it is ours
	Before  string   `json:"before,omitempty"`  // the hash that it had; empty where there was none
	States  []state  `json:"states,omitempty"`  // what was made of it, the newest last
	Keys    []keys   `json:"keys,omitempty"`    // what was put into it
	Folders []string `json:"folders,omitempty"` // that were made for it, the outermost first
}

// state is what a file was made to be.
type state struct {
	Hash  string          `json:"hash"`
	Steps [][]editor.Edit `json:"steps,omitempty"` // that lead there from what it was before
}

// keys lead to what was put into a file.
type keys struct {
	Keys []string `json:"keys"`
	List bool     `json:"list,omitempty"`
	Made int      `json:"made,omitempty"` // how many tables around it were made
}

const recordVersion = 1

// recordPath returns where the record is.
func recordPath(data string) string { return filepath.Join(data, "install.json") }

// HasRecord reports whether agents were set up with the data of a folder.
func HasRecord(data string) bool {
	r, c, err := readRecord(data)
	return err == nil && c.there() && len(r.Entries) > 0
}

// readRecord reads the record; one that is not there is empty, and so is one that cannot be understood: what is ours
// is recognised without it.
func readRecord(data string) (record, content, error) {
	c, err := readContent(recordPath(data))
	if err != nil {
		return record{}, c, err
	}
	var r record
	if c.there() && json.Unmarshal(c.text, &r) != nil {
		return record{}, c, nil
	}
	if r.Version > recordVersion {
		return record{}, c, scrollback.Errorf(scrollback.Refused, op, i18n.InstallNewerRecord, recordPath(data))
	}
	return r, c, nil
}

// writeRecord writes the record, if it is not there already in these words. Without entries it goes.
func writeRecord(data string, r record) error {
	_, was, err := readRecord(data)
	if err != nil {
		return err
	}
	if len(r.Entries) == 0 {
		return was.remove(recordPath(data))
	}
	r.Version = recordVersion
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, op, err)
	}
	text = append(text, '\n')
	if was.hash() == hashOf(text) {
		return nil
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return explain(data, err)
	}
	return was.write(recordPath(data), text)
}

// find returns the entry of a file.
func (r record) find(agent, path string) (entry, bool) {
	i := slices.IndexFunc(r.Entries, func(e entry) bool { return e.Agent == agent && e.Path == path })
	if i < 0 {
		return entry{}, false
	}
	return r.Entries[i], true
}

// with returns the record with an entry, in the place of the one for the same file.
func (r record) with(e entry) record {
	out := r.without(e)
	out.Entries = append(out.Entries, e)
	slices.SortStableFunc(out.Entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// without returns the record without the entry of a file.
func (r record) without(e entry) record {
	return record{Entries: slices.DeleteFunc(slices.Clone(r.Entries), func(o entry) bool {
		return o.Agent == e.Agent && o.Path == e.Path
	})}
}

// stateOf returns what is known of a file with a hash.
func (e entry) stateOf(hash string) (state, bool) {
	i := slices.IndexFunc(e.States, func(s state) bool { return s.Hash == hash && hash != "" })
	if i < 0 {
		return state{}, false
	}
	return e.States[i], true
}

// undo returns the text as it was before the steps.
func (s state) undo(text []byte) ([]byte, bool) {
	for _, edits := range slices.Backward(s.Steps) {
		var ok bool
		if text, ok = editor.Undo(text, edits); !ok {
			return nil, false
		}
	}
	if text == nil {
		text = []byte{} // the file was empty, and not missing
	}
	return text, true
}

// removeFolders removes folders that are empty, the innermost first.
func removeFolders(folders []string) error {
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, dir := range folders {
		inside, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) || len(inside) > 0 {
			continue
		}
		if err == nil {
			err = os.Remove(dir)
		}
		if err != nil {
			return explain(dir, err)
		}
	}
	return nil
}
