package oracle

import (
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// aliasOf names what was given up.
type aliasOf struct {
	kind driver.AliasKind
	id   string
}

// PutAliases implements [driver.Log].
func (db log) PutAliases(ctx context.Context, all []driver.Alias) error {
	end, err := db.beginWrite(ctx, "oracle.PutAliases")
	defer end()
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.ID == a.Now {
			continue
		}
		if on, given := db.aliases[aliasOf{a.Kind, a.Now}]; on == a.ID {
			delete(db.aliases, aliasOf{a.Kind, a.Now})
		} else if given {
			a.Now = on
		}
		for of, now := range db.aliases {
			if of.kind == a.Kind && now == a.ID {
				db.aliases[of] = a.Now
			}
		}
		db.aliases[aliasOf{a.Kind, a.ID}] = a.Now
		db.changes.noteWritten(driver.SilentOther + "aliases")
	}
	return nil
}

// FindAliases implements [driver.Log].
func (db log) FindAliases(ctx context.Context, kind driver.AliasKind, prefix string,
	limit int) (out []driver.Alias, err error) {
	end, err := db.beginRead(ctx, "oracle.FindAliases")
	defer end()
	if err != nil {
		return nil, err
	}
	for of, now := range db.aliases {
		if of.kind == kind && strings.HasPrefix(of.id, prefix) {
			out = append(out, driver.Alias{Kind: kind, ID: of.id, Now: now})
		}
	}
	slices.SortFunc(out, func(a, b driver.Alias) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(len(out), limit)], nil
}
