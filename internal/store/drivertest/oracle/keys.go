package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
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

// keyAt returns the place of a key in the list, or -1.
func (db access) keyAt(id scrollback.KeyID) int {
	return slices.IndexFunc(db.database.keys, func(k storedKey) bool { return k.ID == id })
}

func copyKey(k scrollback.Key) scrollback.Key {
	k.Projects = slices.Clone(k.Projects)
	return k
}

// AddKey implements [driver.Access].
func (db access) AddKey(ctx context.Context, n driver.NewKey) error {
	const op = "oracle.AddKey"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(db.database.keys,
		func(k storedKey) bool { return k.Name == n.Key.Name && !k.HasEnded(n.Now) }) {
		return scrollback.Errorf(scrollback.Conflict, op, "there is a key with the name %s", n.Key.Name)
	}
	if len(db.database.keys) >= n.Most {
		old := slices.IndexFunc(db.database.keys, func(k storedKey) bool { return k.HasEnded(n.Now) })
		if old < 0 {
			return scrollback.Errorf(scrollback.Refused, op, "there are %d keys; revoke one that nobody needs", len(db.database.keys))
		}
		db.database.keys = slices.Delete(db.database.keys, old, old+1)
	}
	db.database.keys = append(db.database.keys, storedKey{copyKey(n.Key), n.Hash})
	slices.SortStableFunc(db.database.keys, func(a, b storedKey) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// ListKeys implements [driver.Access].
func (db access) ListKeys(ctx context.Context) ([]scrollback.Key, error) {
	end, err := db.beginWrite(ctx, "oracle.ListKeys")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Key
	for _, k := range db.database.keys {
		out = append(out, copyKey(k.Key))
	}
	return out, nil
}

// RevokeKey implements [driver.Access].
func (db access) RevokeKey(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error) {
	const op = "oracle.RevokeKey"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, err
	}
	i := db.keyAt(id)
	if i < 0 {
		return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, op, "no such key")
	}
	if db.database.keys[i].RevokedAt == 0 {
		db.database.keys[i].RevokedAt = now
	}
	db.signIns = slices.DeleteFunc(db.signIns, func(s signIn) bool { return s.key == id })
	return copyKey(db.database.keys[i].Key), nil
}

// FindKey implements [driver.Access].
func (db access) FindKey(ctx context.Context, hash driver.SecretHash) (scrollback.Key, error) {
	const op = "oracle.FindKey"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, err
	}
	for _, k := range db.database.keys {
		if k.hash == hash {
			return copyKey(k.Key), nil
		}
	}
	return scrollback.Key{}, scrollback.Errorf(scrollback.NotFound, op, "no such key")
}

// UseKey implements [driver.Access].
func (db access) UseKey(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	end, err := db.beginWrite(ctx, "oracle.UseKey")
	defer end()
	if err != nil {
		return err
	}
	if i := db.keyAt(id); i >= 0 && db.database.keys[i].LastUsedAt <= now-every {
		db.database.keys[i].LastUsedAt = now
	}
	return nil
}

// SignIn implements [driver.Access].
func (db access) SignIn(ctx context.Context, s driver.NewSignIn) error {
	const op = "oracle.SignIn"
	end, err := db.beginWrite(ctx, op)
	defer end()
	switch {
	case err != nil:
		return err
	case db.keyAt(s.Key) < 0:
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

// FindSignIn implements [driver.Access].
func (db access) FindSignIn(ctx context.Context, hash driver.SecretHash, now int64) (scrollback.Key, int64, error) {
	const op = "oracle.FindSignIn"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Key{}, 0, err
	}
	for _, s := range db.signIns {
		if i := db.keyAt(s.key); s.hash == hash && s.ends > now && i >= 0 {
			return copyKey(db.database.keys[i].Key), s.ends, nil
		}
	}
	return scrollback.Key{}, 0, scrollback.Errorf(scrollback.NotFound, op, "not signed in")
}

// SignOut implements [driver.Access].
func (db access) SignOut(ctx context.Context, hash driver.SecretHash) error {
	end, err := db.beginWrite(ctx, "oracle.SignOut")
	defer end()
	if err == nil {
		db.signIns = slices.DeleteFunc(db.signIns, func(s signIn) bool { return s.hash == hash })
	}
	return err
}
