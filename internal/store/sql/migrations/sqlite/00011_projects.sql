-- +goose Up

-- What is stored of a project. Conversations name it in a column of their own, whether
-- there is a row here or not.
CREATE TABLE projects (
    name         TEXT PRIMARY KEY,
    title        TEXT NOT NULL,
    version      INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    model        TEXT NOT NULL,
    policy       TEXT NOT NULL,
    limit_tokens INTEGER NOT NULL,
    settings     TEXT NOT NULL,
    budget       TEXT NOT NULL,
    instructions TEXT NOT NULL
);

-- How a conversation came by its title: empty for those that have one already, which stays.
ALTER TABLE conversations ADD COLUMN title_by TEXT NOT NULL DEFAULT '';
