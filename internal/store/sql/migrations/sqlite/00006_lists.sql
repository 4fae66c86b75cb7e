-- +goose Up

-- Each list of conversations is read in the order of an index that holds no
-- others: of all and of one project, out of the trash and in it. What was purged
-- has deleted_at too, and is in no list.
DROP INDEX conversations_newest;
DROP INDEX conversations_project;
CREATE INDEX conversations_newest ON conversations (updated_at, id) WHERE deleted_at = 0;
CREATE INDEX conversations_project ON conversations (project, updated_at, id) WHERE deleted_at = 0;
CREATE INDEX conversations_trash_newest ON conversations (updated_at, id) WHERE deleted_at <> 0 AND purged_at = 0;
CREATE INDEX conversations_trash_project ON conversations (project, updated_at, id) WHERE deleted_at <> 0 AND purged_at = 0;
