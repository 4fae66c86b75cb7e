package threading

import (
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// ConversationName is the name of a conversation at a face, which [Request].Conversation has.
func ConversationName(id string) string { return "conversation:" + id }

// explicitName begins the name that our own header gives.
const explicitName = "scrollback:"

var uuidForm = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ExplicitName returns the name of a conversation that our own header names: an id has one form.
func ExplicitName(header string) string {
	if uuidForm().MatchString(header) {
		header = strings.ToLower(header)
	}
	return explicitName + header
}

// OwnID returns the id by which our own header names a conversation; empty if it does not, or by another name.
func (r *Request) OwnID() ThreadID {
	id := strings.TrimPrefix(r.Name, explicitName)
	if !r.Explicit || !uuidForm().MatchString(id) {
		return ""
	}
	return ThreadID(id)
}

// Told is a message of a conversation that no request brought.
type Told struct {
	Message string
	Request RequestID // its turn, or what else stands for that
	Items   []Item
}

// Adopt returns what is stored for requests to go on with messages of a conversation that no request brought, in order,
// behind a place of its thread. A conversation without a thread gets one, with the id and the scope of thread. The end
// of the messages is that of the thread. What stands there already is not stored again.
func (m *Matcher) Adopt(ctx context.Context, thread ThreadRow, at Place, all []Told,
	branch func() BranchID) (Rows, error) {
	if thread.Root == (Place{}) {
		thread.Root = Place{Branch: branch()}
		at = thread.Root
	}
	rows := Rows{Thread: &thread}
	base, err := m.Index.At(ctx, at)
	if err != nil {
		return rows, err
	}
	if base == nil {
		base = &AtomRow{Place: at}
	}
	end := *base
	on := BranchID("")
	for _, told := range all {
		for _, a := range m.Table.takeApart(nil, told.Items).atoms {
			if on == "" {
				following, err := m.Index.Following(ctx, end.Place, maxFollowing)
				if err != nil {
					return rows, err
				}
				if there := slices.IndexFunc(following, func(f AtomRow) bool {
					return f.Thread == thread.ID && !f.Partial && a.equals(f)
				}); there >= 0 {
					end = following[there]
					continue
				}
				next := Place{end.Place.Branch, end.Place.Seq + 1}
				on = next.Branch
				if end.Place == thread.Root && len(thread.Ancestors) > 0 ||
					slices.ContainsFunc(following, func(f AtomRow) bool { return f.Place == next }) {
					on = branch()
				}
			}
			row := newRow(a, thread.ID, told.Request)
			row.Message = told.Message
			row.Parent = end.Place
			row.Place = Place{Branch: on, Seq: end.Place.Seq + 1}
			row.Rolling = end.Rolling.add(a.step())
			row.Answers = end.Answers
			if a.Role == Assistant {
				row.Ours = true
				row.Answers++
			}
			end = row
			rows.Atoms = append(rows.Atoms, row)
		}
	}
	thread.Tip = end.Place
	if len(rows.Atoms) > 0 {
		thread.Newest = "" // a request that failed before is not said again in place of these
	}
	return rows, nil
}
