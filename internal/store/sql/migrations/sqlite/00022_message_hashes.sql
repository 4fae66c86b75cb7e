-- +goose Up

-- What a message's row hashes to, made when it is inserted: whatever changes a bit of it later
-- is noticed. It stands in the row itself, so that a turn writes no page more for it. Rows
-- that were there before have none and, because rows of messages never change, never get one.
ALTER TABLE messages ADD COLUMN hash BLOB NOT NULL DEFAULT x'';

-- The hashes of those rows, of a run of a branch's messages each: 16 bytes a message, in order.
CREATE TABLE message_hashes (
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    first_seq       INTEGER NOT NULL,
    last_seq        INTEGER NOT NULL,
    hashes          BLOB    NOT NULL,
    PRIMARY KEY (conversation_id, branch, first_seq)
) WITHOUT ROWID;

-- How far they are made: up to a message of a branch of a conversation, in the order of ids.
CREATE TABLE message_hashing (
    id              INTEGER PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    ended           INTEGER NOT NULL
);
INSERT INTO message_hashing VALUES (1, '', '', 0, 0);
