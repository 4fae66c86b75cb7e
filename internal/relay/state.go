package relay

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
	"github.com/scrollback-ai/scrollback/internal/vault"
)

// State is what a store keeps of a remote, as JSON in a file of the remote's own.
type State struct {
	Version int         `json:"version"`
	Remote  string      `json:"remote"`
	LastMet int64       `json:"last_met,omitempty"` // Unix ms; 0: never
	Error   string      `json:"error,omitempty"`    // why it could not be met the last time
	Waiting int         `json:"waiting,omitempty"`  // batches that could not be taken, and files to come
	Mark    string      `json:"mark,omitempty"`     // of the store, when all of it was in the vault
	Stones  int         `json:"stones,omitempty"`   // whose conversations are not in what this store has published
	Vault   vault.State `json:"vault"`
}

const stateVersion = 1

// Place is where a store keeps what it knows of a remote: a folder of its own.
type Place struct{ Dir string }

func (p Place) stateFile() string { return filepath.Join(p.Dir, "state.json") }

// Read returns the state; the zero value before the first meeting.
func (p Place) Read() (State, error) {
	text, err := os.ReadFile(p.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return State{Version: stateVersion}, nil
	}
	if err != nil {
		return State{}, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return s, scrollback.Errorf(scrollback.Internal, op, i18n.SyncStateUnreadable, p.stateFile()).WithReason(err)
	}
	if s.Version != stateVersion {
		return s, scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncStateOfOtherVersion, p.stateFile(), s.Version,
			stateVersion)
	}
	return s, nil
}

// Write keeps the state: the old or the new one is there, whatever happens.
func (p Place) Write(s State) error {
	s.Version = stateVersion
	text, err := json.MarshalIndent(s, "", "\t")
	if err == nil {
		err = os.MkdirAll(p.Dir, 0o700)
	}
	if err == nil {
		err = writeFile(p.stateFile(), text)
	}
	return scrollback.Wrap(scrollback.Unavailable, op, err)
}

// Standing is when a remote was last met, and what waits there.
type Standing struct {
	Remote  string `json:"remote"`
	LastMet int64  `json:"last_met"` // Unix ms; 0: never
	Waiting int    `json:"waiting"`
	Error   string `json:"error,omitempty"`
}

// List lists the remotes below a folder of places, by name.
func List(dir string) ([]Standing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	var out []Standing
	for _, e := range entries {
		s, err := Place{filepath.Join(dir, e.Name())}.Read()
		if err != nil {
			return out, err
		}
		if s.Remote != "" {
			out = append(out, Standing{s.Remote, s.LastMet, s.Waiting, s.Error})
		}
	}
	slices.SortFunc(out, func(a, b Standing) int { return cmp.Compare(a.Remote, b.Remote) })
	return out, nil
}

// writeFile puts a file in the place of another one.
func writeFile(name string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
