package memdriver

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

type storedKey struct {
	scrollback.Key
	hash driver.SecretHash
}

type signIn struct {
	key  scrollback.KeyID
	hash driver.SecretHash
	ends int64
}

// keys implements [driver.Keys].
type keys struct {
	mu      *sync.RWMutex
	usable  func(ctx context.Context, op string) error // under the lock
	all     []storedKey                                // in the order they were added
	signIns []signIn                                   // the same
}

// newKeys makes the part of an empty database that has the lock mu; usable says why a call may
// not continue.
func newKeys(mu *sync.RWMutex, usable func(ctx context.Context, op string) error) driver.Keys {
	return &keys{mu: mu, usable: usable}
}

// begin takes the lock; the returned function gives it back, also after an error.
func (db *keys) begin(ctx context.Context, op string) (end func(), err error) {
	db.mu.Lock()
	return db.mu.Unlock, db.usable(ctx, op)
}

// at is the place of a key in the list, or -1.
func (db *keys) at(id scrollback.KeyID) int {
	return slices.IndexFunc(db.all, func(k storedKey) bool { return k.ID == id })
}

func copyKey(k scrollback.Key) scrollback.Key {
	k.Projects = slices.Clone(k.Projects)
	return k
}

// Add implements [driver.Keys].
func (db *keys) Add(ctx context.Context, n driver.NewKey) error {
	const op = "memdriver.AddKey"
	end, err := db.begin(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(db.all, func(k storedKey) bool { return k.Name == n.Key.Name && !k.Ended(n.Now) }) {
		return scrollback.Errorf(scrollback.Conflict, op, "there is a key with the name %s", n.Key.Name)
	}
	if len(db.all) >= n.Most {
		old := slices.IndexFunc(db.all, func(k storedKey) bool { return k.Ended(n.Now) })
		if old < 0 {
			return scrollback.Errorf(scrollback.Refused, op, "there are %d keys; revoke one that nobody needs", len(db.all))
		}
		db.all = slices.Delete(db.all, old, old+1)
	}
	db.all = append(db.all, storedKey{copyKey(n.Key), n.Hash})
	slices.SortStableFunc(db.all, func(a, b storedKey) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// List implements [driver.Keys].
func (db *keys) List(ctx context.Context) ([]scrollback.Key, error) {
	end, err := db.begin(ctx, "memdriver.Keys")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Key
	for _, k := range db.all {
		out = append(out, copyKey(k.Key))
	}
	return out, nil
}

// Revoke implements [driver.Keys].
func (db *keys) Revoke(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error) {
	const op = "memdriver.RevokeKey"
	end, err := db.begin(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, err
	}
	i := db.at(id)
	if i < 0 {
		return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, op, "no such key")
	}
	if db.all[i].RevokedAt == 0 {
		db.all[i].RevokedAt = now
	}
	db.signIns = slices.DeleteFunc(db.signIns, func(s signIn) bool { return s.key == id })
	return copyKey(db.all[i].Key), nil
}

// Find implements [driver.Keys].
func (db *keys) Find(ctx context.Context, hash driver.SecretHash) (scrollback.Key, error) {
	const op = "memdriver.Key"
	end, err := db.begin(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, err
	}
	for _, k := range db.all {
		if k.hash == hash {
			return copyKey(k.Key), nil
		}
	}
	return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, op, "no such key")
}

// Use implements [driver.Keys].
func (db *keys) Use(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	end, err := db.begin(ctx, "memdriver.UseKey")
	defer end()
	if err != nil {
		return err
	}
	if i := db.at(id); i >= 0 && db.all[i].LastUsedAt <= now-every {
		db.all[i].LastUsedAt = now
	}
	return nil
}

// SignIn implements [driver.Keys].
func (db *keys) SignIn(ctx context.Context, s driver.NewSignIn) error {
	const op = "memdriver.SignIn"
	end, err := db.begin(ctx, op)
	defer end()
	switch {
	case err != nil:
		return err
	case db.at(s.Key) < 0:
		return scrollback.Errorf(scrollback.NotFound, op, "no such key")
	}
	db.signIns = slices.DeleteFunc(db.signIns, func(o signIn) bool { return o.ends <= s.Now })
	db.signIns = append(db.signIns, signIn{s.Key, s.Hash, s.Ends})
	own := 0
	for _, o := range db.signIns {
		if o.key == s.Key {
			own++
		}
	}
	db.signIns = slices.DeleteFunc(db.signIns, func(o signIn) bool {
		if own <= s.Most || o.key != s.Key {
			return false
		}
		own--
		return true
	})
	return nil
}

// SignedIn implements [driver.Keys].
func (db *keys) SignedIn(ctx context.Context, hash driver.SecretHash, now int64) (scrollback.Key, int64, error) {
	const op = "memdriver.SignedIn"
	end, err := db.begin(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, 0, err
	}
	for _, s := range db.signIns {
		if i := db.at(s.key); s.hash == hash && s.ends > now && i >= 0 {
			return copyKey(db.all[i].Key), s.ends, nil
		}
	}
	return scrollback.Key{}, 0, scrollback.Errorf(scrollback.NotFound, op, "not signed in")
}

// SignOut implements [driver.Keys].
func (db *keys) SignOut(ctx context.Context, hash driver.SecretHash) error {
	end, err := db.begin(ctx, "memdriver.SignOut")
	defer end()
	if err == nil {
		db.signIns = slices.DeleteFunc(db.signIns, func(s signIn) bool { return s.hash == hash })
	}
	return err
}
