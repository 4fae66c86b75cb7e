package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// FindWorkedBranches implements [driver.Index].
func (db index) FindWorkedBranches(ctx context.Context, q driver.FolderQuery) ([]driver.WorkedBranch, error) {
	end, err := db.beginRead(ctx, "oracle.FindWorkedBranches")
	defer end()
	if err != nil {
		return nil, err
	}
	here := workedOn(db.database, q)
	var out []driver.WorkedBranch
	for _, b := range db.branches {
		th := db.threads[b.Conversation]
		if !here[b.Conversation] || th.DeletedAt != 0 || !isAmong(q.Projects, th.Project) {
			continue
		}
		w := driver.WorkedBranch{IndexedBranch: lineOf(db.database, b), Project: th.Project, Agent: th.AgentOf != nil,
			Current: th.Branch == b.ID}
		for _, r := range b.rows {
			if r.Seq == b.HeadSeq {
				w.At = r.CreatedAt
			}
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b driver.WorkedBranch) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// ListWorkedNumbers implements [driver.Index].
func (db index) ListWorkedNumbers(ctx context.Context, q driver.FolderQuery) ([]int64, error) {
	end, err := db.beginRead(ctx, "oracle.ListWorkedNumbers")
	defer end()
	if err != nil {
		return nil, err
	}
	here := workedOn(db.database, q)
	var out []int64
	for _, b := range db.branches {
		if here[b.Conversation] {
			out = append(out, b.number)
		}
	}
	slices.Sort(out)
	return out, nil
}

// workedOn returns the conversations that were worked on in the query's folders.
func workedOn(db *database, q driver.FolderQuery) map[scrollback.ConversationID]bool {
	here := map[scrollback.ConversationID]bool{}
	for id, th := range db.threads {
		here[id] = slices.ContainsFunc(th.Roots, q.HasFolder)
	}
	for _, o := range db.origins {
		here[o.Conversation] = here[o.Conversation] || q.HasFolder(o.Folder)
	}
	for more := true; more; {
		more = false
		for id, th := range db.threads {
			if th.AgentOf != nil && here[th.AgentOf.ID] && !here[id] {
				here[id] = true
				more = true
			}
		}
	}
	return here
}
