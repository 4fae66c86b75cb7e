// Package ids makes ids that follow from what they name, so that what comes from one source has the same ids
// wherever it is imported.
//
// Words it adds: source (what a tool calls a conversation or a message), derived (an id that follows from what it
// names: a UUID of version 8; all others are random).
//
// Invariants: an id depends on nothing but the arguments, on every machine and in every version of this program; ids
// of later messages come after those of earlier ones in the order of bytes, as random ids do.
//
// It may not know the store, files or the clock.
package ids

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
)

// timeBytes is how many bytes of an id begin it with a time in Unix ms, as in a UUID of version 7.
const timeBytes = 6

// derivedVersion is the version of UUIDs that a program makes in its own way.
const derivedVersion = 8

// IsDerived reports whether an id follows from what it names.
func IsDerived[T ~string](id T) bool {
	const at = 14 // of the version
	return len(id) == 36 && id[at] == '0'+derivedVersion
}

// derive returns the id that follows from some texts, of which the first says what it names.
func derive(texts ...string) uuid.UUID {
	var list []byte
	for _, t := range texts {
		list = append(binary.AppendUvarint(list, uint64(len(t))), t...)
	}
	return uuid.NewHash(sha256.New(), uuid.NameSpaceOID, list, derivedVersion)
}

// deriveAt is derive for what has a time, in Unix ms.
func deriveAt(at int64, texts ...string) string {
	id := derive(texts...)
	for i := range timeBytes {
		id[i] = byte(max(at, 0) >> (8 * (timeBytes - 1 - i)))
	}
	return id.String()
}

// Conversation returns the id of the conversation that a tool calls id.
func Conversation(tool, id string) scrollback.ConversationID {
	return scrollback.ConversationID(derive("conversation", tool, id).String())
}

// ConversationIn returns its id in a project, where another conversation has the one that [Conversation] gives and the
// caller may not know.
func ConversationIn(tool, id, project string) scrollback.ConversationID {
	return scrollback.ConversationID(derive("conversation of project", tool, id, project).String())
}

// ConversationBefore returns the id that imports gave it until ids no longer followed from the project.
func ConversationBefore(tool, id, project string) scrollback.ConversationID {
	return scrollback.ConversationID(uuid.NewSHA1(uuid.NameSpaceOID,
		[]byte(tool+"\x00"+id+"\x00"+project)).String())
}

// RootBranch returns the id of the first branch of a conversation that was made whole, or imported: the same at each
// attempt, and before the ids of all others, so that it stands first in lists.
func RootBranch(of scrollback.ConversationID) scrollback.BranchID {
	hash := uuid.NewHash(sha256.New(), uuid.NameSpaceOID, []byte("begins\x00"+of), 7)
	clear(hash[:timeBytes])
	return scrollback.BranchID(hash.String())
}

// Branch returns the id of a branch that begins with a message.
func Branch(first scrollback.MessageID) scrollback.BranchID {
	at := int64(0)
	if id, err := uuid.Parse(string(first)); err == nil {
		for _, b := range id[:timeBytes] {
			at = at<<8 | int64(b)
		}
	}
	return scrollback.BranchID(deriveAt(at, "branch", string(first)))
}

// Said is what a message says, as far as its id follows from it. Hash is of its role, name, parts, model and time, with
// the bytes of its attachments; At is its time in Unix ms, 0 where its source has none.
type Said struct {
	Hash   [sha256.Size]byte
	Status scrollback.Status
	At     int64
}

// Message returns the id of a message of a conversation that follows another, or none, and that its source calls by a
// name, or not at all.
func Message(of scrollback.ConversationID, before, source scrollback.MessageID, s Said) scrollback.MessageID {
	status := s.Status
	if status == "" {
		status = scrollback.StatusComplete
	}
	return scrollback.MessageID(deriveAt(s.At, "message", string(of), string(before), string(source), string(status),
		string(s.Hash[:])))
}

// Segment returns the id of a segment that was made without a model: another extractor or limit makes another one,
// never other words under one id. Its placeholder has [Unnamed] in the place of its id.
func Segment(s scrollback.Segment) scrollback.SegmentID {
	return scrollback.SegmentID(deriveAt(s.CreatedAt, "segment", string(s.Conversation), string(s.Branch),
		strconv.FormatInt(s.FirstSeq, 10), strconv.FormatInt(s.LastSeq, 10), s.Hash, strconv.Itoa(s.Renderer), s.Summary,
		strconv.FormatInt(s.SummaryOf, 10), s.Placeholder))
}

// Unnamed stands for the id of a segment until it has one.
const Unnamed = scrollback.SegmentID("00000000-0000-8000-8000-000000000000")
