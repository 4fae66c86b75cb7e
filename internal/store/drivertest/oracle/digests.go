package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// digestRows are the digests that were stored, each with the change behind which it was worked out. That all are here
// saves nothing where everything is in memory.
type digestRows map[scrollback.ConversationID]digestRow

type digestRow struct {
	text string
	at   int64
}

// newest is the number of the newest change.
func (cs *changeLog) newest() int64 {
	if n := len(cs.kept); n > 0 {
		return cs.kept[n-1].N
	}
	return 0
}

// forgetChanged forgets the digests of what changes tell of that are being removed.
func (db *database) forgetChanged(gone []driver.Change) {
	for _, c := range gone {
		if d, ok := db.digests[c.Conversation]; ok && d.at < c.N {
			delete(db.digests, c.Conversation)
		}
	}
}

// ReadMark implements [driver.Log].
func (db log) ReadMark(ctx context.Context) (string, error) {
	end, err := db.beginRead(ctx, "oracle.ReadMark")
	defer end()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%p", db.changes.newest(), db.database), nil
}

// ReadChanged implements [driver.Log].
func (db log) ReadChanged(ctx context.Context, mark string) (out driver.Changed, err error) {
	end, err := db.beginRead(ctx, "oracle.ReadChanged")
	defer end()
	if err != nil {
		return out, err
	}
	kept := db.changes.kept
	number, of, _ := strings.Cut(mark, "-")
	after, err := strconv.ParseInt(number, 10, 64)
	if err != nil || of != fmt.Sprintf("%p", db.database) || after > db.changes.newest() ||
		len(kept) > 0 && kept[0].N > after+1 {
		return driver.Changed{Everything: true}, nil
	}
	for _, c := range kept {
		switch {
		case c.N <= after:
		case !strings.Contains(string(c.Conversation), ":"):
			out.Conversations = append(out.Conversations, c.Conversation)
			_, isStone := db.stones[c.Conversation]
			out.Stones = out.Stones || isStone
		case strings.HasPrefix(string(c.Conversation), stamp.OfProject("")):
			out.Projects = true
		}
	}
	slices.Sort(out.Conversations)
	out.Conversations = slices.Compact(out.Conversations)
	return out, nil
}

// ListMet implements [driver.Log].
func (db log) ListMet(ctx context.Context) ([]string, error) {
	end, err := db.beginRead(ctx, "oracle.ListMet")
	defer end()
	return slices.Sorted(slices.Values(db.met)), err
}

// PutMet implements [driver.Log].
func (db log) PutMet(ctx context.Context, mark, instead string, _ int64) error {
	end, err := db.beginWrite(ctx, "oracle.PutMet")
	defer end()
	if err != nil {
		return err
	}
	db.met = slices.DeleteFunc(slices.Clone(db.met), func(m string) bool { return m == mark || m == instead })
	db.met = append(db.met, mark)
	db.met = db.met[max(0, len(db.met)-metMax):]
	return nil
}

// metMax is how many marks of other stores are remembered.
const metMax = 64

// ReadDigests implements [driver.Log].
func (db log) ReadDigests(ctx context.Context) (out driver.Digests, err error) {
	end, err := db.beginRead(ctx, "oracle.ReadDigests")
	defer end()
	if err != nil {
		return out, err
	}
	all := map[scrollback.ConversationID]string{}
	for id, d := range db.digests {
		all[id] = d.text
	}
	for id, th := range db.threads {
		if th.PurgedAt == 0 {
			all[id] += ""
		}
	}
	for id := range db.stones {
		all[id] += ""
	}
	for _, c := range db.changes.kept {
		if d, ok := db.digests[c.Conversation]; ok && d.at < c.N {
			all[c.Conversation] = ""
		}
	}
	out.At = db.changes.newest()
	for id, text := range all {
		out.All = append(out.All, driver.StoredDigest{ID: id, Digest: text})
	}
	slices.SortFunc(out.All, func(a, b driver.StoredDigest) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// StoreDigests implements [driver.Log].
func (db log) StoreDigests(ctx context.Context, d driver.Digests, _ bool) error {
	end, err := db.beginWrite(ctx, "oracle.StoreDigests")
	defer end()
	if err != nil {
		return err
	}
	for _, one := range d.All {
		switch {
		case db.digests[one.ID].at > d.At:
		case one.Digest == "":
			delete(db.digests, one.ID)
		default:
			db.digests[one.ID] = digestRow{one.Digest, d.At}
		}
	}
	return nil
}
