package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// auditPage bounds how many rows an audit holds in memory at once.
const auditPage = 256

// auditPages reads a table page by page: query takes where the last page ended and how
// many rows. A row that cannot be read is a flaw, and is skipped.
func auditPages[T any, K comparable](ctx context.Context, a *auditor, from K, p auditedTable[T, K]) error {
	for {
		var page []T
		n := 0
		before := from
		err := a.readRows(ctx, p.what, func(r Row) error {
			var row T
			err := p.scan(&row, r)
			n++
			if key, ok := p.key(row); ok {
				from = key
			}
			if err != nil {
				f := driver.Flaw{Kind: driver.FlawDamage, Where: p.name(row), Detail: err.Error()}
				if p.mend != nil {
					f.Repair = p.mend(row)
				}
				if err := a.reportFlaw(f); err != nil {
					return err
				}
			}
			if err == nil || p.broken {
				page = append(page, row)
			}
			return nil
		}, p.query, append([]any{from, auditPage}, p.args...)...)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := p.each(row); err != nil {
				return err
			}
		}
		if n < auditPage || from == before { // keys that cannot be read lead nowhere
			return nil
		}
	}
}

// auditedTable is a table and what is done with its rows. broken rows are handed on too:
// their keys count.
type auditedTable[T any, K comparable] struct {
	what   string
	query  string
	args   []any
	scan   func(*T, Row) error
	key    func(T) (K, bool)
	name   func(T) string
	each   func(T) error
	mend   func(T) *driver.Repair // of a row that cannot be read; nil for nothing
	broken bool
}

func (a *auditor) auditConversations(ctx context.Context) error {
	return auditPages(ctx, a, "", auditedTable[conversationRow, string]{what: "conversations",
		query: `SELECT ` + ConversationColumns + ` FROM conversations WHERE id > $1 ORDER BY id LIMIT $2`,
		scan: func(c *conversationRow, r Row) error {
			err := scanConversation(c)(r)
			if err == nil && !c.hasValidMeta() {
				err = errors.New("a stored column is damaged: meta is not JSON")
			}
			return err
		},
		key:  func(c conversationRow) (string, bool) { return string(c.ID), c.ID != "" },
		name: func(c conversationRow) string { return "conversation " + string(c.ID) },
		each: func(c conversationRow) error {
			if err := markWalkError(a.w.Conversation(c.Conversation)); err != nil {
				return err
			}
			return a.auditBranches(ctx, c.ID)
		},
		mend: func(c conversationRow) *driver.Repair { return recoverConversation(string(c.ID), "") }, broken: true})
}

func (a *auditor) auditBranches(ctx context.Context, id scrollback.ConversationID) error {
	return auditPages(ctx, a, "", auditedTable[scrollback.Branch, string]{what: "branches",
		query: `SELECT ` + BranchColumns +
			` FROM branches WHERE conversation_id = $3 AND id > $1 ORDER BY id LIMIT $2`, args: []any{id},
		scan: func(b *scrollback.Branch, r Row) error { return scanBranch(b)(r) },
		key:  func(b scrollback.Branch) (string, bool) { return string(b.ID), b.ID != "" },
		name: func(b scrollback.Branch) string { return "branch " + string(b.ID) },
		each: func(b scrollback.Branch) error {
			if err := markWalkError(a.w.Branch(b)); err != nil {
				return err
			}
			return a.auditMessages(ctx, b.ID)
		},
		mend: func(b scrollback.Branch) *driver.Repair { // only what comes last, the view, may be empty
			return &driver.Repair{View: &driver.ViewRepair{Branch: b.ID, IfViewVersion: b.ViewVersion}}
		}, broken: true})
}

