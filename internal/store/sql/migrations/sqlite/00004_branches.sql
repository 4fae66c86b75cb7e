-- +goose Up

-- ancestors are the conversations that a fork inherits from, nearest first.
-- A row that was purged stays while others inherit messages of it.
ALTER TABLE conversations ADD COLUMN ancestors TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN environment TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN purged_at INTEGER NOT NULL DEFAULT 0;

ALTER TABLE branches ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE branches SET updated_at = coalesce(
    (SELECT m.created_at FROM messages m WHERE m.branch = branches.id AND m.seq = branches.head_seq), 0);
CREATE INDEX branches_parent ON branches (parent_branch, at_seq) WHERE parent_branch <> '';

-- Turns are found by their conversation too.
DROP INDEX turns_key;
CREATE INDEX turns_key ON turns (conversation_id, idem_key, started_at);
