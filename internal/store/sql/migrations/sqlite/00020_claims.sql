-- +goose Up

-- Which server does a piece of work of a conversation, or of the whole database where the id
-- is empty, and until when others leave it alone.
CREATE TABLE claims (
    conversation_id TEXT    NOT NULL,
    work            TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    until           INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, work)
) WITHOUT ROWID;
CREATE INDEX claims_until ON claims (until);