// auditMessages hands on those of a branch, and holds each row against its hash, whether it can be
// read as a message or not.
func (a *auditor) auditMessages(ctx context.Context, id scrollback.BranchID) error {
	var rows hashCheck
	hashes := func(least int) error {
		if len(rows.without)+len(rows.damaged) < least {
			return nil
		}
		if err := rows.checkBeside(ctx, a.tx); err != nil {
			return err
		}
		for _, d := range rows.damaged {
			f := driver.Flaw{Kind: driver.FlawHash, Where: fmt.Sprintf("message %s (#%d)", d.ID, d.Seq),
				Detail: "it is not as it was stored: its row has another hash"}
			if err := a.reportFlaw(f); err != nil {
				return err
			}
		}
		without := int64(len(rows.without))
		rows = hashCheck{}
		if without == 0 || a.w.Unhashed == nil {
			return nil
		}
		return markWalkError(a.w.Unhashed(without))
	}
	err := auditPages(ctx, a, 0, auditedTable[scrollback.Message, int64]{what: "messages of branch " + string(id),
		query: `SELECT ` + StoredColumns + ` FROM messages WHERE branch = $3 AND seq > $1 ORDER BY seq LIMIT $2`,
		args:  []any{id},
		scan: func(m *scrollback.Message, r Row) error {
			if err := rows.checkRow(r); err != nil {
				return err
			}
			return messageTable.scan(m, r[:HashColumn])
		},
		key:  func(m scrollback.Message) (int64, bool) { return m.Seq, m.Seq > 0 },
		name: func(m scrollback.Message) string { return fmt.Sprintf("message %s (#%d)", m.ID, m.Seq) },
		each: func(m scrollback.Message) error {
			if err := markWalkError(a.w.Message(m)); err != nil {
				return err
			}
			return hashes(auditPage)
		}, broken: true})
	if err != nil {
		return err
	}
	return hashes(0)
}

// auditProjects only reads what is stored of them: nothing else depends on it.
func (a *auditor) auditProjects(ctx context.Context) error {
	return auditPages(ctx, a, "", auditedTable[scrollback.Project, string]{what: "projects",
		query: `SELECT ` + ProjectColumns + ` FROM projects WHERE name > $1 ORDER BY name LIMIT $2`,
		scan:  func(p *scrollback.Project, r Row) error { return projectTable.scan(p, r) },
		key:   func(p scrollback.Project) (string, bool) { return p.Name, p.Name != "" },
		name:  func(p scrollback.Project) string { return "project " + p.Name },
		each:  func(scrollback.Project) error { return nil }})
}

func (a *auditor) auditSegments(ctx context.Context) error {
	return auditPages(ctx, a, "", auditedTable[scrollback.Segment, string]{what: "segments",
		query: `SELECT ` + segmentTable.columnList() + ` FROM segments WHERE id > $1 ORDER BY id LIMIT $2`,
		scan:  func(s *scrollback.Segment, r Row) error { return segmentTable.scan(s, r) },
		key:   func(s scrollback.Segment) (string, bool) { return string(s.ID), s.ID != "" },
		name:  func(s scrollback.Segment) string { return "segment " + string(s.ID) },
		each:  func(s scrollback.Segment) error { return markWalkError(a.w.Segment(s)) }})
}

// auditedArtifact is an artifact and how many conversations mention it.
type auditedArtifact struct {
	scrollback.Artifact
	mentions int64
}

func (a *auditor) auditArtifacts(ctx context.Context) error {
	return auditPages(ctx, a, "", auditedTable[auditedArtifact, string]{what: "artifacts",
		query: `SELECT id, media_type, name, size, created_at, (SELECT count(*) FROM mentions m WHERE m.artifact = artifacts.id)
			FROM artifacts WHERE id > $1 ORDER BY id LIMIT $2`,
		scan: func(t *auditedArtifact, r Row) error {
			return r.Scan(&t.ID, &t.MediaType, &t.Name, &t.Size, &t.CreatedAt, &t.mentions)
		},
		key:  func(t auditedArtifact) (string, bool) { return string(t.ID), t.ID != "" },
		name: func(t auditedArtifact) string { return "artifact " + string(t.ID) },
		each: func(t auditedArtifact) error { return markWalkError(a.w.Artifact(t.Artifact, t.mentions)) }})
}

func (a *auditor) auditTurns(ctx context.Context) error {
	return auditPages(ctx, a, "", auditedTable[scrollback.Turn, string]{what: "turns",
		query: `SELECT ` + TurnColumns + ` FROM turns WHERE state = 'open' AND id > $1 ORDER BY id LIMIT $2`,
		scan:  func(t *scrollback.Turn, r Row) error { return turnTable.scan(t, r) },
		key:   func(t scrollback.Turn) (string, bool) { return string(t.ID), t.ID != "" },
		name:  func(t scrollback.Turn) string { return "turn " + string(t.ID) },
		each:  func(t scrollback.Turn) error { return markWalkError(a.w.Turn(t)) }})
}
