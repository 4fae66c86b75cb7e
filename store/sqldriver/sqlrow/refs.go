package sqlrow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Segments and mentioned artifacts as refs; both have the columns of a
// scrollback.RefEntry.
const (
	segmentRefs = `SELECT 'history:' || id, 'history', conversation_id, branch, first_seq, last_seq, from_time, to_time,
		bytes, messages, 'text/markdown', summary, sha256, created_at FROM segments`
	artifactRefs = `SELECT 'artifact:' || m.artifact, 'artifact', m.conversation_id, '', 0, 0, 0, 0,
		a.size, 0, a.media_type, m.name, a.id, m.created_at FROM mentions m JOIN artifacts a ON a.id = m.artifact`
)

// Refs lists what conversations mention, newest first. Each kind of each conversation
// yields at most a page, in order; the pages are merged here.
func Refs(ctx context.Context, read *Session, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	in := slices.Compact(slices.Sorted(slices.Values(q.Conversations)))
	one := listRefs
	if q.Ref != "" {
		one = oneRef
		if len(in) == 0 {
			in = []scrollback.ConversationID{""} // any
		}
	}
	var out []scrollback.RefEntry
	for _, id := range in {
		if err := one(ctx, read, q, id, &out); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b scrollback.RefEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Ref, a.Ref),
			cmp.Compare(b.Conversation, a.Conversation))
	})
	return out[:min(len(out), q.Limit)], nil
}

// listRefs adds a page of what one conversation mentions.
func listRefs(ctx context.Context, read *Session, q driver.RefQuery, id scrollback.ConversationID,
	out *[]scrollback.RefEntry) error {
	if q.Kind == "" || q.Kind == scrollback.RefHistory {
		at, before := refBound(q.Before, scrollback.RefHistory)
		err := read.Rows(ctx, collectRefs(out), segmentRefs+` WHERE conversation_id = $1 AND (created_at, id) < ($2, $3)
			ORDER BY created_at DESC, id DESC LIMIT $4`, id, at, before, q.Limit)
		if err != nil {
			return err
		}
	}
	if q.Kind == "" || q.Kind == scrollback.RefArtifact {
		at, before := refBound(q.Before, scrollback.RefArtifact)
		return read.Rows(ctx, collectRefs(out), artifactRefs+` WHERE m.conversation_id = $1 AND (m.created_at, m.artifact) < ($2, $3)
			ORDER BY m.created_at DESC, m.artifact DESC LIMIT $4`, id, at, before, q.Limit)
	}
	return nil
}

// oneRef adds q.Ref if the conversation mentions it; an empty id is any.
func oneRef(ctx context.Context, read *Session, q driver.RefQuery, id scrollback.ConversationID,
	out *[]scrollback.RefEntry) error {
	kind, name, _ := strings.Cut(string(q.Ref), ":")
	if q.Kind != "" && q.Kind != kind {
		return nil
	}
	at, before := refBound(q.Before, kind)
	switch kind {
	case scrollback.RefHistory:
		of, args := mentionedIn("conversation_id", q.Projects, []any{name, id, at, before, q.Limit})
		return read.Rows(ctx, collectRefs(out), segmentRefs+` WHERE id = $1 AND ($2 = '' OR conversation_id = $2)
			AND (created_at, id) < ($3, $4)`+of+` LIMIT $5`, args...)
	case scrollback.RefArtifact:
		const bound, order = ` AND (m.created_at, m.artifact) < ($2, $3)`, ` ORDER BY m.created_at DESC, m.conversation_id DESC LIMIT $4`
		if id == "" {
			of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit})
			return read.Rows(ctx, collectRefs(out), artifactRefs+` WHERE m.artifact = $1`+bound+of+order, args...)
		}
		of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit, id})
		return read.Rows(ctx, collectRefs(out),
			artifactRefs+` WHERE m.artifact = $1`+bound+` AND m.conversation_id = $5`+of+order, args...)
	}
	return nil
}

// mentionedIn is the condition that the conversation in a column is of one of some
// projects, or empty for nil, and the arguments with theirs.
func mentionedIn(column string, projects []string, args []any) (string, []any) {
	of, args := Among(projects, args)
	if of == "" {
		return "", args
	}
	return ` AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = ` + column + of + `)`, args
}

// refBound is a place in a list of refs as a place among the refs of one kind, by time and
// the id that follows the kind.
func refBound(k *driver.ListKey, kind string) (at int64, id string) {
	const everyID = "\U0010FFFF" // and none is below the empty one
	if k == nil {
		return 1 << 62, everyID
	}
	if id, ok := strings.CutPrefix(k.ID, kind+":"); ok {
		return k.At, id
	}
	if kind+":" < k.ID {
		return k.At, everyID
	}
	return k.At, ""
}

func collectRefs(out *[]scrollback.RefEntry) func(Scanner) error {
	return func(r Scanner) error {
		var e scrollback.RefEntry
		if err := r.Scan(&e.Ref, &e.Kind, &e.Conversation, &e.Branch, &e.FirstSeq, &e.LastSeq, &e.From, &e.To,
			&e.Bytes, &e.Messages, &e.MediaType, &e.Hint, &e.SHA256, &e.CreatedAt); err != nil {
			return err
		}
		if e.Kind == scrollback.RefHistory {
			e.Hint = scrollback.Hint(e.Hint)
		}
		*out = append(*out, e)
		return nil
	}
}

// Among is the condition that a conversation is of one of some projects, or empty
// for nil, and the arguments with theirs.
func Among(projects []string, args []any) (string, []any) {
	if projects == nil {
		return "", args
	}
	marks := make([]string, len(projects))
	for i, p := range projects {
		args = append(args, p)
		marks[i] = fmt.Sprintf("$%d", len(args))
	}
	if len(marks) == 0 {
		return ` AND 1 = 0`, args
	}
	return ` AND project IN (` + strings.Join(marks, ", ") + `)`, args
}
