-- +goose Up

-- Whether another writes a branch: another store, or the tool whose file it was read from. What is said here behind
-- such a branch begins one of its own. What is here already was written here.
ALTER TABLE branches ADD COLUMN elsewhere BIGINT NOT NULL DEFAULT 0;
