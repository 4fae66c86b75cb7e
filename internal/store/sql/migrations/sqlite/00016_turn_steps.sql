-- +goose Up

-- What each step of a turn sent to its model, as JSON: ranges, ids and hashes, no text.
CREATE TABLE turn_steps (
    turn_id         TEXT    NOT NULL,
    step            INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL,
    sent            TEXT    NOT NULL,
    PRIMARY KEY (turn_id, step)
) WITHOUT ROWID;
CREATE INDEX turn_steps_conversation ON turn_steps (conversation_id);

-- Instructions and definitions of tools as they were sent, each once, and the conversations
-- whose steps name them.
CREATE TABLE sent_texts (
    sha256 TEXT PRIMARY KEY,
    text   TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sent_text_uses (
    conversation_id TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    PRIMARY KEY (conversation_id, sha256)
) WITHOUT ROWID;
CREATE INDEX sent_text_uses_text ON sent_text_uses (sha256);

-- What a branch showed when the compaction was undone, so that it can be done again.
ALTER TABLE receipts ADD COLUMN view_after TEXT NOT NULL DEFAULT '';
