-- +goose Up

-- What is kept of messages: sentences that stay in every request, found by rule when a message is
-- stored, and what people say about them (change is the id of that). Rows are only ever added;
-- a purge removes them with their messages.
CREATE TABLE kept (
    conversation_id TEXT   COLLATE "C" NOT NULL,
    id              TEXT   COLLATE "C" NOT NULL,
    change          TEXT   COLLATE "C" NOT NULL,
    branch          TEXT   COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    message_id      TEXT   COLLATE "C" NOT NULL,
    role            TEXT   COLLATE "C" NOT NULL,
    kind            TEXT   COLLATE "C" NOT NULL,
    text            TEXT   COLLATE "C" NOT NULL,
    kept_by         TEXT   COLLATE "C" NOT NULL,
    said_by         TEXT   COLLATE "C" NOT NULL,
    state           TEXT   COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id, change)
);
CREATE INDEX kept_branch ON kept (branch, seq);
CREATE INDEX kept_changes ON kept (conversation_id, created_at) WHERE change <> '';

-- How far older messages were looked through for what is to be kept of them.
CREATE TABLE kept_filling (
    id              BIGINT PRIMARY KEY,
    conversation_id TEXT   COLLATE "C" NOT NULL,
    branch          TEXT   COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    ended           BIGINT NOT NULL
);
INSERT INTO kept_filling VALUES (1, '', '', 0, 0);
