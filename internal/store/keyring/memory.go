package keyring

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// mostHeld bounds the sign-ins of a ring that keeps them in memory; those that end first make
// room.
const mostHeld = 4096

// WithMemorySignIns returns a ring over the same keys that writes nothing: its sign-ins are in memory, end with
// the program, and are known to no other server; when a key was used is not noted.
func (r *Ring) WithMemorySignIns() *Ring {
	return &Ring{&memorySignIns{Access: r.d, signIns: map[driver.SecretHash]driver.NewSignIn{}}, r.now, r.newID}
}

type memorySignIns struct {
	driver.Access

	mu      sync.Mutex
	signIns map[driver.SecretHash]driver.NewSignIn
}

func (h *memorySignIns) UseKey(context.Context, scrollback.KeyID, int64, int64) error { return nil }

func (h *memorySignIns) SignIn(_ context.Context, s driver.NewSignIn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.signIns, func(_ driver.SecretHash, one driver.NewSignIn) bool { return one.Ends <= s.Now })
	var own []driver.NewSignIn
	for _, one := range h.signIns {
		if one.Key == s.Key {
			own = append(own, one)
		}
	}
	switch first := func(a, b driver.NewSignIn) int { return int(a.Ends - b.Ends) }; {
	case len(own) >= s.Most:
		delete(h.signIns, slices.MinFunc(own, first).Hash)
	case len(h.signIns) >= mostHeld:
		delete(h.signIns, slices.MinFunc(slices.Collect(maps.Values(h.signIns)), first).Hash)
	}
	h.signIns[s.Hash] = s
	return nil
}

// FindSignIn reads the key again, which may have been revoked by another program.
func (h *memorySignIns) FindSignIn(ctx context.Context, hash driver.SecretHash, now int64) (scrollback.Key,
	int64, error) {
	h.mu.Lock()
	s, ok := h.signIns[hash]
	h.mu.Unlock()
	if ok && s.Ends > now {
		keys, err := h.ListKeys(ctx)
		if err != nil {
			return scrollback.Key{}, 0, err
		}
		if i := slices.IndexFunc(keys, func(k scrollback.Key) bool { return k.ID == s.Key }); i >= 0 {
			return keys[i], s.Ends, nil
		}
	}
	return scrollback.Key{}, 0, scrollback.Errorf(scrollback.NotFound, "keyring.FindSignIn", i18n.NotSignedIn)
}

func (h *memorySignIns) SignOut(_ context.Context, hash driver.SecretHash) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.signIns, hash)
	return nil
}
