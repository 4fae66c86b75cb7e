package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// OriginQuery pages through origins. Each field that is set narrows it. What is read besides
// is bounded where Conversations is set, or Tool with ID or Root, or Place, or Folder.
type OriginQuery struct {
	Tool, ID      string
	Root          string
	Place, Name   string
	Folder        string // that one, or below it
	Conversations []scrollback.ConversationID
	Projects      []string          // of the conversations; nil for no such bound
	Trash         bool              // with those of conversations in the trash
	After         scrollback.Origin // begin behind its Tool, ID and Conversation
	Limit         int               // 0 means 200, at most 10,000
}

// Bounds of a page of origins.
const (
	originsDefault = 200
	originsMax     = 10_000
)

// PageSize returns how many origins a page has at most.
func (q OriginQuery) PageSize() int {
	if q.Limit <= 0 {
		return originsDefault
	}
	return min(q.Limit, originsMax)
}

// Matches reports whether an origin is one of those that are asked for, whatever the project of
// its conversation.
func (q OriginQuery) Matches(o scrollback.Origin) bool {
	for _, f := range [][2]string{{q.Tool, o.Tool}, {q.ID, o.ID}, {q.Root, o.Root}, {q.Place, o.Place}, {q.Name, o.Name}} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	below := q.Folder == "" || q.Folder == o.Folder
	for _, b := range q.FolderBounds() {
		below = below || o.Folder >= b[0] && o.Folder < b[1]
	}
	return below && (q.Conversations == nil || slices.Contains(q.Conversations, o.Conversation))
}

// FolderBounds returns the bounds of the folders below q.Folder: those from first on that come before
// end, in the order of bytes. Folders are divided by a slash, or as Windows does it.
func (q OriginQuery) FolderBounds() (bounds [2][2]string) {
	for i, c := range []byte{'/', '\\'} {
		base := q.Folder
		if n := len(base); n > 0 && base[n-1] == c { // the root of a disk
			base = base[:n-1]
		}
		bounds[i] = [2]string{base + string(c), base + string(c+1)}
	}
	return bounds
}

// PurgedKey is what is kept of an origin that was purged: who knows the tool and the id finds
// it again, and nobody else learns them.
func PurgedKey(tool, id string) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + id))
	return hex.EncodeToString(sum[:])
}
