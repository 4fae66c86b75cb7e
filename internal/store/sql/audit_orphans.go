package sqlstore

import (
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// orphanQuery finds rows that belong to nothing, each as what it is, what it lacks, and
// two columns that mend takes.
type orphanQuery struct {
	query string
	mend  func(a, b string) *driver.Repair
}

var orphanQueries = []orphanQuery{
	{`SELECT 'messages of branch ' || d.branch, 'the branch is missing', d.branch, '' FROM (SELECT DISTINCT branch FROM messages) d
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = d.branch)`, recoverBranch},
	{`SELECT 'branch ' || b.id, 'conversation ' || b.conversation_id || ' is missing', b.conversation_id, '' FROM branches b
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = b.conversation_id)`, recoverConversation},
	{`SELECT 'conversation ' || c.id, 'its newest turn, ' || c.turn || ', is missing', c.id, '' FROM conversations c
		WHERE c.turn <> '' AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = c.turn)`, func(id, _ string) *driver.Repair {
		return &driver.Repair{Heads: scrollback.ConversationID(id)}
	}},
	{`SELECT 'turn ' || t.id, 'conversation ' || t.conversation_id || ' is missing', t.id, '' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.conversation_id)`, sweepTurn},
	{`SELECT 'turn ' || t.id, 'branch ' || t.branch || ' is missing', t.id, '' FROM turns t
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = t.branch)`, sweepTurn},
	{`SELECT 'account of step ' || s.step || ' of turn ' || s.turn_id, 'the turn is missing', s.turn_id, '' FROM turn_steps s
		WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = s.turn_id)`, sweepTurn},
	{`SELECT 'segment ' || s.id, 'conversation ' || s.conversation_id || ' is missing', '', '' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = s.conversation_id)`, nil},
	{`SELECT 'segment ' || s.id, 'branch ' || s.branch || ' is missing', '', '' FROM segments s
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = s.branch)`, nil},
	{`SELECT 'receipt ' || r.n, 'conversation ' || r.conversation_id || ' is missing', cast(r.n AS TEXT), '' FROM receipts r
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = r.conversation_id)`, func(n, _ string) *driver.Repair {
		return sweepStray(driver.StrayRow{Receipt: parseNumber(n)})
	}},
	{`SELECT 'mention of ' || m.artifact, 'conversation ' || m.conversation_id || ' is missing', m.conversation_id, m.artifact FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation_id)`, sweepMention},
	{`SELECT 'mention of ' || m.artifact, 'the artifact is missing', m.conversation_id, m.artifact FROM mentions m
		WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.id = m.artifact)`, sweepMention},
	{`SELECT 'version of ' || s.source, 'conversation ' || s.conversation_id || ' is missing', s.conversation_id, s.source FROM message_sources s
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = s.conversation_id)`, func(of, name string) *driver.Repair {
		return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Source: name})
	}},
	{`SELECT 'kept sentence ' || k.id, 'its message is missing', k.conversation_id, k.id FROM kept k
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.branch = k.branch AND m.seq = k.seq)
		GROUP BY k.conversation_id, k.id`, func(of, id string) *driver.Repair {
		return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Kept: scrollback.KeptID(id)})
	}},
	{`SELECT 'hashes of branch ' || h.branch, 'the branch is missing', h.conversation_id, h.branch FROM message_hashes h
		WHERE NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = h.branch AND b.conversation_id = h.conversation_id)
		GROUP BY h.conversation_id, h.branch`, func(of, branch string) *driver.Repair {
		return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Hashes: scrollback.BranchID(branch)})
	}},
	{`SELECT 'vectors of branch number ' || v.branch, 'their messages are missing', cast(v.branch AS TEXT), '' FROM vectors v
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.branch = (SELECT b.id FROM branches b WHERE b.n = v.branch) AND m.seq = v.seq)
		GROUP BY v.branch`, func(n, _ string) *driver.Repair {
		return sweepStray(driver.StrayRow{Vectors: parseNumber(n)})
	}},
	{`SELECT 'origins of conversation ' || o.conversation_id, 'the conversation is missing', o.conversation_id, '' FROM origins o
		WHERE NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = o.conversation_id) GROUP BY o.conversation_id`, func(of, _ string) *driver.Repair {
		return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Origins: true})
	}},
	orphanedThreads("threads"), orphanedThreads("thread_names"), orphanedThreads("thread_requests"),
	orphanedThreads("thread_atoms"), orphanedThreads("thread_summaries"), orphanedThreads("thread_answers"),
}

// orphanedThreads finds the rows of a table whose thread is of a conversation that is gone.
func orphanedThreads(table string) orphanQuery {
	return orphanQuery{`SELECT 'rows of the thread of conversation ' || x.conversation_id, 'the conversation is missing',
		x.conversation_id, '' FROM ` + table + ` x WHERE x.conversation_id <> ''
		AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = x.conversation_id) GROUP BY x.conversation_id`,
		func(of, _ string) *driver.Repair {
			return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Thread: true})
		}}
}

func recoverBranch(id, _ string) *driver.Repair {
	return &driver.Repair{Recover: &driver.LostRow{Branch: scrollback.BranchID(id)}}
}

func recoverConversation(id, _ string) *driver.Repair {
	return &driver.Repair{Recover: &driver.LostRow{Conversation: scrollback.ConversationID(id)}}
}

func sweepStray(s driver.StrayRow) *driver.Repair { return &driver.Repair{Sweep: []driver.StrayRow{s}} }

func sweepTurn(id, _ string) *driver.Repair {
	return sweepStray(driver.StrayRow{Turn: scrollback.TurnID(id)})
}

func sweepMention(of, id string) *driver.Repair {
	return sweepStray(driver.StrayRow{Conversation: scrollback.ConversationID(of), Artifact: scrollback.ArtifactID(id)})
}

// parseNumber reads a number that the database wrote.
func parseNumber(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
