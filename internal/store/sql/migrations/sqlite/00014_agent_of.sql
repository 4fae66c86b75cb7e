-- +goose Up

-- The conversation that a sub-agent works for, and the turn and the call that started it;
-- empty for all others. Lists of conversations and the counts of projects leave
-- sub-agents out, so their indexes do too.
ALTER TABLE conversations ADD COLUMN agent_of TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN agent_turn TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN agent_call TEXT NOT NULL DEFAULT '';

DROP INDEX conversations_newest;
DROP INDEX conversations_project;
CREATE INDEX conversations_newest ON conversations (updated_at, id) WHERE deleted_at = 0 AND agent_of = '';
CREATE INDEX conversations_project ON conversations (project, updated_at, id) WHERE deleted_at = 0 AND agent_of = '';
CREATE INDEX conversations_agents ON conversations (agent_of, updated_at, id) WHERE agent_of <> '';
