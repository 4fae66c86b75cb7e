-- +goose Up

-- What is kept of messages: sentences that stay in every request, found by rule when a message is
-- stored, and what people say about them (change is the id of that). Rows are only ever added;
-- a purge removes them with their messages.
CREATE TABLE kept (
    conversation_id TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    change          TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    message_id      TEXT    NOT NULL,
    role            TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    text            TEXT    NOT NULL,
    kept_by         TEXT    NOT NULL,
    said_by         TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, id, change)
) WITHOUT ROWID;
CREATE INDEX kept_branch ON kept (branch, seq);
CREATE INDEX kept_changes ON kept (conversation_id, created_at) WHERE change <> '';

-- How far older messages were looked through for what is to be kept of them.
CREATE TABLE kept_filling (
    id              INTEGER PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    ended           INTEGER NOT NULL
);
INSERT INTO kept_filling VALUES (1, '', '', 0, 0);
