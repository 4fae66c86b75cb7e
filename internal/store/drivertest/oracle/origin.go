package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// byOrigin returns the order of origins.
func byOrigin(a, b scrollback.Origin) int {
	return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conversation, b.Conversation))
}

// PutOrigin implements [driver.Log].
func (db log) PutOrigin(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	const op = "oracle.PutOrigin"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	th := db.threads[o.Conversation]
	if th == nil || th.PurgedAt != 0 {
		return scrollback.Errorf(scrollback.NotFound, op, "no conversation %s", o.Conversation)
	}
	db.database.origins = slices.DeleteFunc(db.database.origins, func(was scrollback.Origin) bool {
		return was.Tool == o.Tool && was.ID == o.ID && (was.Conversation == o.Conversation || was.Conversation == instead)
	})
	at, _ := slices.BinarySearchFunc(db.database.origins, o, byOrigin)
	db.database.origins = slices.Insert(db.database.origins, at, o)
	delete(db.purged, [2]string{driver.PurgedKey(o.Tool, o.ID), th.Project})
	return nil
}

// ListOrigins implements [driver.Log].
func (db log) ListOrigins(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	end, err := db.beginRead(ctx, "oracle.ListOrigins")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Origin
	for _, o := range db.database.origins {
		th := db.threads[o.Conversation]
		switch {
		case len(out) == q.PageSize():
		case q.After.Tool+q.After.ID != "" && byOrigin(o, q.After) <= 0:
		case !q.Trash && th.DeletedAt != 0 || q.Projects != nil && !slices.Contains(q.Projects, th.Project):
		case !q.Matches(o):
		default:
			out = append(out, o)
		}
	}
	return out, nil
}

// WasOriginPurged implements [driver.Log].
func (db log) WasOriginPurged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	end, err := db.beginRead(ctx, "oracle.WasOriginPurged")
	defer end()
	if err != nil {
		return false, err
	}
	for of := range db.purged {
		if of[0] == driver.PurgedKey(tool, id) && (projects == nil || slices.Contains(projects, of[1])) {
			return true, nil
		}
	}
	return false, nil
}
